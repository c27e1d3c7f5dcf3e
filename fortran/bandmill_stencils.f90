! Stencils over arrays: bandmill_apply.
module bandmill_stencils
  use, intrinsic :: iso_c_binding
  use bandmill_c
  use bandmill_support
  implicit none
  private
  public :: bandmill_apply

  ! call bandmill_apply(weights, in, out, ...)
  !   weights(:):     along the systems of a batch, out(i, m) = sum over k of weights(k) in(i + k - 1 - before, m);
  !                   axis = 2 if the arrays are (systems, rows).
  !   weights(:, :):  in planes in(x, y) or in(x, y, plane), by weights(dx, dy), of which before(1) stand before the
  !                   point along x and before(2) along y; edges(1) are those along x.
  ! Without `before` the point is in the middle. Results replace what `out` holds, or are added to it (add = .true.).
  ! edges say what is found beyond the ends; without them, points that lack a neighbour are not written.
  interface bandmill_apply
    module procedure systems_f64, systems_f32, plane_f64, plane_f32, planes_f64, planes_f32
  end interface

  type :: plane_view
    type(c_ptr) :: data = c_null_ptr
    type(bandmill_planes) :: shape
    integer(c_int) :: precision = 0
    logical :: whole = .true. ! elements are a whole number of elements apart
  end type

contains

  integer(c_int) function into_of(add)
    logical, intent(in), optional :: add
    into_of = bandmill_replace
    if (present(add)) then
      if (add) into_of = bandmill_add
    end if
  end function

  ! Why weights of these sizes are no stencil, as far as the library would not see it.
  function trouble_of(sizes, before) result(trouble)
    integer, intent(in) :: sizes(:)
    integer, intent(in), optional :: before(:)
    character(120) :: trouble
    trouble = ''
    if (any(sizes == 0)) then
      trouble = 'a stencil has no weights: give one at least'
    else if (.not. present(before) .and. any(mod(sizes, 2) == 0)) then
      trouble = 'a stencil with an even number of weights has no point in the middle: say how many stand before it'
    end if
  end function

  subroutine apply_systems(weights, in, out, before, edges, add, threads, stat, errmsg)
    real(c_double), intent(in) :: weights(:)
    type(view), intent(in) :: in, out
    integer, intent(in), optional :: before, threads
    type(bandmill_edges), intent(in), optional :: edges
    logical, intent(in), optional :: add
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double), allocatable, target :: kept(:)
    type(bandmill_stencil) :: stencil
    type(bandmill_edges) :: ends
    character(120) :: trouble
    integer(c_int) :: status, how_many
    if (present(before)) then
      trouble = trouble_of([size(weights)], [before])
    else
      trouble = trouble_of([size(weights)])
    end if
    if (in%trouble /= '') trouble = in%trouble
    if (out%trouble /= '') trouble = out%trouble
    if (trouble /= '') then
      call settle_own(bandmill_invalid_argument, trim(trouble), stat, errmsg)
      return
    end if
    if (present(edges)) ends = edges
    kept = weights
    stencil = bandmill_stencil(1, size(weights), 0, choice(before, size(weights, kind=c_int) / 2_c_int), c_loc(kept))
    how_many = choice(threads, 0_c_int)
    if (in%precision == bandmill_f64) then
      status = bandmill_apply_f64(stencil, in%data, in%shape, out%data, out%shape, ends, into_of(add), bandmill_cpu, &
        how_many, c_null_ptr)
    else
      status = bandmill_apply_f32(stencil, in%data, in%shape, out%data, out%shape, ends, into_of(add), bandmill_cpu, &
        how_many, c_null_ptr)
    end if
    call settle(status, stat, errmsg)
  end subroutine

  subroutine apply_planes(weights, in, out, before, edges, add, threads, stat, errmsg)
    real(c_double), intent(in) :: weights(:, :)
    type(plane_view), intent(in) :: in, out
    integer, intent(in), optional :: before(2), threads
    type(bandmill_edges), intent(in), optional :: edges(2)
    logical, intent(in), optional :: add
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double), allocatable, target :: kept(:)
    type(bandmill_stencil) :: stencil
    type(bandmill_edges) :: ends(2)
    character(120) :: trouble
    integer(c_int) :: status, how_many
    integer :: middle(2)
    trouble = trouble_of(shape(weights), before)
    if (.not. (in%whole .and. out%whole)) &
      trouble = 'the elements of an array are not a whole number of elements apart: copy it to an array of its own'
    if (trouble /= '') then
      call settle_own(bandmill_invalid_argument, trim(trouble), stat, errmsg)
      return
    end if
    middle = shape(weights) / 2
    if (present(before)) middle = before
    if (present(edges)) ends = edges
    kept = reshape(weights, [size(weights)])
    stencil = bandmill_stencil(size(weights, 2), size(weights, 1), middle(2), middle(1), c_loc(kept))
    how_many = choice(threads, 0_c_int)
    if (in%precision == bandmill_f64) then
      status = bandmill_apply_planes_f64(stencil, in%data, in%shape, out%data, out%shape, ends(1), ends(2), &
        into_of(add), bandmill_cpu, how_many, c_null_ptr)
    else
      status = bandmill_apply_planes_f32(stencil, in%data, in%shape, out%data, out%shape, ends(1), ends(2), &
        into_of(add), bandmill_cpu, how_many, c_null_ptr)
    end if
    call settle(status, stat, errmsg)
  end subroutine

  function make_plane_view(first, sizes, steps, precision) result(made)
    type(c_ptr), intent(in) :: first
    integer(c_int64_t), intent(in) :: sizes(3), steps(3)
    integer(c_int), intent(in) :: precision
    type(plane_view) :: made
    integer(c_int64_t) :: strides(3)
    strides = steps / (precision / 8)
    made%data = first
    made%shape = bandmill_planes(sizes(2), sizes(1), sizes(3), strides(2), strides(1), strides(3))
    made%precision = precision
    made%whole = all(mod(steps, int(precision / 8, c_int64_t)) == 0)
  end function

  function view_planes_f64(a) result(made)
    real(c_double), intent(in), target :: a(:, :, :)
    type(plane_view) :: made
    integer(c_int64_t) :: steps(3)
    type(c_ptr) :: first
    first = c_null_ptr
    steps = 0
    if (size(a, kind=c_int64_t) > 0) then
      first = c_loc(a(1, 1, 1))
      if (size(a, 1, c_int64_t) > 1) steps(1) = distance(first, c_loc(a(2, 1, 1)))
      if (size(a, 2, c_int64_t) > 1) steps(2) = distance(first, c_loc(a(1, 2, 1)))
      if (size(a, 3, c_int64_t) > 1) steps(3) = distance(first, c_loc(a(1, 1, 2)))
    end if
    made = make_plane_view(first, shape(a, c_int64_t), steps, bandmill_f64)
  end function

  function view_plane_f64(a) result(made)
    real(c_double), intent(in), target :: a(:, :)
    type(plane_view) :: made
    type(view) :: rows
    rows = view_of(a)
    made%data = rows%data
    made%shape = bandmill_planes(rows%shape%batch, rows%shape%rows, 1, rows%shape%batch_stride, &
      rows%shape%row_stride, 0)
    made%precision = rows%precision
    made%whole = rows%trouble == ''
  end function

  function view_planes_f32(a) result(made)
    real(c_float), intent(in), target :: a(:, :, :)
    type(plane_view) :: made
    integer(c_int64_t) :: steps(3)
    type(c_ptr) :: first
    first = c_null_ptr
    steps = 0
    if (size(a, kind=c_int64_t) > 0) then
      first = c_loc(a(1, 1, 1))
      if (size(a, 1, c_int64_t) > 1) steps(1) = distance(first, c_loc(a(2, 1, 1)))
      if (size(a, 2, c_int64_t) > 1) steps(2) = distance(first, c_loc(a(1, 2, 1)))
      if (size(a, 3, c_int64_t) > 1) steps(3) = distance(first, c_loc(a(1, 1, 2)))
    end if
    made = make_plane_view(first, shape(a, c_int64_t), steps, bandmill_f32)
  end function

  function view_plane_f32(a) result(made)
    real(c_float), intent(in), target :: a(:, :)
    type(plane_view) :: made
    type(view) :: rows
    rows = view_of(a)
    made%data = rows%data
    made%shape = bandmill_planes(rows%shape%batch, rows%shape%rows, 1, rows%shape%batch_stride, &
      rows%shape%row_stride, 0)
    made%precision = rows%precision
    made%whole = rows%trouble == ''
  end function

  subroutine systems_f64(weights, in, out, axis, before, edges, add, threads, stat, errmsg)
    real(c_double), intent(in) :: weights(:)
    real(c_double), intent(in), target :: in(:, :)
    real(c_double), intent(inout), target :: out(:, :)
    integer, intent(in), optional :: axis, before, threads
    type(bandmill_edges), intent(in), optional :: edges
    logical, intent(in), optional :: add
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call apply_systems(weights, view_of(in, axis), view_of(out, axis), before, edges, add, threads, stat, errmsg)
  end subroutine

  subroutine plane_f64(weights, in, out, before, edges, add, threads, stat, errmsg)
    real(c_double), intent(in) :: weights(:, :)
    real(c_double), intent(in), target :: in(:, :)
    real(c_double), intent(inout), target :: out(:, :)
    integer, intent(in), optional :: before(2), threads
    type(bandmill_edges), intent(in), optional :: edges(2)
    logical, intent(in), optional :: add
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call apply_planes(weights, view_plane_f64(in), view_plane_f64(out), before, edges, add, threads, stat, errmsg)
  end subroutine

  subroutine planes_f64(weights, in, out, before, edges, add, threads, stat, errmsg)
    real(c_double), intent(in) :: weights(:, :)
    real(c_double), intent(in), target :: in(:, :, :)
    real(c_double), intent(inout), target :: out(:, :, :)
    integer, intent(in), optional :: before(2), threads
    type(bandmill_edges), intent(in), optional :: edges(2)
    logical, intent(in), optional :: add
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call apply_planes(weights, view_planes_f64(in), view_planes_f64(out), before, edges, add, threads, stat, errmsg)
  end subroutine

  subroutine systems_f32(weights, in, out, axis, before, edges, add, threads, stat, errmsg)
    real(c_double), intent(in) :: weights(:)
    real(c_float), intent(in), target :: in(:, :)
    real(c_float), intent(inout), target :: out(:, :)
    integer, intent(in), optional :: axis, before, threads
    type(bandmill_edges), intent(in), optional :: edges
    logical, intent(in), optional :: add
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call apply_systems(weights, view_of(in, axis), view_of(out, axis), before, edges, add, threads, stat, errmsg)
  end subroutine

  subroutine plane_f32(weights, in, out, before, edges, add, threads, stat, errmsg)
    real(c_double), intent(in) :: weights(:, :)
    real(c_float), intent(in), target :: in(:, :)
    real(c_float), intent(inout), target :: out(:, :)
    integer, intent(in), optional :: before(2), threads
    type(bandmill_edges), intent(in), optional :: edges(2)
    logical, intent(in), optional :: add
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call apply_planes(weights, view_plane_f32(in), view_plane_f32(out), before, edges, add, threads, stat, errmsg)
  end subroutine

  subroutine planes_f32(weights, in, out, before, edges, add, threads, stat, errmsg)
    real(c_double), intent(in) :: weights(:, :)
    real(c_float), intent(in), target :: in(:, :, :)
    real(c_float), intent(inout), target :: out(:, :, :)
    integer, intent(in), optional :: before(2), threads
    type(bandmill_edges), intent(in), optional :: edges(2)
    logical, intent(in), optional :: add
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call apply_planes(weights, view_planes_f32(in), view_planes_f32(out), before, edges, add, threads, stat, errmsg)
  end subroutine
end module bandmill_stencils
