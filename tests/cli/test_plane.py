"""Coarsening of planes, run as a user runs it: what it writes and prints, the same bits again, and what it refuses."""

import json
import os
import shutil
import signal
import subprocess

import numpy as np
import pytest

from studies import BIN, SANITIZED, assert_refused, assert_same_data, interrupt, read, run, send, succeed


def small(*more, until=1, threads=1, points="48x40"):
    problem = "coarsen --dimensions 2 --members 6 --length 2pix5 --samples log:30".split()
    return [*problem, "--points", points, "--until", until, "--threads", threads, *more]



def test_writes_what_it_promises(tmp_path):
    succeed(tmp_path, *small(), "--quiet")
    assert os.listdir(tmp_path) == ["coarsen.nc"]
    data = read(tmp_path / "coarsen.nc")
    assert data.attrs["points_x"] == 48 and data.attrs["points_y"] == 40
    assert data.attrs["length_x"] == pytest.approx(2 * np.pi) and data.attrs["length_y"] == 5
    assert data.attrs["time_step"] == pytest.approx(0.1 * min(2 * np.pi / 48, 5 / 40))
    assert (data.member_count == 6).all() and (data.left_out == 0).all() and (data.interface_left_out == 0).all()
    assert data.time[-1] >= 1 and (np.diff(data.time) > 0).all()
    assert float(data.domain_size_mean[-1]) > 1.5 * float(data.domain_size_mean[0])
    np.testing.assert_allclose(data.domain_length, 2 * np.pi * 5 / data.interface_length_mean, rtol=1e-13)
    for name in data.variables:
        assert data[name].attrs["long_name"] and data[name].attrs["units"]


def test_fit_is_least_squares_in_logarithms(tmp_path):
    printed = succeed(tmp_path, *small(), "--fit", "0.2:1", "--json", "summary.json").stdout
    data = read(tmp_path / "coarsen.nc")
    inside = data.where((data.time >= 0.2) & (data.time <= data.attrs["fit_to"] + 1e-9), drop=True)
    for name, exponent in ("domain_size_mean", "fit_exponent"), ("domain_length", "fit_length_exponent"):
        slope, intercept = np.polyfit(np.log(inside.time), np.log(inside[name]), 1)
        assert data.attrs[exponent] == pytest.approx(slope, rel=1e-9)
        assert data.attrs[exponent.replace("exponent", "prefactor")] == pytest.approx(np.exp(intercept), rel=1e-9)
        assert 0 < data.attrs[exponent + "_error95"] < 1
        assert f"t^({slope:.4f} +- " in printed
    assert "theory   1/3 (Lifshitz-Slyozov)" in printed
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["dimensions"] == 2 and summary["mean"] == 0
    for name, start in ("domain_size", "fit_"), ("domain_length", "fit_length_"):
        for number, value in summary["fit"][name].items():
            assert data.attrs[start + number] == value


def test_same_bits_for_any_threads(tmp_path):
    succeed(tmp_path, *small(), "--out", "one.nc", "--quiet")
    succeed(tmp_path, *small("--out", "two.nc", "--quiet", threads=2))
    succeed(tmp_path, *small(), "--seed", "2", "--out", "other.nc", "--quiet")
    assert_same_data(tmp_path / "one.nc", tmp_path / "two.nc")
    assert not read(tmp_path / "one.nc").domain_size_mean.equals(read(tmp_path / "other.nc").domain_size_mean)


@pytest.mark.skipif(
    shutil.which("mpirun") is None or "MPI built" not in subprocess.run([BIN, "info"], capture_output=True, text=True).stdout,
    reason="no mpirun, or a build without MPI",
)
def test_same_bits_for_any_ranks(tmp_path):
    succeed(tmp_path, *small("--out", "one.nc", "--quiet"))
    succeed(tmp_path, *small("--out", "three.nc", "--quiet"), ranks=3)
    assert_same_data(tmp_path / "one.nc", tmp_path / "three.nc")


def test_what_is_stored_gives_the_same_again(tmp_path):
    succeed(tmp_path, *small(), "--quiet")
    (tmp_path / "again.conf").write_text(read(tmp_path / "coarsen.nc").attrs["options"])
    succeed(tmp_path, "coarsen", "--config", "again.conf", "--out", "again.nc", "--quiet")
    assert_same_data(tmp_path / "coarsen.nc", tmp_path / "again.nc")
    printed = succeed(tmp_path, "coarsen", "--dimensions", "2", "--print-config").stdout
    assert "members = 8\n" in printed and "samples = log:200\n" in printed
    (tmp_path / "printed.conf").write_text(printed)
    assert succeed(tmp_path, "coarsen", "--config", "printed.conf", "--print-config").stdout == printed


