! What the tests of the Fortran modules share: checks, matrices, and a dense solver that has nothing in common with the
! library.
module checking
  use, intrinsic :: iso_fortran_env, only: error_unit, real32, real64, real128, int64
  use bandmill
  implicit none
  integer :: failures = 0

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    write (error_unit, '(2a)') 'not so: ', what
  end subroutine

  ! A call returned this status, and its text has this part.
  subroutine refused(stat, errmsg, expected, part)
    integer, intent(in) :: stat, expected
    character(*), intent(in) :: errmsg, part
    if (stat == expected .and. index(errmsg, part) > 0) return
    failures = failures + 1
    write (error_unit, '(2a)') 'the text is: ', trim(errmsg)
    write (error_unit, '(3a, i0)') 'no refusal about "', part, '"; the status is ', stat
  end subroutine

  subroutine finish()
    if (failures > 0) error stop 1
  end subroutine

  ! Diagonally dominant: diagonals are (rows, 2 W + 1), the lowest first, indexed by row.
  function random_bands(rows, width) result(bands)
    integer, intent(in) :: rows, width
    real(real64) :: bands(rows, -width:width)
    call random_number(bands)
    bands = 2 * bands - 1
    bands(:, 0) = bands(:, 0) + 2 * width + 2
  end function

  function solve_dense(bands, width, periodic, b) result(x)
    integer, intent(in) :: width
    real(real64), intent(in) :: bands(:, -width:), b(:)
    logical, intent(in) :: periodic
    real(real64) :: x(size(b))
    real(real128) :: a(size(b), size(b)), y(size(b)), row(size(b)), kept
    integer :: n, i, j, k, best
    n = size(b)
    a = 0
    y = b
    do i = 1, n
      do k = -width, width
        j = i + k
        if (periodic) j = modulo(j - 1, n) + 1
        if (j >= 1 .and. j <= n) a(i, j) = a(i, j) + bands(i, k)
      end do
    end do
    do k = 1, n
      best = k - 1 + maxloc(abs(a(k:, k)), dim=1)
      row = a(k, :); a(k, :) = a(best, :); a(best, :) = row
      kept = y(k); y(k) = y(best); y(best) = kept
      do i = k + 1, n
        kept = a(i, k) / a(k, k)
        a(i, :) = a(i, :) - kept * a(k, :)
        y(i) = y(i) - kept * y(k)
      end do
    end do
    do i = n, 1, -1
      y(i) = (y(i) - sum(a(i, i + 1:) * y(i + 1:))) / a(i, i)
    end do
    x = real(y, real64)
  end function
end module checking
