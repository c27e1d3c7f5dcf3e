! Solves, own matrices and stencils through the Fortran modules, against a dense solver and sums written out.
program solve_test
  use, intrinsic :: iso_c_binding
  use bandmill_c, only: bandmill_numbered
  use bandmill_support, only: view, view_of
  use checking
  implicit none
  type :: wrapper
    type(bandmill_factor) :: factor
    type(bandmill_batch_factor) :: own
  end type
  type, extends(bandmill_factor) :: extended
    integer :: level = 0
  end type
  character(8) :: place
  integer, parameter :: sizes(*) = [1, 2, 3, 5, 30]
  integer :: s
  call get_command_argument(1, place)
  if (place == 'gpu') then
    if (bandmill_device_count() == 0) stop 77
    call on_a_gpu(12, 7)
  else
    do s = 1, size(sizes)
      call shared(sizes(s), 1, .false.)
      call shared(sizes(s), 1, .true.)
      call shared(sizes(s), 2, .false.)
      call shared(sizes(s), 2, .true.)
      call own(sizes(s), 6, 1, .false.)
      call own(sizes(s), 6, 2, .true.)
    end do
    call strided_sections(20)
    call assignment_shares(9)
    call copies_of_every_kind(9)
    call released_with_the_original(9)
    call originals_outlive_their_copies(9)
    call elements_are_reordered(9)
    call lists_grow(9)
    call arguments_copied_in_and_out()
    call more_elements_than_a_default_integer_counts()
    call reports()
    call stencils_along_systems(13, 5)
    call stencils_in_planes(8, 6, 3)
    call on_a_place(bandmill_cpu, 12, 7)
  end if
  call finish()

