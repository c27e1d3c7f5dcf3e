! Matrices of their own, and a stencil, from Fortran: u_t = k u_xx on a periodic grid by Crank-Nicolson, with another k
! for every run. A wave sin(x) must fade by the scheme's own factor in every step.
!     diffusivities_fortran
program diffusivities
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use, intrinsic :: iso_fortran_env, only: real64
  use bandmill
  implicit none
  integer, parameter :: n = 128, runs = 500, steps = 100
  real(real64), parameter :: dx = 8 * atan(1.0_real64) / n, dt = 0.01_real64
  type(bandmill_edges), parameter :: around = bandmill_edges(bandmill_edges_periodic)
  real(real64), dimension(runs, n) :: u, difference, off, diagonal ! (run, point): runs stand side by side
  real(real64) :: wave(n), half, fading, worst
  type(bandmill_batch_factor) :: factor
  integer :: i, m, step

  ! Run m has k = m / runs, so the matrix 1 - r/2 D2 with r = k dt / dx^2.
  wave = sin([(i * dx, i=0, n - 1)])
  do m = 1, runs
    off(m, :) = -0.5_real64 * m / runs * dt / dx**2
    u(m, :) = wave
  end do
  diagonal = 1 - 2 * off
  call factor%tridiagonal(off, diagonal, off, axis=2, periodic=.true.)

  do step = 1, steps
    call bandmill_apply([1.0_real64, -2.0_real64, 1.0_real64], u, difference, axis=2, edges=around)
    u = u - off * difference
    call factor%solve(u, axis=2)
  end do

  worst = 0
  do m = 1, runs
    half = -2 * off(m, 1) * (1 - cos(dx)) ! r/2 times the second difference of sin(x)
    fading = ((1 - half) / (1 + half))**steps
    worst = max(worst, maxval(abs(u(m, :) - fading * wave)))
  end do
  print '(i0, a, i0, a, f8.6, a, f8.6, a, es8.1)', runs, ' runs, ', steps, ' steps: the fastest fades to ', &
    u(runs, n / 4 + 1), ' (exactly ', exp(-dt * steps), '); largest error against the scheme ', worst
  if (worst > 1e-12_real64 .or. any(ieee_is_nan(u))) error stop 'wrong result'
end program diffusivities
