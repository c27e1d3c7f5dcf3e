"""The study commands, run as a user runs them: what they write and what they print."""

import json
import os
import pty
import re
import stat
import subprocess

import numpy as np
import pytest
import xarray

import studies
from studies import SMALL, assert_same_data, read, run, succeed


@pytest.mark.parametrize("command", ["coarsen", "simulate", "converge", "resume"])
def test_help_is_enough_to_work_from(tmp_path, command):
    done = succeed(tmp_path, command, "--help")
    assert done.stderr == "" and "Examples:" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 120
    if command == "resume":
        return
    for option in "backend gpu threads precision out force-overwrite config print-config json quiet dry-run".split():
        assert f"--{option} " in done.stdout


def test_examples_of_the_help_are_accepted(tmp_path):
    for command in ["coarsen", "simulate", "converge"]:
        for line in succeed(tmp_path, command, "--help").stdout.splitlines():
            words = line.split()
            if words[:1] == ["bandmill"] and "cuda" not in words:
                succeed(tmp_path, *words[1:], "--print-config")


# --- coarsen


def test_coarsen_writes_what_it_promises(tmp_path):
    succeed(tmp_path, *SMALL)
    assert sorted(os.listdir(tmp_path)) == ["coarsen.nc"]
    data = read(tmp_path / "coarsen.nc")
    assert {"time", "domain_size_mean", "domain_size_stderr", "member_count"} <= set(data.variables)
    assert data.domain_size_mean.dims == ("time",)
    dt = 0.1 * 2 * np.pi / 64
    np.testing.assert_allclose(data.time, dt * np.arange(len(data.time)), rtol=1e-14)
    assert data.time[-1] >= 3 > data.time[-2]
    assert (data.member_count == 40).all() and (data.left_out == 0).all()
    # l = 1 / (1 - <C^2>) starts just above 1: <C^2> = 0.1^2 / 3
    assert float(data.domain_size_mean[0]) == pytest.approx(1 / (1 - 0.01 / 3), abs=1e-3)
    assert float(data.domain_size_mean[-1]) > 1.5
    for histogram in data.interface_histogram, data.domain_size_histogram:
        assert (histogram.sum(dim=histogram.dims[1]) == 40).all()
    assert (data.interface_histogram[:, 1::2] == 0).all()  # a ring has an even number
    for name in data.variables:
        assert data[name].attrs["long_name"] and data[name].attrs["units"]


def test_statistics_are_those_of_the_fields(tmp_path):
    """The same members by simulate: the mean and its error, worked out here."""
    common = ["--members", "12", "--points", "32", "--until", "2", "--seed", "7", "--quiet"]
    succeed(tmp_path, "coarsen", *common)
    succeed(tmp_path, "simulate", *common, "--save-every", "0")
    fields, means = read(tmp_path / "simulate.nc"), read(tmp_path / "coarsen.nc")
    sizes = 1 / (1 - (fields.C**2).mean("x"))
    np.testing.assert_array_equal(fields.time, means.time)
    np.testing.assert_allclose(means.domain_size_mean, sizes.mean("member"), rtol=1e-12)
    np.testing.assert_allclose(
        means.domain_size_stderr[1:], (sizes.std("member", ddof=1) / np.sqrt(12))[1:], rtol=1e-6
    )
    at_2 = fields.sel(time=float(means.histogram_time[-1]), method="nearest").C
    interfaces = ((at_2 < 0) != (at_2.roll(x=1) < 0)).sum("x")
    counts = np.bincount(interfaces, minlength=means.sizes["interfaces"])
    np.testing.assert_array_equal(means.interface_histogram[-1], counts)


def test_fit_is_least_squares_with_errors_from_groups(tmp_path):
    succeed(tmp_path, *SMALL, "--fit", "0.5:3", "--samples", "log:60")
    data = read(tmp_path / "coarsen.nc")
    inside = data.where((data.time >= 0.5) & (data.time <= data.attrs["fit_to"] + 1e-9), drop=True)
    assert float(inside.time[-1]) == float(data.time[-1])  # the last step, which may lie a little after the end
    slope, intercept = np.polyfit(np.log(inside.time), inside.domain_size_mean, 1)
    assert data.attrs["fit_slope"] == pytest.approx(slope, rel=1e-9)
    assert data.attrs["fit_intercept"] == pytest.approx(intercept, rel=1e-9)
    r = np.corrcoef(np.log(inside.time), inside.domain_size_mean)[0, 1]
    assert data.attrs["fit_correlation"] == pytest.approx(r, rel=1e-9)
    assert 0 < data.attrs["fit_slope_error95"] < 1


