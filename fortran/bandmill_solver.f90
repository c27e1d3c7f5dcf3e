! One matrix for all systems: bandmill_factor.
module bandmill_solver
  use, intrinsic :: iso_c_binding
  use bandmill_c
  use bandmill_support
  implicit none
  private
  public :: bandmill_factor

  ! A factored matrix. It is released when the variable goes; an assignment shares it.
  type :: bandmill_factor
    private
    type(holding) :: held
  contains
    procedure :: tridiagonal
    procedure :: pentadiagonal
    generic :: toeplitz => toeplitz_short, toeplitz_long
    generic :: solve => in_place_f64_1, in_place_f64_2, in_place_f32_1, in_place_f32_2, &
      out_of_place_f64_1, out_of_place_f64_2, out_of_place_f32_1, out_of_place_f32_2
    procedure :: solve_at
    procedure :: report
    procedure :: destroy
    generic :: assignment(=) => copy
    procedure, private :: toeplitz_short, toeplitz_long
    procedure, private :: copy, in_place_f64_1, in_place_f64_2, in_place_f32_1, in_place_f32_2
    procedure, private :: out_of_place_f64_1, out_of_place_f64_2, out_of_place_f32_1, out_of_place_f32_2
    final :: finalize
  end type

contains

  ! Diagonals are indexed by row: lower(i) is A(i, i-1). Each has one entry per row; those outside an open matrix may
  ! hold anything. precision: of the data that will be solved for; place: bandmill_cpu, or the index of a GPU.
  subroutine tridiagonal(self, lower, diagonal, upper, periodic, precision, place, stat, errmsg)
    class(bandmill_factor), intent(inout) :: self
    real(c_double), intent(in) :: lower(:), diagonal(:), upper(:)
    logical, intent(in), optional :: periodic
    integer, intent(in), optional :: precision, place
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double), allocatable, target :: bands(:, :)
    type(c_ptr) :: handle
    integer(c_int64_t) :: rows
    integer(c_int) :: status
    call self%destroy()
    if (.not. same_sizes([size(lower, kind=c_int64_t), size(diagonal, kind=c_int64_t), size(upper, kind=c_int64_t)], &
      stat, errmsg)) return
    rows = size(diagonal, kind=c_int64_t)
    allocate (bands(max(rows, 1_c_int64_t), 3))
    bands(:rows, 1) = lower
    bands(:rows, 2) = diagonal
    bands(:rows, 3) = upper
    status = bandmill_factor_tridiagonal(rows, c_loc(bands(1, 1)), c_loc(bands(1, 2)), c_loc(bands(1, 3)), &
      boundary_of(periodic), choice(precision, bandmill_f64), choice(place, bandmill_cpu), handle)
    call keep(self, handle, status, stat, errmsg)
  end subroutine

  subroutine pentadiagonal(self, lower2, lower1, diagonal, upper1, upper2, periodic, precision, place, stat, errmsg)
    class(bandmill_factor), intent(inout) :: self
    real(c_double), intent(in) :: lower2(:), lower1(:), diagonal(:), upper1(:), upper2(:)
    logical, intent(in), optional :: periodic
    integer, intent(in), optional :: precision, place
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double), allocatable, target :: bands(:, :)
    type(c_ptr) :: handle
    integer(c_int64_t) :: rows
    integer(c_int) :: status
    call self%destroy()
    if (.not. same_sizes([size(lower2, kind=c_int64_t), size(lower1, kind=c_int64_t), size(diagonal, kind=c_int64_t), &
      size(upper1, kind=c_int64_t), size(upper2, kind=c_int64_t)], stat, errmsg)) return
    rows = size(diagonal, kind=c_int64_t)
    allocate (bands(max(rows, 1_c_int64_t), 5))
    bands(:rows, 1) = lower2
    bands(:rows, 2) = lower1
    bands(:rows, 3) = diagonal
    bands(:rows, 4) = upper1
    bands(:rows, 5) = upper2
    status = bandmill_factor_pentadiagonal(rows, c_loc(bands(1, 1)), c_loc(bands(1, 2)), c_loc(bands(1, 3)), &
      c_loc(bands(1, 4)), c_loc(bands(1, 5)), boundary_of(periodic), choice(precision, bandmill_f64), &
      choice(place, bandmill_cpu), handle)
    call keep(self, handle, status, stat, errmsg)
  end subroutine

  ! Constant diagonals: 3 or 5 weights, the lowest first.
  subroutine toeplitz_long(self, rows, weights, periodic, precision, place, stat, errmsg)
    class(bandmill_factor), intent(inout) :: self
    integer(c_int64_t), intent(in) :: rows
    real(c_double), intent(in) :: weights(:)
    logical, intent(in), optional :: periodic
    integer, intent(in), optional :: precision, place
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double), target :: kept(5)
    type(c_ptr) :: handle
    integer(c_int) :: status
    call self%destroy()
    kept = 0
    kept(:min(size(weights), 5)) = weights(:min(size(weights), 5))
    status = bandmill_factor_toeplitz(rows, size(weights, kind=c_int), c_loc(kept), &
      boundary_of(periodic), choice(precision, bandmill_f64), choice(place, bandmill_cpu), handle)
    call keep(self, handle, status, stat, errmsg)
  end subroutine

  subroutine toeplitz_short(self, rows, weights, periodic, precision, place, stat, errmsg)
    class(bandmill_factor), intent(inout) :: self
    integer(c_int), intent(in) :: rows
    real(c_double), intent(in) :: weights(:)
    logical, intent(in), optional :: periodic
    integer, intent(in), optional :: precision, place
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%toeplitz(int(rows, c_int64_t), weights, periodic, precision, place, stat, errmsg)
  end subroutine

  ! What a call that makes a factor returned.
  subroutine keep(self, handle, status, stat, errmsg)
    class(bandmill_factor), intent(inout) :: self
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: number
    integer(c_int) :: made
    made = status
    if (made == bandmill_ok) made = bandmill_factor_number(handle, number)
    if (made == bandmill_ok) call take(self%held, number)
    call settle(made, stat, errmsg)
  end subroutine

  logical function same_sizes(sizes, stat, errmsg)
    integer(c_int64_t), intent(in) :: sizes(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(120) :: list
    same_sizes = all(sizes == sizes(1))
    if (same_sizes) return
    write (list, '(*(i0, :, ", "))') sizes
    call settle_own(bandmill_invalid_argument, 'the diagonals have '//trim(list)// &
      ' entries (diagonals are indexed by row): give every diagonal one entry per row', stat, errmsg)
  end function

  type(bandmill_report) function report(self, stat, errmsg)
    class(bandmill_factor), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    if (found(self%held%number, handle, stat, errmsg)) call settle(bandmill_factor_report(handle, report), stat, errmsg)
  end function

  subroutine destroy(self)
    class(bandmill_factor), intent(inout) :: self
    call let_go(self%held)
  end subroutine

  subroutine copy(self, other)
    class(bandmill_factor), intent(inout) :: self
    type(bandmill_factor), intent(in) :: other
    integer(c_int64_t) :: number
    number = other%held%number
    call bandmill_number_share(number)
    call replace(self%held, number)
  end subroutine

  impure elemental subroutine finalize(self)
    type(bandmill_factor), intent(inout) :: self
    call let_go(self%held)
  end subroutine

  ! Data by address, on a GPU or on the host, of the factor's precision.
  subroutine solve_at(self, b, b_shape, x, x_shape, stream, threads, stat, errmsg)
    class(bandmill_factor), intent(in) :: self
    type(c_ptr), intent(in) :: b, x
    type(bandmill_shape), intent(in) :: b_shape, x_shape
    type(c_ptr), intent(in), optional :: stream
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(bandmill_report) :: made
    type(c_ptr) :: queue, handle
    integer(c_int) :: status
    if (.not. found(self%held%number, handle, stat, errmsg)) return
    queue = c_null_ptr
    if (present(stream)) queue = stream
    status = bandmill_factor_report(handle, made)
    if (status == bandmill_ok) then
      if (made%precision == bandmill_f64) then
        status = bandmill_solve_f64(handle, b, b_shape, x, x_shape, choice(threads, 0_c_int), queue)
      else
        status = bandmill_solve_f32(handle, b, b_shape, x, x_shape, choice(threads, 0_c_int), queue)
      end if
    end if
    call settle(status, stat, errmsg)
  end subroutine

  subroutine solve_views(self, b, x, threads, stat, errmsg)
    class(bandmill_factor), intent(in) :: self
    type(view), intent(in) :: b, x
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: status
    if (.not. found(self%held%number, handle, stat, errmsg)) return
    if (b%trouble /= '') then
      call settle_own(bandmill_invalid_argument, trim(b%trouble), stat, errmsg)
    else if (x%trouble /= '') then
      call settle_own(bandmill_invalid_argument, trim(x%trouble), stat, errmsg)
    else
      if (b%precision == bandmill_f64) then
        status = bandmill_solve_f64(handle, b%data, b%shape, x%data, x%shape, choice(threads, 0_c_int), c_null_ptr)
      else
        status = bandmill_solve_f32(handle, b%data, b%shape, x%data, x%shape, choice(threads, 0_c_int), c_null_ptr)
      end if
      call settle(status, stat, errmsg)
    end if
  end subroutine

  ! call factor%solve(x): right-hand sides in, solutions out. call factor%solve(b, x): to another array.
  ! axis = 1: x(rows, systems), the default; axis = 2: x(systems, rows).
  subroutine in_place_f64_1(self, x, threads, stat, errmsg)
    class(bandmill_factor), intent(in) :: self
    real(c_double), intent(inout), target :: x(:)
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_views(self, view_of(x), view_of(x), threads, stat, errmsg)
  end subroutine

  subroutine out_of_place_f64_1(self, b, x, threads, stat, errmsg)
    class(bandmill_factor), intent(in) :: self
    real(c_double), intent(in), target :: b(:)
    real(c_double), intent(inout), target :: x(:)
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_views(self, view_of(b), view_of(x), threads, stat, errmsg)
  end subroutine

  subroutine in_place_f64_2(self, x, axis, threads, stat, errmsg)
    class(bandmill_factor), intent(in) :: self
    real(c_double), intent(inout), target :: x(:, :)
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_views(self, view_of(x, axis), view_of(x, axis), threads, stat, errmsg)
  end subroutine

  subroutine out_of_place_f64_2(self, b, x, axis, threads, stat, errmsg)
    class(bandmill_factor), intent(in) :: self
    real(c_double), intent(in), target :: b(:, :)
    real(c_double), intent(inout), target :: x(:, :)
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_views(self, view_of(b, axis), view_of(x, axis), threads, stat, errmsg)
  end subroutine

  subroutine in_place_f32_1(self, x, threads, stat, errmsg)
    class(bandmill_factor), intent(in) :: self
    real(c_float), intent(inout), target :: x(:)
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_views(self, view_of(x), view_of(x), threads, stat, errmsg)
  end subroutine

  subroutine out_of_place_f32_1(self, b, x, threads, stat, errmsg)
    class(bandmill_factor), intent(in) :: self
    real(c_float), intent(in), target :: b(:)
    real(c_float), intent(inout), target :: x(:)
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_views(self, view_of(b), view_of(x), threads, stat, errmsg)
  end subroutine

  subroutine in_place_f32_2(self, x, axis, threads, stat, errmsg)
    class(bandmill_factor), intent(in) :: self
    real(c_float), intent(inout), target :: x(:, :)
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_views(self, view_of(x, axis), view_of(x, axis), threads, stat, errmsg)
  end subroutine

  subroutine out_of_place_f32_2(self, b, x, axis, threads, stat, errmsg)
    class(bandmill_factor), intent(in) :: self
    real(c_float), intent(in), target :: b(:, :)
    real(c_float), intent(inout), target :: x(:, :)
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_views(self, view_of(b, axis), view_of(x, axis), threads, stat, errmsg)
  end subroutine
end module bandmill_solver
