! The C interface as it stands in bandmill/c/bandmill.h, for Fortran: what each function does is said there. Rows are
! counted from 0 here. Module bandmill has the same for Fortran arrays, and three functions of the same names: their C
! twins are called bandmill_c_... here.
module bandmill_c
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_float, c_int, c_int64_t, c_ptr
  implicit none
  private :: c_char, c_double, c_float, c_int, c_int64_t, c_ptr

  integer(c_int), parameter :: bandmill_ok = 0, bandmill_invalid_argument = 1, bandmill_invalid_matrix = 2, &
    bandmill_singular_matrix = 3, bandmill_backend_unavailable = 4, bandmill_device_error = 5, &
    bandmill_out_of_memory = 6, bandmill_internal_error = 7
  integer(c_int), parameter :: bandmill_cpu = -1
  integer(c_int), parameter :: bandmill_open = 0, bandmill_periodic = 1
  integer(c_int), parameter :: bandmill_f32 = 32, bandmill_f64 = 64
  integer(c_int), parameter :: bandmill_path_partitioned = 0, bandmill_path_sequential = 1, bandmill_path_pivoted = 2
  integer(c_int), parameter :: bandmill_edges_leave = 0, bandmill_edges_periodic = 1, bandmill_edges_constant = 2, &
    bandmill_edges_even = 3, bandmill_edges_odd = 4, bandmill_edges_even_at_point = 5, bandmill_edges_odd_at_point = 6
  integer(c_int), parameter :: bandmill_replace = 0, bandmill_add = 1

  type, bind(c) :: bandmill_shape
    integer(c_int64_t) :: rows = 1, batch = 0, row_stride = 0, batch_stride = 0, tile = 0, tile_stride = 0
  end type
  type, bind(c) :: bandmill_report
    integer(c_int64_t) :: rows = 0
    integer(c_int) :: half_bandwidth = 0, boundary = 0, precision = 0, place = 0, path = 0
    real(c_double) :: pivot_growth = 0, backward_error = 0
    integer(c_int64_t) :: bytes = 0, workspace_bytes_per_system = 0
  end type
  type, bind(c) :: bandmill_batch_report
    integer(c_int64_t) :: rows = 0, batch = 0
    integer(c_int) :: half_bandwidth = 0, boundary = 0, precision = 0, place = 0
    integer(c_int64_t) :: bytes = 0
  end type
  type, bind(c) :: bandmill_stencil
    integer(c_int64_t) :: rows, columns, up, left
    type(c_ptr) :: weights
  end type
  type, bind(c) :: bandmill_edges
    integer(c_int) :: kind = 0
    real(c_double) :: first = 0, last = 0
  end type
  type, bind(c) :: bandmill_planes
    integer(c_int64_t) :: rows = 1, columns = 1, batch = 0, row_stride = 0, column_stride = 0, batch_stride = 0
  end type

  interface
    function bandmill_c_status_name(status) bind(c, name='bandmill_status_name') result(name)
      import; integer(c_int), value :: status; type(c_ptr) :: name
    end function
    function bandmill_last_error() bind(c) result(text)
      import; type(c_ptr) :: text
    end function
    function bandmill_last_error_row() bind(c) result(row)
      import; integer(c_int64_t) :: row
    end function
    function bandmill_set_last_error(status, text) bind(c) result(same)
      import; integer(c_int), value :: status; character(kind=c_char), intent(in) :: text(*); integer(c_int) :: same
    end function
    function bandmill_c_version() bind(c, name='bandmill_version') result(text)
      import; type(c_ptr) :: text
    end function
    function bandmill_c_cuda_built() bind(c, name='bandmill_cuda_built') result(built)
      import; integer(c_int) :: built
    end function
    function bandmill_device_count() bind(c) result(count)
      import; integer(c_int) :: count
    end function

    function bandmill_allocate(place, bytes, memory) bind(c) result(status)
      import; integer(c_int), value :: place; integer(c_int64_t), value :: bytes
      type(c_ptr), intent(out) :: memory; integer(c_int) :: status
    end function
    subroutine bandmill_release(place, memory) bind(c)
      import; integer(c_int), value :: place; type(c_ptr), value :: memory
    end subroutine
    function bandmill_copy_to(place, to, from_host, bytes) bind(c) result(status)
      import; integer(c_int), value :: place; type(c_ptr), value :: to, from_host
      integer(c_int64_t), value :: bytes; integer(c_int) :: status
    end function
    function bandmill_copy_from(place, to_host, from, bytes) bind(c) result(status)
      import; integer(c_int), value :: place; type(c_ptr), value :: to_host, from
      integer(c_int64_t), value :: bytes; integer(c_int) :: status
    end function
    function bandmill_synchronize(place, stream) bind(c) result(status)
      import; integer(c_int), value :: place; type(c_ptr), value :: stream; integer(c_int) :: status
    end function

    function bandmill_interleaved(rows, batch) bind(c) result(shape)
      import; integer(c_int64_t), value :: rows, batch; type(bandmill_shape) :: shape
    end function
    function bandmill_contiguous(rows, batch) bind(c) result(shape)
      import; integer(c_int64_t), value :: rows, batch; type(bandmill_shape) :: shape
    end function
    function bandmill_tiled(rows, batch, width) bind(c) result(shape)
      import; integer(c_int64_t), value :: rows, batch, width; type(bandmill_shape) :: shape
    end function
    function bandmill_strided(rows, batch, row_stride, batch_stride) bind(c) result(shape)
      import; integer(c_int64_t), value :: rows, batch, row_stride, batch_stride; type(bandmill_shape) :: shape
    end function

    function bandmill_factor_tridiagonal(rows, lower, diagonal, upper, boundary, precision, place, factor) bind(c) &
      result(status)
      import; integer(c_int64_t), value :: rows; type(c_ptr), value :: lower, diagonal, upper
      integer(c_int), value :: boundary, precision, place; type(c_ptr), intent(out) :: factor
      integer(c_int) :: status
    end function
    function bandmill_factor_pentadiagonal(rows, lower2, lower1, diagonal, upper1, upper2, boundary, precision, place, &
      factor) bind(c) result(status)
      import; integer(c_int64_t), value :: rows; type(c_ptr), value :: lower2, lower1, diagonal, upper1, upper2
      integer(c_int), value :: boundary, precision, place; type(c_ptr), intent(out) :: factor
      integer(c_int) :: status
    end function
    function bandmill_factor_toeplitz(rows, weight_count, weights, boundary, precision, place, factor) bind(c) &
      result(status)
      import; integer(c_int64_t), value :: rows; integer(c_int), value :: weight_count; type(c_ptr), value :: weights
      integer(c_int), value :: boundary, precision, place; type(c_ptr), intent(out) :: factor
      integer(c_int) :: status
    end function
    function bandmill_factor_copy(factor, copy) bind(c) result(status)
      import; type(c_ptr), value :: factor; type(c_ptr), intent(out) :: copy; integer(c_int) :: status
    end function
    subroutine bandmill_factor_destroy(factor) bind(c)
      import; type(c_ptr), value :: factor
    end subroutine
    function bandmill_factor_report(factor, report) bind(c) result(status)
      import; type(c_ptr), value :: factor; type(bandmill_report), intent(out) :: report; integer(c_int) :: status
    end function
    function bandmill_solve_f64(factor, b, b_shape, x, x_shape, threads, stream) bind(c) result(status)
      import; type(c_ptr), value :: factor, b, x, stream; type(bandmill_shape), value :: b_shape, x_shape
      integer(c_int), value :: threads; integer(c_int) :: status
    end function
    function bandmill_solve_f32(factor, b, b_shape, x, x_shape, threads, stream) bind(c) result(status)
      import; type(c_ptr), value :: factor, b, x, stream; type(bandmill_shape), value :: b_shape, x_shape
      integer(c_int), value :: threads; integer(c_int) :: status
    end function

    function bandmill_batch_factor_f64(diagonal_count, diagonals, shape, boundary, place, threads, stream, factor) &
      bind(c) result(status)
      import; integer(c_int), value :: diagonal_count, boundary, place, threads; type(c_ptr), intent(in) :: diagonals(*)
      type(bandmill_shape), value :: shape; type(c_ptr), value :: stream; type(c_ptr), intent(out) :: factor
      integer(c_int) :: status
    end function
    function bandmill_batch_factor_f32(diagonal_count, diagonals, shape, boundary, place, threads, stream, factor) &
      bind(c) result(status)
      import; integer(c_int), value :: diagonal_count, boundary, place, threads; type(c_ptr), intent(in) :: diagonals(*)
      type(bandmill_shape), value :: shape; type(c_ptr), value :: stream; type(c_ptr), intent(out) :: factor
      integer(c_int) :: status
    end function
    function bandmill_batch_factor_copy(factor, copy) bind(c) result(status)
      import; type(c_ptr), value :: factor; type(c_ptr), intent(out) :: copy; integer(c_int) :: status
    end function
    subroutine bandmill_batch_factor_destroy(factor) bind(c)
      import; type(c_ptr), value :: factor
    end subroutine
    function bandmill_batch_factor_status(factor, found, stream) bind(c) result(status)
      import; type(c_ptr), value :: factor, stream; integer(c_int64_t), intent(out) :: found(*)
      integer(c_int) :: status
    end function
    function bandmill_batch_factor_report(factor, report) bind(c) result(status)
      import; type(c_ptr), value :: factor; type(bandmill_batch_report), intent(out) :: report
      integer(c_int) :: status
    end function
    function bandmill_factor_number(factor, number) bind(c) result(status)
      import; type(c_ptr), value :: factor; integer(c_int64_t), intent(out) :: number; integer(c_int) :: status
    end function
    function bandmill_batch_factor_number(factor, number) bind(c) result(status)
      import; type(c_ptr), value :: factor; integer(c_int64_t), intent(out) :: number; integer(c_int) :: status
    end function
    function bandmill_numbered(number) bind(c) result(factor)
      import; integer(c_int64_t), value :: number; type(c_ptr) :: factor
    end function
    subroutine bandmill_number_share(number) bind(c)
      import; integer(c_int64_t), value :: number
    end subroutine
    subroutine bandmill_number_release(number) bind(c)
      import; integer(c_int64_t), value :: number
    end subroutine

    function bandmill_batch_solve_f64(factor, b, b_shape, x, x_shape, threads, stream) bind(c) result(status)
      import; type(c_ptr), value :: factor, b, x, stream; type(bandmill_shape), value :: b_shape, x_shape
      integer(c_int), value :: threads; integer(c_int) :: status
    end function
    function bandmill_batch_solve_f32(factor, b, b_shape, x, x_shape, threads, stream) bind(c) result(status)
      import; type(c_ptr), value :: factor, b, x, stream; type(bandmill_shape), value :: b_shape, x_shape
      integer(c_int), value :: threads; integer(c_int) :: status
    end function
    function bandmill_workspace_create(diagonal_count, rows, batch, boundary, precision, place, threads, workspace) &
      bind(c) result(status)
      import; integer(c_int), value :: diagonal_count, boundary, precision, place, threads
      integer(c_int64_t), value :: rows, batch; type(c_ptr), intent(out) :: workspace; integer(c_int) :: status
    end function
    subroutine bandmill_workspace_destroy(workspace) bind(c)
      import; type(c_ptr), value :: workspace
    end subroutine
    function bandmill_batch_solve_once_f64(diagonal_count, diagonals, shape, boundary, b, b_shape, x, x_shape, found, &
      workspace, threads, stream) bind(c) result(status)
      import; integer(c_int), value :: diagonal_count, boundary, threads; type(c_ptr), intent(in) :: diagonals(*)
      type(bandmill_shape), value :: shape, b_shape, x_shape; type(c_ptr), value :: b, x, found, workspace, stream
      integer(c_int) :: status
    end function
    function bandmill_batch_solve_once_f32(diagonal_count, diagonals, shape, boundary, b, b_shape, x, x_shape, found, &
      workspace, threads, stream) bind(c) result(status)
      import; integer(c_int), value :: diagonal_count, boundary, threads; type(c_ptr), intent(in) :: diagonals(*)
      type(bandmill_shape), value :: shape, b_shape, x_shape; type(c_ptr), value :: b, x, found, workspace, stream
      integer(c_int) :: status
    end function

    function bandmill_row_by_row(rows, columns, batch) bind(c) result(shape)
      import; integer(c_int64_t), value :: rows, columns, batch; type(bandmill_planes) :: shape
    end function
    function bandmill_apply_f64(stencil, in, in_shape, out, out_shape, edges, into, place, threads, stream) bind(c) &
      result(status)
      import; type(bandmill_stencil), intent(in) :: stencil; type(c_ptr), value :: in, out, stream
      type(bandmill_shape), value :: in_shape, out_shape; type(bandmill_edges), value :: edges
      integer(c_int), value :: into, place, threads; integer(c_int) :: status
    end function
    function bandmill_apply_f32(stencil, in, in_shape, out, out_shape, edges, into, place, threads, stream) bind(c) &
      result(status)
      import; type(bandmill_stencil), intent(in) :: stencil; type(c_ptr), value :: in, out, stream
      type(bandmill_shape), value :: in_shape, out_shape; type(bandmill_edges), value :: edges
      integer(c_int), value :: into, place, threads; integer(c_int) :: status
    end function
    function bandmill_apply_planes_f64(stencil, in, in_shape, out, out_shape, x_edges, y_edges, into, place, threads, &
      stream) bind(c) result(status)
      import; type(bandmill_stencil), intent(in) :: stencil; type(c_ptr), value :: in, out, stream
      type(bandmill_planes), value :: in_shape, out_shape; type(bandmill_edges), value :: x_edges, y_edges
      integer(c_int), value :: into, place, threads; integer(c_int) :: status
    end function
    function bandmill_apply_planes_f32(stencil, in, in_shape, out, out_shape, x_edges, y_edges, into, place, threads, &
      stream) bind(c) result(status)
      import; type(bandmill_stencil), intent(in) :: stencil; type(c_ptr), value :: in, out, stream
      type(bandmill_planes), value :: in_shape, out_shape; type(bandmill_edges), value :: x_edges, y_edges
      integer(c_int), value :: into, place, threads; integer(c_int) :: status
    end function
  end interface
end module bandmill_c