def test_provenance(tmp_path):
    succeed(tmp_path, *SMALL, "--seed", "5", "--threads", "1")
    attributes = read(tmp_path / "coarsen.nc").attrs
    for name in "version commit backend device started finished options".split():
        assert attributes[name].strip()
    assert attributes["threads"] == 1 and attributes["ranks"] == 1
    assert attributes["seed"] == 5 and attributes["points"] == 64 and attributes["gamma"] == 0.01
    assert attributes["time_step"] == 0.1 * (2 * np.pi / 64)
    assert re.search(r"^dt = 0\.0098", attributes["options"], re.MULTILINE)  # what was left to the program, too
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", attributes["finished"])
    assert attributes["started"] <= attributes["finished"]
    # The options that are stored give the same data again.
    (tmp_path / "again.conf").write_text(attributes["options"])
    succeed(tmp_path, "coarsen", "--config", "again.conf", "--out", "again.nc")
    assert_same_data(tmp_path / "coarsen.nc", tmp_path / "again.nc")


def test_same_bits_for_any_threads_but_not_for_another_seed(tmp_path):
    for threads in 1, 2:
        succeed(tmp_path, *SMALL, "--threads", threads, "--out", f"{threads}.nc")
    succeed(tmp_path, *SMALL, "--seed", "2", "--out", "other.nc")
    assert_same_data(tmp_path / "1.nc", tmp_path / "2.nc")
    one, other = read(tmp_path / "1.nc"), read(tmp_path / "other.nc")
    assert not one.domain_size_mean.equals(other.domain_size_mean)


def test_summary(tmp_path):
    arguments = [word for word in SMALL if word != "--quiet"]
    done = succeed(tmp_path, *arguments)
    assert "log t" in done.stdout and "written to coarsen.nc" in done.stdout
    summary = json.loads(succeed(tmp_path, *arguments, "--json", "-", "--out", "b.nc").stdout)
    assert summary["fit"]["slope"] == pytest.approx(read(tmp_path / "b.nc").attrs["fit_slope"], rel=1e-12)
    succeed(tmp_path, *SMALL, "--json", "s.json", "--out", "c.nc")
    stored = json.loads((tmp_path / "s.json").read_text())
    assert stored["samples"][-1]["member_count"] == 40 and stored["mean"] == 0
    succeed(tmp_path, *SMALL, "--mean", "0.25", "--json", "m.json", "--out", "d.nc")
    assert json.loads((tmp_path / "m.json").read_text())["mean"] == 0.25


def test_quiet_is_silent(tmp_path):
    done = succeed(tmp_path, *SMALL)
    assert done.stdout == "" and done.stderr == ""


def test_sizes_may_be_written_in_three_ways(tmp_path):
    for text in "100", "1e2", "10^2":
        succeed(tmp_path, *SMALL[:1], "--members", text, *SMALL[3:], "--out", f"{text}.nc")
        assert (read(tmp_path / f"{text}.nc").member_count == 100).all()


def test_without_histograms_and_with_few_members(tmp_path):
    succeed(tmp_path, "coarsen", "--members", "1", "--points", "32", "--until", "1", "--histogram-times", "none", "--quiet")
    data = read(tmp_path / "coarsen.nc")
    assert "interfaces" not in data.dims
    assert np.isnan(data.domain_size_stderr).all() and data.attrs["fit_groups"] == 1 and np.isnan(data.attrs["fit_slope_error95"])


def test_a_step_that_is_too_long_is_warned_of_and_ends_in_an_error(tmp_path):
    arguments = ["coarsen", "--members", "4", "--points", "64", "--until", "200", "--dt", "5"]
    done = run(tmp_path, *arguments)
    assert done.returncode == 1
    assert "warning: the time step" in done.stderr and "no member is finite" in done.stderr
    assert os.listdir(tmp_path) == []


# --- simulate, converge


