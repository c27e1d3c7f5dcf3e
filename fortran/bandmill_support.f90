! What the other modules share: Fortran arrays as the C interface sees them, and how a status becomes an error.
module bandmill_support
  use, intrinsic :: iso_c_binding
  use bandmill_c
  implicit none
  private
  public :: view, view_of, settle, settle_own, text_of, boundary_of, choice, distance, found, holding, take, let_go, replace

  ! Memory of a Fortran array, of any strides: nothing is copied.
  type :: view
    type(c_ptr) :: data = c_null_ptr
    type(bandmill_shape) :: shape
    integer(c_int) :: precision = 0
    character(120) :: trouble = '' ! why it cannot be used
  end type

  ! A factor by its number, and the place where its user was counted: compilers copy variables without saying so, through
  ! temporaries too, and finalise such copies or do not. Only the variable at that place lets it go. So what is copied can
  ! outlive its factor, which is noticed, but takes it from nobody.
  type :: holding
    integer(c_int64_t) :: number = 0
    integer(c_intptr_t) :: home = 0
  end type

  ! view_of(a, axis): the systems run along this axis of a.
  interface view_of
    module procedure view_f64_1, view_f64_2, view_f32_1, view_f32_2
  end interface

contains

  function text_of(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: length
    call c_f_pointer(pointer, letters, [4096])
    length = 0
    do while (letters(length + 1) /= c_null_char)
      length = length + 1
    end do
    allocate (character(length) :: text)
    text = transfer(letters(:length), text)
  end function

  ! As for allocate(): without stat a failure ends the program; errmsg is cut or padded, and left alone if all is well.
  subroutine settle(status, stat, errmsg)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (present(stat)) stat = int(status)
    if (status == bandmill_ok) return
    if (present(errmsg)) errmsg = text_of(bandmill_last_error())
    if (.not. present(stat)) error stop 'bandmill: '//text_of(bandmill_last_error())
  end subroutine

  ! A failure that the library does not know of yet.
  subroutine settle_own(status, text, stat, errmsg)
    integer(c_int), intent(in) :: status
    character(*), intent(in) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call settle(bandmill_set_last_error(status, text//c_null_char), stat, errmsg)
  end subroutine

  ! Is there a factor behind a number? If not, that is the error.
  logical function found(number, factor, stat, errmsg)
    integer(c_int64_t), intent(in) :: number
    type(c_ptr), intent(out) :: factor
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    factor = bandmill_numbered(number)
    found = c_associated(factor)
    if (found) return
    if (number == 0) then
      call settle_own(bandmill_invalid_argument, 'there is no factor in this variable (no matrix was given to it, or '// &
        'the last one could not be factored): give it one first, by tridiagonal for instance', stat, errmsg)
    else
      call settle_own(bandmill_invalid_argument, 'the factor of this variable was released with the variable that it '// &
        'was copied from (only an assignment of one factor shares it for certain, not one of arrays or of what has it '// &
        'as a component, nor sourced allocation or constructors): assign the factor, or keep the other variable', stat, errmsg)
    end if
  end function

  integer(c_intptr_t) function place_of(held)
    type(holding), intent(in), target :: held
    place_of = transfer(c_loc(held%number), place_of)
  end function

  ! A number with one user: this one.
  subroutine take(held, number)
    type(holding), intent(inout) :: held
    integer(c_int64_t), intent(in) :: number
    held%number = number
    held%home = place_of(held)
  end subroutine

  subroutine let_go(held)
    type(holding), intent(inout) :: held
    if (held%home == place_of(held)) call bandmill_number_release(held%number)
    held = holding()
  end subroutine

  ! In place of what is held.
  subroutine replace(held, number)
    type(holding), intent(inout) :: held
    integer(c_int64_t), intent(in) :: number
    call let_go(held)
    call take(held, number)
  end subroutine

  integer(c_int) function boundary_of(periodic)
    logical, intent(in), optional :: periodic
    boundary_of = bandmill_open
    if (present(periodic)) then
      if (periodic) boundary_of = bandmill_periodic
    end if
  end function

  ! What was given, or else the default.
  integer(c_int) function choice(given, default)
    integer, intent(in), optional :: given
    integer(c_int), intent(in) :: default
    choice = default
    if (present(given)) choice = int(given, c_int)
  end function

  integer(c_int64_t) function distance(from, to)
    type(c_ptr), intent(in) :: from, to
    distance = int(transfer(to, 0_c_intptr_t) - transfer(from, 0_c_intptr_t), c_int64_t)
  end function

  ! `first` is the array's first element, `steps` the bytes to the next one along each axis.
  function make_view(first, sizes, steps, axis, precision) result(made)
    type(c_ptr), intent(in) :: first
    integer(c_int64_t), intent(in) :: sizes(2), steps(2)
    integer, intent(in), optional :: axis
    integer(c_int), intent(in) :: precision
    type(view) :: made
    integer(c_int64_t) :: strides(2), element
    integer :: along
    along = int(choice(axis, 1_c_int))
    element = precision / 8
    made%precision = precision
    made%data = first
    if (along /= 1 .and. along /= 2) then
      made%trouble = 'axis is neither 1 nor 2: say along which index of the array a system runs'
      return
    end if
    if (any(mod(steps, element) /= 0)) then
      made%trouble = 'the elements of an array are not a whole number of elements apart: copy it to an array of its own'
      return
    end if
    strides = steps / element
    made%shape = bandmill_shape(sizes(along), sizes(3 - along), strides(along), strides(3 - along), 0, 0)
  end function

  function view_f64_2(a, axis) result(made)
    real(c_double), intent(in), target :: a(:, :)
    integer, intent(in), optional :: axis
    type(view) :: made
    integer(c_int64_t) :: steps(2)
    type(c_ptr) :: first
    first = c_null_ptr
    steps = 0
    if (size(a, kind=c_int64_t) > 0) then
      first = c_loc(a(1, 1))
      if (size(a, 1, c_int64_t) > 1) steps(1) = distance(first, c_loc(a(2, 1)))
      if (size(a, 2, c_int64_t) > 1) steps(2) = distance(first, c_loc(a(1, 2)))
    end if
    made = make_view(first, shape(a, c_int64_t), steps, axis, bandmill_f64)
  end function

  function view_f32_2(a, axis) result(made)
    real(c_float), intent(in), target :: a(:, :)
    integer, intent(in), optional :: axis
    type(view) :: made
    integer(c_int64_t) :: steps(2)
    type(c_ptr) :: first
    first = c_null_ptr
    steps = 0
    if (size(a, kind=c_int64_t) > 0) then
      first = c_loc(a(1, 1))
      if (size(a, 1, c_int64_t) > 1) steps(1) = distance(first, c_loc(a(2, 1)))
      if (size(a, 2, c_int64_t) > 1) steps(2) = distance(first, c_loc(a(1, 2)))
    end if
    made = make_view(first, shape(a, c_int64_t), steps, axis, bandmill_f32)
  end function

  ! One system.
  function view_f64_1(a) result(made)
    real(c_double), intent(in), target :: a(:)
    type(view) :: made
    integer(c_int64_t) :: steps(2)
    type(c_ptr) :: first
    first = c_null_ptr
    steps = 0
    if (size(a, kind=c_int64_t) > 0) first = c_loc(a(1))
    if (size(a, kind=c_int64_t) > 1) steps(1) = distance(first, c_loc(a(2)))
    made = make_view(first, [size(a, kind=c_int64_t), 1_c_int64_t], steps, 1, bandmill_f64)
  end function

  function view_f32_1(a) result(made)
    real(c_float), intent(in), target :: a(:)
    type(view) :: made
    integer(c_int64_t) :: steps(2)
    type(c_ptr) :: first
    first = c_null_ptr
    steps = 0
    if (size(a, kind=c_int64_t) > 0) first = c_loc(a(1))
    if (size(a, kind=c_int64_t) > 1) steps(1) = distance(first, c_loc(a(2)))
    made = make_view(first, [size(a, kind=c_int64_t), 1_c_int64_t], steps, 1, bandmill_f32)
  end function
end module bandmill_support
