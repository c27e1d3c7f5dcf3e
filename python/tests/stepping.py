"""Steps by dense matrices, from the formulas of docs/ensembles.md: an oracle that shares no code with the package."""

import numpy as np

ENDS = ("periodic", "neumann", "dirichlet")


def second_difference(field, dx, ends, value=0.0):
    """D2 of the last axis. Beyond an end: wrapped, even, or odd about `value`."""
    first, last = field[..., :1], field[..., -1:]
    if ends == "periodic":
        before, after = last, first
    elif ends == "neumann":
        before, after = first, last
    else:
        before, after = 2 * value - first, 2 * value - last
    wide = np.concatenate([before, field, after], axis=-1)
    return (wide[..., :-2] - 2 * wide[..., 1:-1] + wide[..., 2:]) / dx**2


def second_difference_matrix(points, dx, ends):
    return second_difference(np.eye(points), dx, ends).T


class Stepper:
    """name: of the equation; parameters: its fields, in their order, and the forcing's amplitude at the end."""

    def __init__(self, name, parameters, points, length, ends, value, time_step):
        self.name, self.parameters, self.ends, self.value = name, parameters, ends, value
        self.dx, self.time_step = length / points, time_step
        self.x = (np.arange(points) + (0.0 if ends == "periodic" else 0.5)) * self.dx
        d2 = second_difference_matrix(points, self.dx, ends)
        if name == "diffusion":
            implicit = 0.5 * parameters[0] * d2
        elif name == "hyperdiffusion":
            implicit = -0.5 * parameters[0] * d2 @ d2
        else:
            implicit = -parameters[0] * d2 @ d2
        self.inverse = np.linalg.inv(np.eye(points) - time_step * implicit)

    def rate(self, c):
        curvature = second_difference(c, self.dx, self.ends, self.value)
        if self.name == "diffusion":
            return self.parameters[0] * curvature
        if self.name == "hyperdiffusion":
            return -self.parameters[0] * second_difference(curvature, self.dx, self.ends)
        potential = c**3 - c - self.parameters[0] * curvature
        rate = second_difference(potential, self.dx, self.ends)
        if self.name == "forced-cahn-hilliard":  # at speed 0
            _, k, amplitude = self.parameters
            rate = rate + np.reshape(amplitude, (-1, 1)) * k * np.cos(k * self.x)
        return rate

    def advance(self, c, steps):
        for _ in range(steps):
            c = c + self.time_step * self.rate(c) @ self.inverse.T
        return c