def test_simulate_writes_fields(tmp_path):
    succeed(tmp_path, "simulate", "--members", "3", "--points", "20", "--until", "1", "--save-every", "0.25", "--quiet")
    data = read(tmp_path / "simulate.nc")
    assert data.C.dims == ("time", "member", "x") and data.C.shape == (5, 3, 20)
    assert np.isfinite(data.C).all()
    np.testing.assert_allclose(data.x, 2 * np.pi / 20 * np.arange(20))
    np.testing.assert_array_equal(data.member, np.arange(3))
    dt = 0.1 * 2 * np.pi / 20
    for wanted, true in zip([0, 0.25, 0.5, 0.75, 1], data.time.values):
        assert wanted <= true < wanted + dt
    np.testing.assert_allclose(data.C.mean("x").std("time"), 0, atol=1e-13)  # conserved


@pytest.mark.parametrize("ends", ["periodic", "neumann", "dirichlet"])
def test_simulate_diffusion_decays_as_it_must(tmp_path, ends):
    arguments = ["--equation", "diffusion", "--initial", "cosine", "--amplitude", "1", "--mode", "2", "--points", "200"]
    if ends == "dirichlet":
        arguments[3:8] = ["constant", "--mean", "1"]
    succeed(tmp_path, "simulate", *arguments, "--ends", ends, "--until", "0.5", "--save-every", "0.5", "--quiet")
    data = read(tmp_path / "simulate.nc")
    if ends == "dirichlet":  # C = 0 at the ends draws everything down
        assert 0 < float(data.C[-1].max()) < 1
        assert float(data.C[-1, 0, 0]) < 0.05
        return
    decayed = np.exp(-4 * float(data.time[-1]))
    np.testing.assert_allclose(data.C[-1, 0], data.C[0, 0] * decayed, atol=2e-4)


def test_simulate_spreads_parameters(tmp_path):
    succeed(tmp_path, "simulate", "--equation", "forced-cahn-hilliard", "--forcing", "0:1", "--mean", "-0.5:0.5",
            "--members", "5", "--points", "32", "--until", "0.1", "--save-every", "0.1", "--exact-mean", "--quiet",
            "--precision", "f32")  # fmt: skip
    data = read(tmp_path / "simulate.nc")
    assert data.C.dtype == np.float32
    np.testing.assert_allclose(data.C[0].mean("x"), [-0.5, -0.25, 0, 0.25, 0.5], atol=1e-6)
    np.testing.assert_allclose(data.initial_mean, [-0.5, -0.25, 0, 0.25, 0.5])
    np.testing.assert_allclose(data.forcing, [0, 0.25, 0.5, 0.75, 1])
    succeed(tmp_path, "simulate", "--equation", "forced-cahn-hilliard", "--forcing", "1", "--mean", "0.5", "--seed", "1",
            "--members", "5", "--points", "32", "--until", "0.1", "--save-every", "0.1", "--exact-mean", "--quiet",
            "--precision", "f32", "--out", "one.nc")  # fmt: skip
    np.testing.assert_array_equal(read(tmp_path / "one.nc").C[:, 4], data.C[:, 4])


def test_converge_gives_the_papers_table(tmp_path):
    done = succeed(tmp_path, "converge", "--points", "128:1024", "--json", "t.json", "--out", "t.nc")
    assert "2.0376" in done.stdout
    rows = json.loads((tmp_path / "t.json").read_text())["rows"]
    for row, expected in zip(rows, [3.1018e-2, 2.2375e-3, 5.4499e-4, 1.3541e-4]):
        assert row["difference"] == pytest.approx(expected, rel=1e-3)
    np.testing.assert_allclose(read(tmp_path / "t.nc").difference, [row["difference"] for row in rows], rtol=1e-14)
    forced = succeed(tmp_path, "converge", "--equation", "forced-cahn-hilliard", "--points", "256:512", "--json", "-")
    for row, expected in zip(json.loads(forced.stdout)["rows"], [6.790e-4, 1.744e-4]):
        assert row["difference"] == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize("equation", ["diffusion", "hyperdiffusion"])
@pytest.mark.parametrize("until", ["1", "1.005", "3"])
def test_converge_is_second_order_at_any_time(tmp_path, equation, until):
    done = succeed(tmp_path, "converge", "--equation", equation, "--points", "32:256", "--until", until, "--json", "-")
    rows = json.loads(done.stdout)["rows"]
    assert len({row["steps"] / row["points"] for row in rows}) == 1  # the same final time
    for row in rows[1:]:
        assert row["order"] == pytest.approx(2, abs=0.05)


CONSTANTS = {
    "cahn-hilliard": {"gamma = 0.01"},
    "forced-cahn-hilliard": {"gamma = 0.01", "wavenumber = 1", "speed = 0.5", "forcing = 1"},
    "diffusion": {"diffusivity = 1"},
    "hyperdiffusion": {"diffusivity = 1"},
}


