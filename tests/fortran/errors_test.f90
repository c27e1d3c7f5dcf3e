! Wrong input through the Fortran modules: status, texts, and that nothing is written. With the argument "stop" it makes
! a mistake without stat=, which has to end it.
program errors_test
  use, intrinsic :: iso_c_binding
  use checking
  implicit none
  integer :: stat
  character(500) :: errmsg
  character(8) :: argument
  call get_command_argument(1, argument)
  if (argument == 'stop') call stops_without_stat()
  call wrong_matrices()
  call rows_are_counted_from_one()
  call wrong_solves(8, 3)
  call wrong_batches(5, 4)
  call wrong_stencils(7, 2)
  call finish()

contains

  subroutine stops_without_stat()
    type(bandmill_factor) :: factor
    call factor%toeplitz(-5, [1.0_real64, 4.0_real64, 1.0_real64])
  end subroutine

  subroutine wrong_matrices()
    type(bandmill_factor) :: factor
    real(real64) :: ones(8), fours(8), weights(3), none(0), six(6)
    ones = 1
    fours = 4
    six = 1
    weights = [1, 4, 1]
    errmsg = 'as before'
    call factor%tridiagonal(ones, fours, ones, stat=stat, errmsg=errmsg)
    call check(stat == bandmill_ok .and. errmsg == 'as before', 'no text without an error')
    call factor%tridiagonal(ones(:7), fours, ones, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'the diagonals have 7, 8, 8 entries')
    call factor%tridiagonal(none, none, none, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, '0 rows')
    call factor%pentadiagonal(ones, ones, fours, ones, ones(:2), stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, '8, 8, 8, 8, 2 entries')
    call factor%toeplitz(0, weights, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, '0 rows')
    call factor%toeplitz(8, weights(:2), stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, '2 weights')
    call factor%toeplitz(8, six, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, '6 weights')
    call factor%toeplitz(8, none, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, '0 weights')
    call factor%toeplitz(8, weights, precision=8, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'precision 8')
    call factor%toeplitz(8, weights, place=-2, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'no place -2')
    call factor%toeplitz(8, weights, place=1000, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_backend_unavailable, '')
    call factor%toeplitz(huge(1_int64), weights, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_out_of_memory, 'do not fit in memory')
    call check(bandmill_error() == trim(errmsg) .and. bandmill_error_row() == 0, 'the last error, without a row')
  end subroutine

  subroutine rows_are_counted_from_one()
    type(bandmill_factor) :: factor
    real(real64) :: ones(8), fours(8), zeros(8), nan
    type(bandmill_report) :: report
    character(9) :: short
    ones = 1
    fours = 4
    zeros = 0
    nan = 0
    nan = nan / nan
    fours(6) = nan
    call factor%tridiagonal(ones, fours, ones, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_matrix, 'nan')
    call check(bandmill_error_row() == 6, 'the row of a NaN')
    fours(6) = 0
    call factor%tridiagonal(zeros, fours, zeros, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_singular_matrix, 'singular')
    call check(bandmill_error_row() == 6, 'the row of a singular matrix')
    ! An error that is found in Fortran is the last one, too.
    call factor%tridiagonal(ones, fours(:3), ones, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, '3')
    call check(bandmill_error() == trim(errmsg) .and. bandmill_error_row() == 0, 'the last error, found in Fortran')
    ! What failed left nothing behind.
    call factor%solve(ones, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'there is no factor in this variable')
    report = factor%report(stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'there is no factor in this variable')
    call check(report%rows == 0, 'nothing to report')
    call factor%tridiagonal(ones, fours, ones, stat=stat)
    call check(stat == bandmill_ok, 'stat alone')
    call factor%solve(ones(:3), stat=stat, errmsg=short)
    call check(stat == bandmill_invalid_argument .and. short == 'the right', 'a short text is cut')
  end subroutine

  subroutine wrong_solves(n, batch)
    integer, intent(in) :: n, batch
    type(bandmill_factor) :: factor
    real(real64), target :: x(n, batch), room(n + 1, batch)
    real(real32) :: x32(n, batch)
    call factor%toeplitz(n, [1.0_real64, 4.0_real64, 1.0_real64])
    x = 3
    x32 = 3
    room = 3
    call factor%solve(x, axis=2, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, '3 rows, but the factored matrix has 8')
    call factor%solve(x, axis=3, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'axis is neither 1 nor 2')
    call factor%solve(room, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, '9 rows')
    call factor%solve(x(:, :2), room(:n, :), stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, '2 systems')
    call factor%solve(room(:n, :), room(2:, :), stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'overlap')
    call factor%solve(x, threads=-1, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, '-1 threads')
    call factor%solve(x32, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'not f32')
    call factor%solve_at(c_null_ptr, bandmill_contiguous(int(n, int64), 1_int64), c_loc(x), &
      bandmill_contiguous(int(n, int64), 1_int64), stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'is NULL')
    call factor%solve_at(c_loc(x), bandmill_contiguous(int(n, int64), 1_int64), c_loc(x), &
      bandmill_contiguous(int(n, int64), 1_int64), stream=c_loc(x), stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'stream')
    call check(all(x == 3) .and. all(room == 3) .and. all(x32 == 3), 'nothing was written')
    call factor%solve(x(:, :0), stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_ok, '')
  end subroutine

  subroutine wrong_batches(n, batch)
    integer, intent(in) :: n, batch
    type(bandmill_batch_factor) :: matrices
    real(real64) :: off(n, batch), main(n, batch), x(n, batch), wide(2 * n, batch)
    real(real32) :: x32(n, batch)
    integer(int64), allocatable :: rows(:)
    off = 1
    main = 4
    x = 3
    wide = 1
    x32 = 3
    call matrices%tridiagonal(off(2:, :), main, off, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'diagonals differ')
    call matrices%tridiagonal(off, main, wide(:n, :), stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'diagonals differ')
    call matrices%tridiagonal(off, main, off, axis=0, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'axis')
    call matrices%tridiagonal(off, main, off, threads=-2, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, '-2 threads')
    call matrices%solve(x, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'there is no factor in this variable')
    allocate (rows(1))
    rows = matrices%status(stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'there is no factor in this variable')
    call check(size(rows) == 0, 'no status without matrices')
    call bandmill_solve_once(off, main, off(:, :2), x, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'diagonals differ')
    call bandmill_solve_once(off, main, off, x, rows, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'one entry per system')
    call bandmill_solve_once(off, main, off, x, axis=0, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'axis')
    call bandmill_solve_once(off, main, off, main, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'overlaps diagonal 1')
    call matrices%tridiagonal(off, main, off)
    call matrices%solve(x(:, :2), stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, '2 systems to solve and 4 matrices')
    call matrices%solve(x32, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'not f32')
    call matrices%solve(x, axis=7, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'axis')
    call check(all(x == 3) .and. all(x32 == 3), 'nothing was written')
  end subroutine

  subroutine wrong_stencils(n, batch)
    integer, intent(in) :: n, batch
    real(real64) :: u(n, batch), out(n, batch), line(3), patch(3, 3), none(0)
    line = 1
    patch = 1
    u = 1
    out = 5
    call bandmill_apply(line(:2), u, out, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'no point in the middle')
    call bandmill_apply(none, u, out, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'no weights')
    call bandmill_apply(line, u, out, before=3, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'cannot reach 3')
    call bandmill_apply(line, u, u, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'overlap')
    call bandmill_apply(line, u, out, axis=5, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'axis')
    call bandmill_apply(line, u, out, edges=bandmill_edges(9), stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'kind 9')
    call bandmill_apply(line, u(2:, :), out, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'rows')
    call bandmill_apply(patch(:, :2), u, out, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'no point in the middle')
    call bandmill_apply(patch, u(:, :1), out, stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, '1 rows')
    call bandmill_apply(patch, u, out, before=[-1, 1], stat=stat, errmsg=errmsg)
    call refused(stat, errmsg, bandmill_invalid_argument, 'cannot reach -1')
    call check(all(out == 5), 'nothing was written')
  end subroutine
end program errors_test