def test_stopped_and_resumed_with_the_same_bits(tmp_path):
    longer = small("--dt", "0.005", "--checkpoint-every", "0.05s", until=2 if SANITIZED else 40, points="96x80")
    (tmp_path / "whole").mkdir()
    succeed(tmp_path / "whole", *longer, "--out", "x.nc", "--quiet")
    (tmp_path / "stopped").mkdir()
    stop = send(signal.SIGINT)
    status, err = interrupt(tmp_path / "stopped", [*longer, "--out", "x.nc", "--quiet"], stop, appears="x.nc.checkpoint")
    assert status == 130, err
    succeed(tmp_path / "stopped", "resume", "x.nc.checkpoint", "--threads", "2", "--quiet")
    assert_same_data(tmp_path / "stopped" / "x.nc", tmp_path / "whole" / "x.nc")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--dimensions", "3"], ["--dimensions"]),
        (["--dimensions", "2", "--points", "64x4"], ["--points", "4"]),
        (["--dimensions", "2", "--points", "64x64x64"], ["--points"]),
        (["--dimensions", "2", "--length", "2pix-1"], ["--length"]),
        (["--dimensions", "2", "--samples", "every-step"], ["--samples", "log:200"]),
        (["--dimensions", "2", "--histogram-times", "1,2"], ["--histogram-times"]),
        (["--dimensions", "2", "--fit", "5:3"], ["--fit"]),
        (["--dimensions", "1", "--points", "64x64"], ["--points"]),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, arguments, words):
    assert_refused(run(tmp_path, "coarsen", *arguments), *words)
    assert os.listdir(tmp_path) == []


def test_a_step_that_is_too_long_is_told(tmp_path):
    done = succeed(tmp_path, *small("--dt", "0.0065", until=0.1))
    assert "time step 0.0065 is above 0.0057" in done.stderr


def test_planes_without_lines_have_no_fit_of_them(tmp_path):
    printed = succeed(tmp_path, *small("--mean", "0.9", "--noise", "0.01", "--dt", "0.001", until=0.2)).stdout
    assert "length   no fit" in printed and "nan" not in printed and "inf" not in printed
    assert np.isinf(read(tmp_path / "coarsen.nc").domain_length).all()
    flat = succeed(tmp_path, *small("--noise", "0", "--dt", "0.001", until=0.2), "--force-overwrite").stdout
    assert "r = -\n" in flat and "nan" not in flat


def test_one_run_has_no_scatter(tmp_path):
    arguments = ["1" if word == "6" else word for word in small()]
    printed = succeed(tmp_path, *arguments).stdout
    assert "t^(0." in printed and "+-" not in printed and "groups" not in printed


# The sums hold values up to 2^23.
def test_interfaces_too_long_to_be_counted_are_told(tmp_path):
    plane = "coarsen --dimensions 2 --members 2 --length 1e9 --points 16 --samples linear:5 --until 1 --dt 0.1".split()
    printed = succeed(tmp_path, *plane, "--fit", "0.2:1").stdout
    assert "length   no fit: there are samples whose interfaces are left out\n" in printed
    assert "5 of 5 samples leave out up to 2 members from the interface length" in printed and "8388608" in printed
    data = read(tmp_path / "coarsen.nc")
    assert (data.interface_left_out == 2).all() and (data.left_out == 0).all() and np.isnan(data.domain_length).all()


@pytest.mark.parametrize(
    "more, obstacle",
    [
        ("--samples linear:41 --fit 1e6:2.2e6", "whose interfaces are left out"),
        ("--samples linear:41 --fit 3e6:4e7", None),
        ("--samples log:3 --until 1e7 --dt 1e4 --mean 0.5 --noise 1 --fit 1e5:1e7", "without lines C = 0"),
        (
            "--samples log:3 --until 1e7 --dt 1e4 --mean 0.5 --noise 1 --fit 1e4:1e7",
            "whose interfaces are left out, and some without lines C = 0",
        ),
    ],
)
def test_why_there_is_no_fit_is_told_of_its_window(tmp_path, more, obstacle):
    """Interfaces are too long up to t = 2e6; with a mean at the first sample, and at the last there are none."""
    plane = "coarsen --dimensions 2 --members 4 --length 3e5 --points 128 --gamma 2.28e7".split()
    times = [] if "--until" in more else "--until 4e7 --dt 1e5".split()
    printed = succeed(tmp_path, *plane, *times, *more.split()).stdout
    assert "samples leave out up to 4 members" in printed
    assert ("no fit" in printed) == bool(obstacle)
    assert obstacle is None or f"length   no fit: there are samples {obstacle}\n" in printed


def test_fits_tell_what_has_no_logarithm(tmp_path):
    """Near the spinodal lines C = 0 come late, and in some runs not at all."""
    plane = "coarsen --dimensions 2 --members 8 --points 24 --noise 0.3 --until 4 --dt 0.004 --json a.json".split()
    for size, mean, samples, groups in ("2", "0.46", 67, 4), ("0.9", "0.4", 46, 1), ("2", "0.1", 67, 8):
        command = [*plane, "--length", size, "--mean", mean, "--force-overwrite"]
        printed = succeed(tmp_path, *command).stdout
        fit = json.loads((tmp_path / "a.json").read_text())["fit"]["domain_length"]
        data = read(tmp_path / "coarsen.nc")
        window = data.interface_length_mean.values[data.time.values >= 0.4]
        assert (fit["samples"], fit["groups"]) == (samples, groups) and (window > 0).sum() == samples
        assert (data.attrs["fit_length_samples"], data.attrs["fit_length_groups"]) == (samples, groups)
        assert (data.attrs["fit_samples"], data.attrs["fit_groups"]) == (67, 8)
        assert ("(of 46 of 67 samples: there are others without lines C = 0)" in printed) == (samples < 67)
        assert (f"+- from {groups} of 8 groups of runs: the others" in printed) == (groups < 8)


