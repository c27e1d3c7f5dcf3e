"""What the tests of the studies share: running them, and comparing what they wrote."""

import os
import pathlib
import subprocess
import time

import numpy as np
import pytest
import xarray

BIN = pathlib.Path(os.environ["BANDMILL_BIN"]) / "bandmill"
LONG = bool(os.environ.get("BANDMILL_TEST_LONG"))
ENVIRONMENT = {
    **os.environ,
    "OMP_WAIT_POLICY": "passive",  # tests run side by side
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    # Open MPI and HDF5 keep some memory to the end; the library's own tests look for leaks.
    "ASAN_OPTIONS": "detect_leaks=0",
}
# Builds with sanitizers step some sixty times slower.
SANITIZED = "BANDMILL_TEST_MAX_ELEMENTS" in os.environ
# A study that takes a moment.
SMALL = ["coarsen", "--members", "40", "--points", "64", "--until", "3", "--quiet"]


def start(folder, *arguments, ranks=0, **keywords):
    """The program, as a process under way."""
    launcher = ["mpirun", "-n", str(ranks)] if ranks else []
    keywords = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **keywords}
    return subprocess.Popen(
        [*launcher, BIN, *map(str, arguments)],
        cwd=folder,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        text=True,
        **keywords,
    )


def run(folder, *arguments, ranks=0):
    """The program to its end."""
    with start(folder, *arguments, ranks=ranks) as process:
        out, err = process.communicate(timeout=600)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def succeed(folder, *arguments, ranks=0):
    done = run(folder, *arguments, ranks=ranks)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done


def wait_for(path, process):
    while not path.exists() and process.poll() is None:
        time.sleep(0.005)


def interrupt(folder, command, act, appears="x.nc.partial", ranks=0):
    """Starts a study that writes x.nc and has act(process) done to it once a file has appeared; again, with less patience,
    where the study was faster. Returns its exit status and what it said."""
    for patience in 0.2, 0.1, 0.05, 0.02, 0:
        with start(folder, *command, ranks=ranks) as process:
            wait_for(folder / appears, process)
            time.sleep(patience)
            act(process)
            _, err = process.communicate(timeout=120)
        if process.returncode == 1 or not (folder / "x.nc").exists():
            return process.returncode, err
        for left in folder.iterdir():
            left.unlink()
    raise AssertionError("it was always done before it could be interrupted")


def send(number):
    return lambda process: process.send_signal(number)


def read(path):
    pytest.importorskip("netCDF4")  # xarray reads these files by it
    with xarray.open_dataset(path) as data:
        return data.load()


def assert_same_data(path, other):
    """Every variable to the last bit; what tells of the run itself may differ."""
    one, two = read(path), read(other)
    assert list(one.variables) == list(two.variables)
    for name in one.variables:
        assert one[name].dims == two[name].dims
        assert one[name].values.tobytes() == two[name].values.tobytes(), name
    for name in one.attrs:
        if name.startswith("fit_") or name == "lost_members":
            np.testing.assert_equal(one.attrs[name], two.attrs[name])


def assert_refused(done, *words):
    """Exit code 2, nothing on stdout, one line on stderr that names the culprit."""
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith("bandmill: ") and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr
