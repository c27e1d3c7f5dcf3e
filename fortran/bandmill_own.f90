! A matrix of its own for every system: bandmill_batch_factor, and bandmill_solve_once for matrices that are used once.
module bandmill_own
  use, intrinsic :: iso_c_binding
  use bandmill_c
  use bandmill_support
  implicit none
  private
  public :: bandmill_batch_factor, bandmill_solve_once

  ! The factored matrices of a batch. They are released when the variable goes; an assignment shares them.
  type :: bandmill_batch_factor
    private
    type(holding) :: held
  contains
    generic :: tridiagonal => tridiagonal_f64, tridiagonal_f32
    generic :: pentadiagonal => pentadiagonal_f64, pentadiagonal_f32
    generic :: solve => in_place_f64_2, in_place_f32_2, out_of_place_f64_2, out_of_place_f32_2
    procedure :: status
    procedure :: report
    procedure :: destroy
    generic :: assignment(=) => copy
    procedure, private :: copy, in_place_f64_2, in_place_f32_2, out_of_place_f64_2, out_of_place_f32_2
    procedure, private :: tridiagonal_f64, tridiagonal_f32, pentadiagonal_f64, pentadiagonal_f32
    final :: finalize
  end type

  ! call bandmill_solve_once(lower, diagonal, upper, x, status): factors and solves, in place; the matrices stay. 5
  ! diagonals for pentadiagonal ones. status(system) is 0, or the row whose pivot cannot be used.
  interface bandmill_solve_once
    module procedure once_tridiagonal_f64, once_tridiagonal_f32, once_pentadiagonal_f64, once_pentadiagonal_f32
  end interface