def test_the_summary_has_the_nearest_samples(tmp_path):
    # Those before 0.5, 1, 2 and after 5; nothing is within a tenth of 0.1 and 0.2.
    times = "coarsen --dimensions 2 --members 1 --points 16 --length 1 --dt 0.47 --until 9.4 --samples linear:21".split()
    for study in times, [word for word in times if word not in ("--dimensions", "2")]:
        succeed(tmp_path, *study, "--json", "a.json", "--force-overwrite", "--quiet")
        shown = [sample["time"] for sample in json.loads((tmp_path / "a.json").read_text())["samples"]]
        assert shown == pytest.approx([0.47, 0.94, 1.88, 5.17, 9.4])


def test_the_summary_tells_what_is_left_out(tmp_path):
    plane = "coarsen --dimensions 2 --members 4 --length 3e5 --points 128 --gamma 2.28e7 --until 4e7 --dt 1e5".split()
    succeed(tmp_path, *plane, "--samples", "linear:41", "--json", "a.json")
    samples = {sample["time"]: sample for sample in json.loads((tmp_path / "a.json").read_text())["samples"]}
    assert [samples[t]["interface_left_out"] for t in (1e6, 4e7)] == [4, 0] and samples[1e6]["left_out"] == 0


# A member is never cut into pieces: one of 17.6 million points is larger than the usual piece.
def test_dry_run_counts_a_large_member_whole(tmp_path):
    problem = "coarsen --dimensions 2 --members 1 --points 4200 --length 32pi --until 0.01 --dry-run --json -".split()
    told = json.loads(succeed(tmp_path, *problem).stdout)
    field = 8 * 4200**2
    assert told["checkpoint_bytes"] >= field and told["memory_bytes"] >= 3 * field


# --- bench plane


def test_bench_of_planes(tmp_path):
    cases = ["--points", "24,16x40", "--members", "2", "--precision", "f64,f32"]
    succeed(tmp_path, "bench", "plane", "--threads", 1, "--steps", 3, "--repetitions", 2, *cases, "--json", "out.json")
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["benchmark"] == "plane" and result["skipped"] == []
    assert [(one["nx"], one["ny"], one["dtype"]) for one in result["records"]] == [
        (24, 24, "f64"), (24, 24, "f32"), (16, 40, "f64"), (16, 40, "f32")]  # fmt: skip
    for one in result["records"]:
        time_us = one["time_us"]
        assert 0 < time_us["min"] <= time_us["median"] <= time_us["max"] and one["steps"] == 3
        points = one["nx"] * one["ny"] * 2
        assert one["gpoint_steps_per_s"] == pytest.approx(points * 3 / time_us["median"] / 1e3)
        counted = 48 if one["dtype"] == "f64" else 24
        assert one["counted_bytes_per_point"] == counted
        assert one["share_of_ceiling"] == pytest.approx(
            one["gpoint_steps_per_s"] * counted / one["ceiling_gbytes_per_s"]
        )
        # The usual way has the same scheme, in other code.
        paper = one["rivals"]["paper"]
        assert paper["wrong"] is False and paper["difference"] < (1e-12 if one["dtype"] == "f64" else 1e-5)


def test_the_rival_takes_small_planes_by_one_thread(tmp_path):
    case = "--threads 2 --points 16,63x65,64 --steps 3 --repetitions 2 --json -".split()
    records = json.loads(succeed(tmp_path, "bench", "plane", *case).stdout)["records"]
    paths = [one["rivals"]["paper"]["path"] for one in records]
    assert [path[path.index("(") :] for path in paths] == ["(1 thread)", "(1 thread)", "(2 threads)"]


def test_table_of_planes(tmp_path):
    case = "--threads 1 --points 16 --steps 3 --repetitions 2 --equation cahn-hilliard,diffusion".split()
    lines = succeed(tmp_path, "bench", "plane", *case).stdout.splitlines()
    assert sum(" planes by alternating directions " in line for line in lines) == 2
    assert lines[-1] == "paper is not beside 1 of 2 cases: cahn-hilliard only"


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--points", "4"], ["--points", "4"]),
        (["--points", "64,5x"], ["--points '5x'", "two with one x"]),
        (["--equation", "forced-cahn-hilliard"], ["choose from diffusion, hyperdiffusion, cahn-hilliard ("]),
        (["--rivals", "nobody"], ["nobody"]),
    ],
)
def test_what_cannot_be_benchmarked_is_refused(tmp_path, arguments, words):
    assert_refused(run(tmp_path, "bench", "plane", "--backend", "cpu", *arguments), *words)
