! bandmill in Fortran 2018: batches of tridiagonal and pentadiagonal systems. docs/fortran.md shows how it is used.
!
! Every procedure that can fail takes stat= and errmsg=. Without stat= a failure ends the program with the library's
! text (error stop). Texts count rows from 0, as C does; bandmill_error_row() counts from 1.
module bandmill
  use bandmill_c, only: bandmill_ok, bandmill_invalid_argument, bandmill_invalid_matrix, bandmill_singular_matrix, &
    bandmill_backend_unavailable, bandmill_device_error, bandmill_out_of_memory, bandmill_internal_error, &
    bandmill_cpu, bandmill_f32, bandmill_f64, bandmill_open, bandmill_periodic, &
    bandmill_path_partitioned, bandmill_path_sequential, bandmill_path_pivoted, bandmill_report, &
    bandmill_batch_report, bandmill_shape, bandmill_interleaved, bandmill_contiguous, bandmill_tiled, &
    bandmill_strided, &
    bandmill_device_count, bandmill_allocate, bandmill_release, bandmill_copy_to, bandmill_copy_from, &
    bandmill_synchronize, bandmill_edges, bandmill_edges_leave, bandmill_edges_periodic, bandmill_edges_constant, &
    bandmill_edges_even, bandmill_edges_odd, bandmill_edges_even_at_point, bandmill_edges_odd_at_point
  use bandmill_c, only: bandmill_c_cuda_built, bandmill_last_error, bandmill_last_error_row, bandmill_c_status_name, &
    bandmill_c_version
  use bandmill_own, only: bandmill_batch_factor, bandmill_solve_once
  use bandmill_solver, only: bandmill_factor
  use bandmill_stencils, only: bandmill_apply
  use bandmill_support, only: text_of
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
  implicit none
  private :: bandmill_c_cuda_built, bandmill_last_error, bandmill_last_error_row, bandmill_c_status_name, &
    bandmill_c_version, text_of, c_int, c_int64_t

contains

  ! "0.1.0"
  function bandmill_version() result(text)
    character(:), allocatable :: text
    text = text_of(bandmill_c_version())
  end function

  logical function bandmill_cuda_built()
    bandmill_cuda_built = bandmill_c_cuda_built() /= 0
  end function

  ! "singular matrix" for bandmill_singular_matrix, and so on.
  function bandmill_status_name(status) result(text)
    integer, intent(in) :: status
    character(:), allocatable :: text
    text = text_of(bandmill_c_status_name(int(status, c_int)))
  end function

  ! What the last failure of the library on this thread said.
  function bandmill_error() result(text)
    character(:), allocatable :: text
    text = text_of(bandmill_last_error())
  end function

  ! The row of the matrix that the last failure was about, counted from 1, for an invalid or a singular matrix; else 0.
  integer(c_int64_t) function bandmill_error_row()
    bandmill_error_row = bandmill_last_error_row() + 1
  end function
end module bandmill