contains

  subroutine factor_views(self, diagonals, periodic, threads, stat, errmsg)
    class(bandmill_batch_factor), intent(inout) :: self
    type(view), intent(in) :: diagonals(:)
    logical, intent(in), optional :: periodic
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: pointers(5), handle
    integer(c_int64_t) :: number
    integer(c_int) :: made
    call self%destroy()
    if (.not. usable(diagonals, stat, errmsg)) return
    pointers(:size(diagonals)) = diagonals%data
    if (diagonals(1)%precision == bandmill_f64) then
      made = bandmill_batch_factor_f64(size(diagonals, kind=c_int), pointers, diagonals(1)%shape, &
        boundary_of(periodic), bandmill_cpu, choice(threads, 0_c_int), c_null_ptr, handle)
    else
      made = bandmill_batch_factor_f32(size(diagonals, kind=c_int), pointers, diagonals(1)%shape, &
        boundary_of(periodic), bandmill_cpu, choice(threads, 0_c_int), c_null_ptr, handle)
    end if
    if (made == bandmill_ok) made = bandmill_batch_factor_number(handle, number)
    if (made == bandmill_ok) call take(self%held, number)
    call settle(made, stat, errmsg)
  end subroutine

  ! Are these the diagonals of one batch?
  logical function usable(diagonals, stat, errmsg)
    type(view), intent(in) :: diagonals(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: d
    usable = .false.
    do d = 1, size(diagonals)
      if (diagonals(d)%trouble /= '') then
        call settle_own(bandmill_invalid_argument, trim(diagonals(d)%trouble), stat, errmsg)
        return
      else if (.not. alike(diagonals(d)%shape, diagonals(1)%shape)) then
        call settle_own(bandmill_invalid_argument, 'the diagonals differ in their sizes or strides: give every '// &
          'diagonal one entry per row and system, and a section of a larger array as a copy, (a(1:8:2, :))', &
          stat, errmsg)
        return
      end if
    end do
    usable = .true.
  end function

  subroutine solve_once(diagonals, x, status, periodic, threads, stat, errmsg)
    type(view), intent(in) :: diagonals(:), x
    integer(c_int64_t), intent(out), optional :: status(:)
    logical, intent(in), optional :: periodic
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: pointers(5), workspace
    integer(c_int64_t), allocatable, target :: rows(:)
    integer(c_int) :: answer, count, team
    if (.not. usable(diagonals, stat, errmsg)) return
    if (.not. usable([x], stat, errmsg)) return
    if (present(status)) then
      if (size(status, kind=c_int64_t) /= x%shape%batch) then
        call settle_own(bandmill_invalid_argument, 'the status has not one entry per system: check its size', &
          stat, errmsg)
        return
      end if
    end if
    count = size(diagonals, kind=c_int)
    team = choice(threads, 0_c_int)
    pointers(:count) = diagonals%data
    allocate (rows(max(x%shape%batch, 1_c_int64_t)), source=0_c_int64_t)
    answer = bandmill_workspace_create(count, x%shape%rows, x%shape%batch, boundary_of(periodic), x%precision, &
      bandmill_cpu, team, workspace)
    if (answer == bandmill_ok) then
      if (x%precision == bandmill_f64) then
        answer = bandmill_batch_solve_once_f64(count, pointers, diagonals(1)%shape, boundary_of(periodic), x%data, &
          x%shape, x%data, x%shape, c_loc(rows), workspace, team, c_null_ptr)
      else
        answer = bandmill_batch_solve_once_f32(count, pointers, diagonals(1)%shape, boundary_of(periodic), x%data, &
          x%shape, x%data, x%shape, c_loc(rows), workspace, team, c_null_ptr)
      end if
      call bandmill_workspace_destroy(workspace)
    end if
    if (present(status)) status = rows(:size(status))
    call settle(answer, stat, errmsg)
  end subroutine

  logical function alike(a, b)
    type(bandmill_shape), intent(in) :: a, b
    alike = a%rows == b%rows .and. a%batch == b%batch .and. a%row_stride == b%row_stride .and. &
      a%batch_stride == b%batch_stride
  end function

  ! lower(i, m) is A(i, i-1) of system m; axis = 2 if the arrays are (systems, rows). The kind of the arrays is that of
  ! the right-hand sides.
  subroutine tridiagonal_f64(self, lower, diagonal, upper, axis, periodic, threads, stat, errmsg)
    class(bandmill_batch_factor), intent(inout) :: self
    real(c_double), intent(in), target :: lower(:, :), diagonal(:, :), upper(:, :)
    logical, intent(in), optional :: periodic
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call factor_views(self, [view_of(lower, axis), view_of(diagonal, axis), view_of(upper, axis)], periodic, &
      threads, stat, errmsg)
  end subroutine

  subroutine pentadiagonal_f64(self, lower2, lower1, diagonal, upper1, upper2, axis, periodic, threads, stat, errmsg)
    class(bandmill_batch_factor), intent(inout) :: self
    real(c_double), intent(in), target :: lower2(:, :), lower1(:, :), diagonal(:, :), upper1(:, :), upper2(:, :)
    logical, intent(in), optional :: periodic
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call factor_views(self, [view_of(lower2, axis), view_of(lower1, axis), view_of(diagonal, axis), &
      view_of(upper1, axis), view_of(upper2, axis)], periodic, threads, stat, errmsg)
  end subroutine

  subroutine tridiagonal_f32(self, lower, diagonal, upper, axis, periodic, threads, stat, errmsg)
    class(bandmill_batch_factor), intent(inout) :: self
    real(c_float), intent(in), target :: lower(:, :), diagonal(:, :), upper(:, :)
    logical, intent(in), optional :: periodic
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call factor_views(self, [view_of(lower, axis), view_of(diagonal, axis), view_of(upper, axis)], periodic, &
      threads, stat, errmsg)
  end subroutine

  subroutine pentadiagonal_f32(self, lower2, lower1, diagonal, upper1, upper2, axis, periodic, threads, stat, errmsg)
    class(bandmill_batch_factor), intent(inout) :: self
    real(c_float), intent(in), target :: lower2(:, :), lower1(:, :), diagonal(:, :), upper1(:, :), upper2(:, :)
    logical, intent(in), optional :: periodic
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call factor_views(self, [view_of(lower2, axis), view_of(lower1, axis), view_of(diagonal, axis), &
      view_of(upper1, axis), view_of(upper2, axis)], periodic, threads, stat, errmsg)
  end subroutine

  subroutine once_tridiagonal_f64(lower, diagonal, upper, x, status, axis, periodic, threads, stat, errmsg)
    real(c_double), intent(in), target :: lower(:, :), diagonal(:, :), upper(:, :)
    real(c_double), intent(inout), target :: x(:, :)
    integer(c_int64_t), intent(out), optional :: status(:)
    logical, intent(in), optional :: periodic
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_once([view_of(lower, axis), view_of(diagonal, axis), view_of(upper, axis)], &
      view_of(x, axis), status, periodic, threads, stat, errmsg)
  end subroutine

  subroutine once_pentadiagonal_f64(lower2, lower1, diagonal, upper1, upper2, x, status, axis, periodic, &
    threads, stat, errmsg)
    real(c_double), intent(in), target :: lower2(:, :), lower1(:, :), diagonal(:, :), upper1(:, :), upper2(:, :)
    real(c_double), intent(inout), target :: x(:, :)
    integer(c_int64_t), intent(out), optional :: status(:)
    logical, intent(in), optional :: periodic
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_once([view_of(lower2, axis), view_of(lower1, axis), view_of(diagonal, axis), &
      view_of(upper1, axis), view_of(upper2, axis)], &
      view_of(x, axis), status, periodic, threads, stat, errmsg)
  end subroutine

  subroutine once_tridiagonal_f32(lower, diagonal, upper, x, status, axis, periodic, threads, stat, errmsg)
    real(c_float), intent(in), target :: lower(:, :), diagonal(:, :), upper(:, :)
    real(c_float), intent(inout), target :: x(:, :)
    integer(c_int64_t), intent(out), optional :: status(:)
    logical, intent(in), optional :: periodic
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_once([view_of(lower, axis), view_of(diagonal, axis), view_of(upper, axis)], &
      view_of(x, axis), status, periodic, threads, stat, errmsg)
  end subroutine

  subroutine once_pentadiagonal_f32(lower2, lower1, diagonal, upper1, upper2, x, status, axis, periodic, &
    threads, stat, errmsg)
    real(c_float), intent(in), target :: lower2(:, :), lower1(:, :), diagonal(:, :), upper1(:, :), upper2(:, :)
    real(c_float), intent(inout), target :: x(:, :)
    integer(c_int64_t), intent(out), optional :: status(:)
    logical, intent(in), optional :: periodic
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_once([view_of(lower2, axis), view_of(lower1, axis), view_of(diagonal, axis), &
      view_of(upper1, axis), view_of(upper2, axis)], &
      view_of(x, axis), status, periodic, threads, stat, errmsg)
  end subroutine

  ! Of every system: 0, or the row whose pivot cannot be used, counted from 1; its solutions are NaN.
  function status(self, stat, errmsg) result(rows)
    class(bandmill_batch_factor), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable :: rows(:)
    type(bandmill_batch_report) :: made
    type(c_ptr) :: handle
    integer(c_int) :: answer
    allocate (rows(0))
    if (.not. found(self%held%number, handle, stat, errmsg)) return
    answer = bandmill_batch_factor_report(handle, made)
    deallocate (rows)
    allocate (rows(made%batch))
    if (answer == bandmill_ok) answer = bandmill_batch_factor_status(handle, rows, c_null_ptr)
    call settle(answer, stat, errmsg)
  end function

  type(bandmill_batch_report) function report(self, stat, errmsg)
    class(bandmill_batch_factor), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    if (found(self%held%number, handle, stat, errmsg)) call settle(bandmill_batch_factor_report(handle, report), stat, errmsg)
  end function

  subroutine destroy(self)
    class(bandmill_batch_factor), intent(inout) :: self
    call let_go(self%held)
  end subroutine

  subroutine copy(self, other)
    class(bandmill_batch_factor), intent(inout) :: self
    type(bandmill_batch_factor), intent(in) :: other
    integer(c_int64_t) :: number
    number = other%held%number
    call bandmill_number_share(number)
    call replace(self%held, number)
  end subroutine

  impure elemental subroutine finalize(self)
    type(bandmill_batch_factor), intent(inout) :: self
    call let_go(self%held)
  end subroutine

  subroutine solve_views(self, b, x, threads, stat, errmsg)
    class(bandmill_batch_factor), intent(in) :: self
    type(view), intent(in) :: b, x
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    integer(c_int) :: answer
    if (.not. found(self%held%number, handle, stat, errmsg)) return
    if (b%trouble /= '') then
      call settle_own(bandmill_invalid_argument, trim(b%trouble), stat, errmsg)
    else if (x%trouble /= '') then
      call settle_own(bandmill_invalid_argument, trim(x%trouble), stat, errmsg)
    else
      if (b%precision == bandmill_f64) then
        answer = bandmill_batch_solve_f64(handle, b%data, b%shape, x%data, x%shape, &
          choice(threads, 0_c_int), c_null_ptr)
      else
        answer = bandmill_batch_solve_f32(handle, b%data, b%shape, x%data, x%shape, &
          choice(threads, 0_c_int), c_null_ptr)
      end if
      call settle(answer, stat, errmsg)
    end if
  end subroutine

  ! call factor%solve(x): right-hand sides in, solutions out. call factor%solve(b, x): to another array.
  ! axis = 1: x(rows, systems), the default; axis = 2: x(systems, rows).
  subroutine in_place_f64_2(self, x, axis, threads, stat, errmsg)
    class(bandmill_batch_factor), intent(in) :: self
    real(c_double), intent(inout), target :: x(:, :)
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_views(self, view_of(x, axis), view_of(x, axis), threads, stat, errmsg)
  end subroutine

  subroutine out_of_place_f64_2(self, b, x, axis, threads, stat, errmsg)
    class(bandmill_batch_factor), intent(in) :: self
    real(c_double), intent(in), target :: b(:, :)
    real(c_double), intent(inout), target :: x(:, :)
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_views(self, view_of(b, axis), view_of(x, axis), threads, stat, errmsg)
  end subroutine

  subroutine in_place_f32_2(self, x, axis, threads, stat, errmsg)
    class(bandmill_batch_factor), intent(in) :: self
    real(c_float), intent(inout), target :: x(:, :)
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_views(self, view_of(x, axis), view_of(x, axis), threads, stat, errmsg)
  end subroutine

  subroutine out_of_place_f32_2(self, b, x, axis, threads, stat, errmsg)
    class(bandmill_batch_factor), intent(in) :: self
    real(c_float), intent(in), target :: b(:, :)
    real(c_float), intent(inout), target :: x(:, :)
    integer, intent(in), optional :: axis, threads
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call solve_views(self, view_of(b, axis), view_of(x, axis), threads, stat, errmsg)
  end subroutine
end module bandmill_own
