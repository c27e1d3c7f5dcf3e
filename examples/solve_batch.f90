! The smallest complete use from Fortran: one matrix, many right-hand sides.
!     solve_batch_fortran [rows] [systems]
program solve_batch
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use bandmill
  implicit none
  integer :: rows = 1000, systems = 10000, m
  real(real64), allocatable :: x(:, :)
  real(real64) :: worst
  type(bandmill_factor) :: factor
  type(bandmill_report) :: report

  call read_argument(1, rows)
  call read_argument(2, systems)

  ! A x = b with A = tridiag(-1, 4, -1), periodic, factored once. Any mistake ends the program with a text.
  call factor%toeplitz(rows, [-1.0_real64, 4.0_real64, -1.0_real64], periodic=.true.)

  ! Here b = m in all rows of system m; one column per system.
  allocate (x(rows, systems))
  do m = 1, systems
    x(:, m) = m
  end do
  call factor%solve(x)

  worst = 0 ! rows sum to 2, so all unknowns of system m are m / 2
  do m = 1, systems
    worst = max(worst, maxval(abs(2 * x(:, m) / m - 1)))
  end do
  report = factor%report()
  print '(i0, a, i0, a, i0, a, es8.1)', systems, ' systems of ', rows, ' rows solved with a factor of ', report%bytes, &
    ' bytes; largest relative error ', worst
  if (worst > 1e-14_real64 .or. any(ieee_is_nan(x))) error stop 'wrong result'

contains

  subroutine read_argument(which, number)
    integer, intent(in) :: which
    integer, intent(inout) :: number
    character(32) :: text
    integer :: trouble
    call get_command_argument(which, text)
    if (text == '') return
    read (text, '(i32)', iostat=trouble) number
    if (trouble == 0 .and. number > 0) return
    write (error_unit, '(a)') 'usage: solve_batch_fortran [rows] [systems], one or more of each'
    stop 2
  end subroutine
end program solve_batch