contains

  subroutine factor_bands(factor, bands, width, periodic, precision)
    type(bandmill_factor), intent(inout) :: factor
    integer, intent(in) :: width, precision
    real(real64), intent(in) :: bands(:, -width:)
    logical, intent(in) :: periodic
    if (width == 1) then
      call factor%tridiagonal(bands(:, -1), bands(:, 0), bands(:, 1), periodic=periodic, precision=precision)
    else
      call factor%pentadiagonal(bands(:, -2), bands(:, -1), bands(:, 0), bands(:, 1), bands(:, 2), &
        periodic=periodic, precision=precision)
    end if
  end subroutine

  ! Both precisions, both axes, in place and out of place, a single system. Rows of these matrices exceed 1 in
  ! dominance, so |x| <= |b| and errors are a few epsilons.
  subroutine shared(n, width, periodic)
    integer, intent(in) :: n, width
    logical, intent(in) :: periodic
    integer, parameter :: batch = 4
    real(real64) :: bands(n, -width:width), b(n, batch), expected(n, batch), x(n, batch), turned(batch, n), one(n)
    real(real32) :: b32(n, batch), x32(n, batch), turned32(batch, n), one32(n)
    real(real64), parameter :: small = 8 * epsilon(1.0_real64), small32 = 8 * epsilon(1.0_real32)
    type(bandmill_factor) :: f64, f32
    integer :: m
    bands = random_bands(n, width)
    call random_number(b32)
    b = b32
    do m = 1, batch
      expected(:, m) = solve_dense(bands, width, periodic, b(:, m))
    end do
    call factor_bands(f64, bands, width, periodic, bandmill_f64)
    call factor_bands(f32, bands, width, periodic, bandmill_f32)
    x = b
    call f64%solve(x)
    call check(maxval(abs(x - expected)) <= small, 'f64, (rows, systems), in place')
    x = 0
    call f64%solve(b, x, threads=2)
    call check(maxval(abs(x - expected)) <= small, 'f64, (rows, systems), out of place')
    turned = transpose(b)
    call f64%solve(turned, axis=2)
    call check(all(transpose(turned) == x), 'f64, (systems, rows), in place: the same bits')
    one = b(:, 2)
    call f64%solve(one)
    call check(all(one == x(:, 2)), 'f64, one system')
    call f64%solve(b(:, 3), one)
    call check(all(one == x(:, 3)), 'f64, one system, out of place')
    x32 = b32
    call f32%solve(x32)
    call check(maxval(abs(x32 - expected)) <= small32, 'f32, (rows, systems), in place')
    call f32%solve(transpose(b32), turned32, axis=2)
    call check(all(transpose(turned32) == x32), 'f32, (systems, rows), out of place')
    one32 = b32(:, 1)
    call f32%solve(one32)
    call check(all(one32 == x32(:, 1)), 'f32, one system')
    call f32%solve(b32(:, 4), one32)
    call check(all(one32 == x32(:, 4)), 'f32, one system, out of place')
  end subroutine

  ! Sections of arrays are solved where they are, and what is between their elements stays.
  subroutine strided_sections(n)
    integer, intent(in) :: n
    real(real64) :: bands(n, -1:1), b(n, 3), x(n, 3), room(2 * n + 1, 9), backwards(n, 3)
    type :: point
      integer :: number = 7
      real(real64) :: value = 0
    end type
    type(point) :: points(n, 3)
    type(bandmill_factor) :: factor
    bands = random_bands(n, 1)
    call random_number(b)
    call factor_bands(factor, bands, 1, .false., bandmill_f64)
    call factor%solve(b, x)
    room = -7
    room(2:2 * n:2, 1:9:4) = b
    call factor%solve(room(2:2 * n:2, 1:9:4))
    call check(all(room(2:2 * n:2, 1:9:4) == x), 'a section of an array')
    room(2:2 * n:2, 1:9:4) = -7
    call check(all(room == -7), 'nothing else is touched')
    backwards = b(n:1:-1, :)
    call factor%solve(backwards(n:1:-1, :))
    call check(all(backwards(n:1:-1, :) == x), 'a section that runs backwards')
    points%value = b
    call factor%solve(points%value)
    call check(all(points%value == x) .and. all(points%number == 7), 'a component of a derived type')
  end subroutine

  subroutine assignment_shares(n)
    integer, intent(in) :: n
    type(bandmill_factor) :: first, second
    type(bandmill_factor), allocatable :: several(:)
    real(real64) :: x(n), y(n)
    call first%toeplitz(n, [-1.0_real64, 4.0_real64, -1.0_real64])
    second = first
    call first%destroy()
    call first%toeplitz(int(n, int64), [-1.0_real64, 5.0_real64, -1.0_real64])
    x = 1
    y = 1
    call second%solve(x)
    call first%solve(y)
    call check(all(abs(4 * x(2:n - 1) - x(1:n - 2) - x(3:n) - 1) < 1e-14), 'the copy has the first matrix')
    call check(all(abs(5 * y(2:n - 1) - y(1:n - 2) - y(3:n) - 1) < 1e-14), 'the original has the second')
    second = second
    allocate (several(3))
    several(2) = second
    y = 1
    call several(2)%solve(y)
    call check(all(x == y), 'a copy in an array')
    deallocate (several)
  end subroutine

  ! Whatever compilers make of them: nothing is released twice, and what can be used solves.
  subroutine copies_of_every_kind(n)
    integer, intent(in) :: n
    type :: wrapper
      type(bandmill_factor) :: factor
      integer :: number = 0
    end type
    type(bandmill_factor) :: pair(2), other(2)
    integer :: k
    type(bandmill_factor), allocatable :: list(:), sourced
    type(bandmill_batch_factor) :: own(2), own_copy(2)
    type(wrapper) :: inside, outside, built
    real(real64) :: x(n), y(n), bands(n, 2, 3), z(n, 2), w(n, 2)
    call pair(1)%toeplitz(n, [-1.0_real64, 4.0_real64, -1.0_real64])
    pair(2) = pair(1)
    x = 1
    call pair(1)%solve(x)
    do k = 1, 2
      other(k) = pair(k)
      own_copy(k) = own(k) ! neither has a factor
    end do
    y = 1
    call other(2)%solve(y)
    call check(all(x == y), 'elements are assigned')
    call pair(1)%destroy()
    call pair(2)%destroy()
    y = 1
    call other(1)%solve(y)
    call check(all(x == y), 'and keep what they share')
    inside%factor = other(1)
    outside = inside
    built = wrapper(inside%factor, 3)
    allocate (list(2))
    list = [inside%factor, outside%factor]
    allocate (sourced, source=inside%factor)
    y = 1
    call outside%factor%solve(y)
    call check(all(x == y), 'a component of a copy')
    y = 1
    call sourced%solve(y)
    call check(all(x == y), 'sourced allocation')
    y = 1
    call list(2)%solve(y)
    call check(all(x == y), 'an array constructor')
    y = 1
    call built%factor%solve(y)
    call check(all(x == y), 'a structure constructor')
    bands(:, :, 1) = -1
    bands(:, :, 2) = 4
    bands(:, :, 3) = -1
    call own(1)%tridiagonal(bands(:, :, 1), bands(:, :, 2), bands(:, :, 3))
    z = 1
    w = 1
    call own(1)%solve(z)
    own_copy(1) = own(1)
    call own(1)%destroy()
    call own_copy(1)%solve(w)
    call check(all(w == z), 'factors of own matrices in arrays')
  end subroutine

  ! A copy that no assignment made is noticed when its original is gone.
  subroutine released_with_the_original(n)
    integer, intent(in) :: n
    type(bandmill_factor) :: original
    type(bandmill_factor), allocatable :: sourced
    real(real64) :: x(n)
    integer :: stat
    character(300) :: errmsg
    call original%toeplitz(n, [-1.0_real64, 4.0_real64, -1.0_real64])
    allocate (sourced, source=original)
    call original%destroy()
    x = 1
    call sourced%solve(x, stat=stat, errmsg=errmsg)
    if (stat /= bandmill_ok) then ! a compiler may also have assigned it
      call check(index(errmsg, 'was released with the variable') > 0 .and. all(x == 1), 'a text, nothing written')
    end if
  end subroutine

  ! However it was made, a copy that goes takes nothing with it.
  subroutine originals_outlive_their_copies(n)
    integer, intent(in) :: n
    type(wrapper) :: inside, several(2)
    type(extended) :: longer
    type(bandmill_factor) :: plain
    real(real64) :: ones(n, 1)
    ones = 1
    call plain%toeplitz(n, [-1.0_real64, 4.0_real64, -1.0_real64])
    call longer%toeplitz(n, [-1.0_real64, 4.0_real64, -1.0_real64])
    inside%factor = plain
    several(1)%factor = plain
    call several(2)%factor%toeplitz(n, [-1.0_real64, 4.0_real64, -1.0_real64])
    call inside%own%tridiagonal(-ones, 4 * ones, -ones)
    call copy_all(plain, inside, several, longer)
    call solves(plain, 'a variable')
    call solves(inside%factor, 'a component')
    call solves(several(1)%factor, 'the first of an array')
    call solves(several(2)%factor, 'the last of an array')
    call solves(longer%bandmill_factor, 'an extended type')
    call inside%own%solve(ones)
    call check(abs(4 * ones(1, 1) - ones(2, 1) - 1) < 1e-14, 'own matrices in a component')
  end subroutine

  subroutine copy_all(plain, inside, several, longer)
    type(bandmill_factor), intent(in) :: plain
    type(wrapper), intent(in) :: inside, several(:)
    type(extended), intent(in) :: longer
    type(wrapper) :: component, pair(2), built
    type(wrapper), allocatable :: grown(:), one
    type(extended) :: another
    type(bandmill_factor), allocatable :: sourced
    class(bandmill_factor), allocatable :: polymorphic
    type(bandmill_factor) :: listed(2)
    component = inside
    pair = several
    one = inside
    grown = several
    another = longer
    built = wrapper(plain, inside%own)
    listed = [plain, inside%factor]
    allocate (sourced, source=plain)
    allocate (polymorphic, source=plain)
    call solves(component%factor, 'a copied component')
    call solves(pair(2)%factor, 'a copied array')
    call solves(one%factor, 'an allocated copy')
    call solves(grown(2)%factor, 'an array that grew')
    call solves(another%bandmill_factor, 'a copied extension')
    call solves(built%factor, 'what was built')
    call solves(listed(2), 'a list')
    call solves(sourced, 'a sourced copy')
    call solves(polymorphic, 'a polymorphic copy')
  end subroutine

  ! Shared, released and made again in every order: each element has what was assigned to it, and all is released.
  subroutine elements_are_reordered(n)
    integer, intent(in) :: n
    integer :: before
    before = live_factors()
    call reorder(3)
    call reorder(n)
    call reorder(40)
    call reorder_own()
    call check(live_factors() == before, 'all is released')
  end subroutine

  subroutine reorder(count)
    integer, intent(in) :: count
    type(bandmill_factor) :: list(count), other(count), spare
    integer :: expected(count), k, round
    do k = 1, count
      call make_multiple(list(k), k)
      call make_multiple(other(k), -k)
    end do
    expected = [(k, k=1, count)]
    do round = 1, 3
      do k = 1, count / 2
        spare = list(k)
        list(k) = list(count + 1 - k)
        list(count + 1 - k) = spare
      end do
      expected = expected(count:1:-1)
      call check(all([(multiple(list(k)), k=1, count)] == expected), 'an array reversed')
      do k = count, 2, -1
        list(k) = list(k - 1)
        other(k) = other(k - 1)
      end do
      expected(2:count) = expected(1:count - 1)
      call make_multiple(list(1), 100 + round)
      expected(1) = 100 + round
      call make_multiple(other(1), -round)
      call check(all([(multiple(list(k)), k=1, count)] == expected), 'an array shifted, its first made again')
    end do
    do k = 1, count, 2
      other(k) = list(k)
    end do
    call list(1)%destroy()
    do k = 1, count
      list(k) = list(2)
    end do
    list(2) = list(2)
    call check(all([(multiple(list(k)), k=1, count)] == expected(2)), 'one for all')
    call check(all([(multiple(other(k)), k=3, count, 2)] == expected(3:count:2)), 'a section of another array')
  end subroutine

  subroutine reorder_own()
    type(bandmill_batch_factor) :: own(2), spare
    real(real64) :: ones(9, 1), x(9, 1), y(9, 1)
    ones = 1
    call own(1)%tridiagonal(0 * ones, ones, 0 * ones)
    call own(2)%tridiagonal(0 * ones, 4 * ones, 0 * ones)
    spare = own(1)
    own(1) = own(2)
    own(2) = spare
    x = 1
    y = 1
    call own(1)%solve(x)
    call own(2)%solve(y)
    call check(all(x == 0.25_real64) .and. all(y == 1), 'own matrices reversed')
    own(2) = own(1)
    y = 1
    call own(2)%solve(y)
    call check(all(y == 0.25_real64), 'own matrices, one for all')
  end subroutine

  ! Lists of variables that have factors, as programs make them longer.
  subroutine lists_grow(n)
    integer, intent(in) :: n
    type(wrapper), allocatable :: list(:), longer(:)
    type(wrapper) :: fixed(2)
    real(real64) :: ones(n, 1)
    integer :: k, round
    ones = 1
    allocate (list(2))
    do k = 1, 2
      call make_multiple(list(k)%factor, k)
      call list(k)%own%tridiagonal(0 * ones, k * ones, 0 * ones)
      fixed(k) = list(k)
    end do
    do round = 1, 2
      allocate (longer(2 * size(list)))
      longer(1:size(list)) = list
      call check(all([(multiple(longer(k)%factor), k=1, 2)] == [1, 2]), 'a longer list')
      longer(1:2) = fixed
      call check(all([(multiple(longer(k)%factor), k=1, 2)] == [1, 2]), 'from a fixed one')
      deallocate (longer)
      allocate (longer(2 * size(list)))
      do k = 1, size(list)
        longer(k)%factor = list(k)%factor
        longer(k)%own = list(k)%own
      end do
      call move_alloc(longer, list)
      call check(all([(multiple(list(k)%factor), k=1, 2)] == [1, 2]), 'a list that moved')
    end do
    list = [list, fixed(2)]
    call check(multiple(list(1)%factor) == 1 .and. multiple(list(9)%factor) == 2, 'one more')
  end subroutine

  ! Arguments that compilers pass as copies, and copy back.
  subroutine arguments_copied_in_and_out()
    type(bandmill_factor) :: list(6)
    type(wrapper) :: inside(4), others(4)
    integer :: k, round
    do round = 1, 3
      call make_all(list(1:5:2), 3, 10 * round)
      call make_all(list(2:6:2), 3, 10 * round + 3)
      call check(all([(multiple(list(k)), k=1, 6)] == 10 * round + [1, 4, 2, 5, 3, 6]), 'sections')
      call make_all(inside%factor, 4, 20 * round)
      call make_all(others%factor, 4, 20 * round + 5)
      call check(all([(multiple(inside(k)%factor), k=1, 4)] == 20 * round + [1, 2, 3, 4]), 'components')
      call check(all([(multiple(others(k)%factor), k=1, 4)] == 20 * round + [6, 7, 8, 9]), 'other components')
      do k = 4, 2, -1
        inside(k)%factor = inside(k - 1)%factor
      end do
      call make_multiple(inside(1)%factor, 7)
      call check(all([(multiple(inside(k)%factor), k=1, 4)] == [7, 20 * round + [1, 2, 3]]), 'components shifted')
    end do
  end subroutine

  subroutine make_all(list, count, first)
    integer, intent(in) :: count, first
    type(bandmill_factor) :: list(count)
    integer :: k
    do k = 1, count
      call make_multiple(list(k), first + k)
    end do
  end subroutine

  subroutine make_multiple(factor, of) ! of the identity
    type(bandmill_factor), intent(inout) :: factor
    integer, intent(in) :: of
    call factor%toeplitz(9, [0.0_real64, real(of, real64), 0.0_real64])
  end subroutine

  integer function live_factors()
    integer(int64) :: k
    live_factors = count([(c_associated(bandmill_numbered(k)), k=1_int64, 4000_int64)])
  end function

  integer function multiple(factor)
    type(bandmill_factor), intent(in) :: factor
    real(real64) :: x(9)
    integer :: stat
    x = 1
    call factor%solve(x, stat=stat)
    multiple = merge(nint(1 / x(1)), -1, stat == bandmill_ok)
  end function

  subroutine solves(factor, what)
    class(bandmill_factor), intent(in) :: factor
    character(*), intent(in) :: what
    real(real64) :: x(9)
    integer :: stat
    x = 1
    call factor%solve(x, stat=stat)
    call check(stat == bandmill_ok .and. all(abs(4 * x(2:8) - x(1:7) - x(3:9) - 1) < 1e-14), what//' solves')
  end subroutine

  ! 2^32 elements, which a default integer takes for none. Nothing is read.
  subroutine more_elements_than_a_default_integer_counts()
    real(real32), target :: somewhere
    real(real32), pointer :: large(:, :)
    type(view) :: seen
    call c_f_pointer(c_loc(somewhere), large, [65536, 65536])
    seen = view_of(large)
    call check(c_associated(seen%data, c_loc(somewhere)), 'it begins where it begins')
    call check(seen%shape%rows == 65536 .and. seen%shape%batch_stride == 65536, 'sizes and strides')
  end subroutine

  subroutine reports()
    type(bandmill_factor) :: factor
    type(bandmill_report) :: report
    call factor%toeplitz(50, [1.0_real64, -4.0_real64, 7.0_real64, -4.0_real64, 1.0_real64], periodic=.true., &
      precision=bandmill_f32)
    report = factor%report()
    call check(report%rows == 50 .and. report%half_bandwidth == 2 .and. report%boundary == bandmill_periodic, 'sizes')
    call check(report%precision == bandmill_f32 .and. report%place == bandmill_cpu, 'precision and place')
    call check(report%path == bandmill_path_sequential .and. report%pivot_growth >= 1 .and. report%bytes > 0, 'path')
    call check(index(bandmill_version(), '.') > 1, 'version')
    call check(bandmill_status_name(bandmill_singular_matrix) == 'singular matrix', 'names')
    call check(bandmill_cuda_built() .or. bandmill_device_count() == 0, 'no devices without CUDA')
  end subroutine

  subroutine own(n, batch, width, periodic)
    integer, intent(in) :: n, batch, width
    logical, intent(in) :: periodic
    real(real64) :: bands(n, -width:width, batch), b(n, batch), expected(n, batch), x(n, batch), turned(batch, n)
    real(real32) :: x32(n, batch), turned32(batch, n)
    type(bandmill_batch_factor) :: matrices, single, copy
    type(bandmill_batch_report) :: report
    integer :: m
    do m = 1, batch
      bands(:, :, m) = real(real(random_bands(n, width), real32), real64)
    end do
    call random_number(x32)
    b = x32
    do m = 1, batch
      expected(:, m) = solve_dense(bands(:, :, m), width, periodic, b(:, m))
    end do
    if (width == 1) then
      call matrices%tridiagonal(bands(:, -1, :), bands(:, 0, :), bands(:, 1, :), periodic=periodic)
      call single%tridiagonal(real(transpose(bands(:, -1, :)), real32), real(transpose(bands(:, 0, :)), real32), &
        real(transpose(bands(:, 1, :)), real32), axis=2, periodic=periodic)
    else
      call matrices%pentadiagonal(bands(:, -2, :), bands(:, -1, :), bands(:, 0, :), bands(:, 1, :), bands(:, 2, :), &
        periodic=periodic)
      call single%pentadiagonal(real(bands(:, -2, :), real32), real(bands(:, -1, :), real32), &
        real(bands(:, 0, :), real32), real(bands(:, 1, :), real32), real(bands(:, 2, :), real32), periodic=periodic)
    end if
    call check(all(matrices%status() == 0) .and. size(matrices%status()) == batch, 'all matrices can be used')
    report = matrices%report()
    call check(report%rows == n .and. report%batch == batch .and. report%precision == bandmill_f64, 'report')
    call matrices%solve(b, x)
    call check(maxval(abs(x - expected)) <= 12 * epsilon(1.0_real64), 'own matrices, f64')
    copy = matrices
    call matrices%destroy()
    turned = transpose(b)
    call copy%solve(turned, axis=2)
    call check(all(transpose(turned) == x), 'own matrices, (systems, rows)')
    call once(bands, b, x, periodic)
    turned32 = transpose(x32)
    call single%solve(x32)
    call check(maxval(abs(x32 - expected)) <= 12 * epsilon(1.0_real32), 'own matrices, f32')
    call single%solve(turned32, turned32, axis=2)
    call check(all(transpose(turned32) == x32), 'own matrices, f32, (systems, rows)')
    bands(n, -width:width, batch) = 0
    if (width == 1) then
      call copy%tridiagonal(bands(:, -1, :), bands(:, 0, :), bands(:, 1, :))
      call check(all(copy%status() == [(0, m=1, batch - 1), n]), 'the row of a matrix that cannot be used')
      call copy%solve(b, x)
      call check(all(x(:, batch) /= x(:, batch)) .and. all(x(:, :batch - 1) == x(:, :batch - 1)), 'only it is NaN')
    end if
  end subroutine

  ! Both at once: the same solutions up to rounding, and the matrices stay as they are.
  subroutine once(bands, b, expected, periodic)
    real(real64), intent(in) :: bands(:, :, :), b(:, :), expected(:, :)
    logical, intent(in) :: periodic
    real(real64) :: x(size(b, 1), size(b, 2))
    real(real32) :: x32(size(b, 2), size(b, 1)), turned(size(b, 2), size(b, 1), size(bands, 2))
    integer(int64) :: status(size(b, 2))
    integer :: d
    x = b
    x32 = real(transpose(b), real32)
    do d = 1, size(bands, 2)
      turned(:, :, d) = real(transpose(bands(:, d, :)), real32)
    end do
    status = 7
    if (size(bands, 2) == 3) then
      call bandmill_solve_once(bands(:, 1, :), bands(:, 2, :), bands(:, 3, :), x, status, periodic=periodic)
      call bandmill_solve_once(turned(:, :, 1), turned(:, :, 2), turned(:, :, 3), x32, axis=2, periodic=periodic)
    else
      call bandmill_solve_once(bands(:, 1, :), bands(:, 2, :), bands(:, 3, :), bands(:, 4, :), bands(:, 5, :), x, &
        status, periodic=periodic)
      call bandmill_solve_once(turned(:, :, 1), turned(:, :, 2), turned(:, :, 3), turned(:, :, 4), turned(:, :, 5), &
        x32, axis=2, periodic=periodic)
    end if
    call check(all(status == 0), 'all matrices can be used, once')
    call check(maxval(abs(x - expected)) <= 12 * epsilon(1.0_real64), 'factored and solved in one call')
    call check(maxval(abs(transpose(x32) - expected)) <= 12 * epsilon(1.0_real32), 'the same, f32')
  end subroutine

  subroutine stencils_along_systems(n, batch)
    integer, intent(in) :: n, batch
    real(real64) :: u(n, batch), expected(n, batch), found(n, batch), turned(batch, n)
    real(real32) :: found32(n, batch)
    real(real64), parameter :: weights(3) = [1, -2, 1], one_sided(2) = [-1, 1]
    type(bandmill_edges), parameter :: around = bandmill_edges(bandmill_edges_periodic)
    call random_number(found32)
    u = found32
    expected = cshift(u, -1) - 2 * u + cshift(u, 1)
    call bandmill_apply(weights, u, found, edges=around)
    call check(maxval(abs(found - expected)) < 1e-15, 'second difference, periodic')
    call bandmill_apply(weights, transpose(u), turned, axis=2, edges=around)
    call check(all(transpose(turned) == found), 'the same over (systems, rows)')
    call bandmill_apply(weights, u, found, edges=around, add=.true., threads=1)
    call check(maxval(abs(found - 2 * expected)) < 2e-15, 'added')
    call bandmill_apply(weights, real(u, real32), found32, edges=around)
    call check(maxval(abs(found32 - expected)) < 5e-7, 'f32')
    found = 9
    call bandmill_apply(one_sided, u, found, before=0)
    call check(all(found(n, :) == 9) .and. maxval(abs(found(:n - 1, :) - u(2:, :) + u(:n - 1, :))) < 1e-15, &
      'without edges the last row is left alone')
    call bandmill_apply(weights, u, found, edges=bandmill_edges(bandmill_edges_odd, 0.5_real64, 0.25_real64))
    call check(maxval(abs(found(1, :) - (1 - u(1, :) - 2 * u(1, :) + u(2, :)))) < 1e-15 .and. &
      maxval(abs(found(n, :) - (0.5 - u(n, :) - 2 * u(n, :) + u(n - 1, :)))) < 1e-15, 'Dirichlet ends')
  end subroutine

  subroutine stencils_in_planes(nx, ny, planes)
    integer, intent(in) :: nx, ny, planes
    real(real64) :: u(nx, ny, planes), expected(nx, ny, planes), found(nx, ny, planes)
    real(real32) :: found32(nx, ny, planes)
    real(real64), parameter :: weights(3, 2) = reshape([1, 2, 3, 4, 5, 6], [3, 2]) ! (dx, dy)
    type(bandmill_edges), parameter :: around(2) = bandmill_edges(bandmill_edges_periodic)
    integer :: i, j
    call random_number(found32)
    u = found32
    expected = 0
    do j = 1, 2
      do i = 1, 3
        expected = expected + weights(i, j) * cshift(cshift(u, i - 2, dim=1), j - 1, dim=2)
      end do
    end do
    call bandmill_apply(weights, u, found, before=[1, 0], edges=around)
    call check(maxval(abs(found - expected)) < 1e-13, 'a patch over planes')
    call bandmill_apply(weights, u(:, :, 2), found(:, :, 1), before=[1, 0], edges=around)
    call check(all(found(:, :, 1) == found(:, :, 2)), 'a patch over one plane')
    call bandmill_apply(weights, real(u, real32), found32, before=[1, 0], edges=around)
    call check(maxval(abs(found32 - expected)) < 5e-5, 'f32')
    call bandmill_apply(weights, real(u(:, :, 2), real32), found32(:, :, 1), before=[1, 0], edges=around)
    call check(all(found32(:, :, 1) == found32(:, :, 2)), 'one plane, f32')
    found = 9
    call bandmill_apply(weights, u, found, before=[1, 0])
    call check(all(found(1, :, :) == 9) .and. all(found(nx, :, :) == 9) .and. all(found(:, ny, :) == 9) .and. &
      maxval(abs(found(2:nx - 1, :ny - 1, :) - expected(2:nx - 1, :ny - 1, :))) < 1e-13, 'without edges')
  end subroutine

  subroutine on_a_gpu(n, batch)
    integer, intent(in) :: n, batch
    call on_a_place(0, n, batch)
  end subroutine

  ! By address, in the memory of a place.
  subroutine on_a_place(place, n, batch)
    integer, intent(in) :: place, n, batch
    real(real64) :: bands(n, -1:1)
    real(real64), target :: x(n, batch), expected(n, batch)
    type(bandmill_factor) :: factor
    type(bandmill_shape) :: systems
    type(c_ptr) :: memory
    integer :: m
    bands = random_bands(n, 1)
    call random_number(x)
    do m = 1, batch
      expected(:, m) = solve_dense(bands, 1, .true., x(:, m))
    end do
    call factor%tridiagonal(bands(:, -1), bands(:, 0), bands(:, 1), periodic=.true., place=place)
    call check(bandmill_allocate(place, int(8 * n * batch, int64), memory) == bandmill_ok, 'memory')
    call check(bandmill_copy_to(place, memory, c_loc(x), int(8 * n * batch, int64)) == bandmill_ok, 'copy to')
    systems = bandmill_contiguous(int(n, int64), int(batch, int64))
    call factor%solve_at(memory, systems, memory, systems)
    call check(bandmill_synchronize(place, c_null_ptr) == bandmill_ok, 'synchronize')
    call check(bandmill_copy_from(place, c_loc(x), memory, int(8 * n * batch, int64)) == bandmill_ok, 'copy from')
    call bandmill_release(place, memory)
    call check(maxval(abs(x - expected)) <= 8 * epsilon(1.0_real64), 'solved by address')
  end subroutine
end program solve_test
