"""What the tests of bandmill map have in common."""

import numpy as np

from studies import assert_same_data as assert_same_variables
from studies import read, succeed

USUAL = {"--grid": "8x6", "--points": "32", "--until": "3"}
FEATURES = (
    "rate early_rate late_rate motion gradient forced_share range lowest highest largest interfaces free_energy mean_drift"
).split()
FOUND = ("speckle kmeans_speckle limit_motion_log10 limit_depth limit_harmonics_log10 unsettled_cells repeated_cells "
         "refined_runs").split()


def small(*arguments):
    """A command that takes no time, but for what is given."""
    usual = [word for option in USUAL.items() if option[0] not in arguments for word in option]
    return ["map", *usual, *arguments]


def make(folder, *arguments, out="map.nc", ranks=0):
    succeed(folder, *small(*arguments), "--quiet", "--out", out, ranks=ranks)
    return read(folder / out)


def assert_same_data(path, other):
    """Variables to the last bit, and what was found of all of them."""
    assert_same_variables(path, other)
    one, two = read(path).attrs, read(other).attrs
    for name in FOUND:
        np.testing.assert_equal(one[name], two[name])