@pytest.mark.parametrize("equation", ["forced-cahn-hilliard", "diffusion", "hyperdiffusion"])
def test_converge_has_defaults_that_make_sense(tmp_path, equation):
    summary = json.loads(succeed(tmp_path, "converge", "--equation", equation, "--json", "-").stdout)
    assert summary["rows"][-1]["order"] == pytest.approx(2, abs=0.1)
    assert CONSTANTS[equation] <= set(summary["options"].splitlines())


@pytest.mark.parametrize("equation", ["cahn-hilliard", "forced-cahn-hilliard", "diffusion", "hyperdiffusion"])
def test_the_file_has_the_constants_that_were_left_out(tmp_path, equation):
    arguments = ["--equation", equation, "--ends", "periodic" if "forced" in equation else "dirichlet"]
    succeed(tmp_path, "simulate", *arguments, "--points", "32", "--until", "0.01", "--out", "x.nc")
    stored = read(tmp_path / "x.nc").attrs["options"]
    wanted = CONSTANTS[equation] | (set() if "forced" in equation else {"end-value = 0"})
    assert wanted <= set(stored.splitlines())
    (tmp_path / "again.conf").write_text(stored)
    succeed(tmp_path, "simulate", "--config", "again.conf", "--out", "again.nc")
    assert_same_data(tmp_path / "x.nc", tmp_path / "again.nc")


def test_converge_names_the_grid_that_failed(tmp_path):
    done = run(tmp_path, "converge", "--equation", "forced-cahn-hilliard", "--points", "128:256", "--out", "x.nc")
    assert done.returncode == 1 and "the grid of 64 points" in done.stderr and "--dt-over-dx" in done.stderr
    assert os.listdir(tmp_path) == []


# --- progress

# Only after a second one can tell how long it will take: runs of more and more members, until one lasts that long.
MORE_AND_MORE = [["coarsen", "--until", "40", "--threads", "1", "--out", f"{members}.nc", "--members", members]
                 for members in ("16", "64", "2048", "8192", "32768")]  # fmt: skip


def test_progress_in_a_log(tmp_path):
    for arguments in MORE_AND_MORE:
        done = succeed(tmp_path, *arguments)
        lines = [line for line in done.stderr.splitlines() if "%" in line]
        if any("left" in line for line in lines):
            break
    assert lines and "point-steps/s" in lines[-1] and "left" in lines[-1] and "\033" not in done.stderr


def shown_on_a_terminal(folder, arguments):
    ours, theirs = pty.openpty()
    with studies.start(folder, *arguments, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        process.communicate()
    os.close(ours)
    return shown.decode()


def test_progress_on_a_terminal(tmp_path):
    for arguments in MORE_AND_MORE:
        text = shown_on_a_terminal(tmp_path, arguments)
        if "left" in text:
            break
    assert re.search(r"\r\[#*\.*\] +\d+ %.*point-steps/s.*left.*l = ", text), text
    assert text.endswith("\r\033[K")  # the bar is gone when it is done


def test_file_mode_and_other_readers(tmp_path):
    succeed(tmp_path, *SMALL)
    assert stat.S_IMODE(os.stat(tmp_path / "coarsen.nc").st_mode) & 0o600 == 0o600
    import h5py

    netCDF4 = pytest.importorskip("netCDF4")

    with h5py.File(tmp_path / "coarsen.nc") as file, netCDF4.Dataset(tmp_path / "coarsen.nc") as same:
        assert same.variables["domain_size_mean"].dimensions == ("time",)
        np.testing.assert_array_equal(file["domain_size_mean"][:], same.variables["domain_size_mean"][:])
    with xarray.open_dataset(tmp_path / "coarsen.nc", engine="netcdf4") as data:
        assert data.domain_size_mean.indexes["time"].is_monotonic_increasing


def test_stdout_that_is_full_is_an_error(tmp_path):
    with open("/dev/full", "w") as full:
        process = subprocess.run([studies.BIN, *SMALL[:-1], "--json", "-"], cwd=tmp_path, stdout=full, text=True,
                                 env=studies.ENVIRONMENT, stderr=subprocess.PIPE)  # fmt: skip
    assert process.returncode == 1 and "standard output" in process.stderr
    assert (tmp_path / "coarsen.nc").exists()  # the results are not lost
