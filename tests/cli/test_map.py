"""bandmill map, run as a user runs it: its file, its options, and what it prints."""

import json
import os

import numpy as np
import pytest
import xarray

from maps import FEATURES, assert_same_data, make, small
from studies import SANITIZED, assert_refused, read, run, succeed

# --- the file


def test_structure(tmp_path):
    data = make(tmp_path, "--keep-states", "4x3")
    assert os.listdir(tmp_path) == ["map.nc"]
    assert dict(data.sizes) == {"mean": 8, "forcing": 6, "outcome": 3, "kept_mean": 4, "kept_forcing": 3, "position": 32}
    by_cell = [*FEATURES, "class", "kmeans_class", "confidence", "settled", "time_step", "step_too_long", "runs"]
    for name in by_cell:
        assert data[name].dims == ("forcing", "mean"), name
    assert data.outcome_share.dims == ("forcing", "mean", "outcome")
    assert data.state.dims == ("kept_forcing", "kept_mean", "position")
    assert set(data.variables) == {
        *by_cell, *data.sizes, "outcome_share", "state", "speed", "wavenumber", "gamma",
    }  # fmt: skip
    for name, value in {"speed": 0.5, "wavenumber": 1, "gamma": 0.01}.items():
        assert data[name].dims == () and float(data[name]) == value
    for name in data.variables:
        assert data[name].attrs["long_name"] and data[name].attrs["units"]
    for name in "class", "kmeans_class":
        assert data[name].attrs["flag_meanings"] == "A0 A1 A2" and data[name].attrs["flag_values"] == "0 1 2"
        assert data[name].dtype == np.int64 and data[name].isin([0, 1, 2]).all()
    np.testing.assert_allclose(data.position, 2 * np.pi / 32 * np.arange(32))
    np.testing.assert_array_equal(data.outcome, [0, 1, 2])


def test_both_ends_of_an_axis_are_on_the_grid(tmp_path):
    data = make(tmp_path, "--mean", "-0.25:0.9", "--forcing", "2:0.5")
    np.testing.assert_allclose(data["mean"], np.linspace(-0.25, 0.9, 8), rtol=1e-15)
    np.testing.assert_allclose(data.forcing, np.linspace(2, 0.5, 6), rtol=1e-15)
    assert float(data["mean"][-1]) == 0.9 and float(data.forcing[-1]) == 0.5


def test_one_cell_is_at_the_first_end(tmp_path):
    data = make(tmp_path, "--grid", "1x1", "--mean", "0.3:1", "--forcing", "0.2:1")
    assert float(data["mean"][0]) == 0.3 and float(data.forcing[0]) == 0.2
    assert data.state.shape == (1, 1, 32)


def test_features_are_those_of_the_states(tmp_path):
    data = make(tmp_path, "--gamma", "0.02", "--until", "5")
    state = data.state.rename(kept_mean="mean", kept_forcing="forcing")  # all cells are kept
    np.testing.assert_array_equal(state["mean"], data["mean"])
    highest, lowest = state.max("position"), state.min("position")
    np.testing.assert_array_equal(data.highest, highest)
    np.testing.assert_array_equal(data.lowest, lowest)
    np.testing.assert_array_equal(data.range, highest - lowest)
    np.testing.assert_array_equal(data.largest, abs(state).max("position"))
    np.testing.assert_array_equal(data.interfaces, ((state < 0) != (state.roll(position=1) < 0)).sum("position"))
    np.testing.assert_allclose(data.mean_drift, state.mean("position") - data["mean"], atol=1e-12)
    slopes = (state.roll(position=-1) - state.roll(position=1)) / (4 * np.pi / 32)
    np.testing.assert_allclose(data.gradient, np.sqrt((slopes**2).mean("position")), rtol=1e-10)
    np.testing.assert_allclose(data.motion, data.rate / (0.5 * data.gradient), rtol=1e-10)
    power = abs(np.fft.rfft(state.values, axis=-1)) ** 2
    power[..., -1] /= 2  # the shortest wave has no partner
    uneven = data.range.values > 1e-6  # the rest has no pattern but rounding
    np.testing.assert_allclose(data.forced_share.values[uneven], (power[..., 1] / power[..., 1:].sum(-1))[uneven], rtol=1e-8)
    squares = (data.early_rate**2 + data.late_rate**2) / 2  # equally long halves
    np.testing.assert_allclose(data.rate, np.sqrt(squares), rtol=1e-9)
    assert ((data.confidence >= 0) & (data.confidence <= 1)).all()


def test_the_class_is_what_the_rule_says(tmp_path):
    """The rule of docs/maps.md, with the limits that are in the file."""
    data = make(tmp_path, "--grid", "12x10", "--until", "20", "--points", "64")
    limit = {name: data.attrs[f"limit_{name}"] for name in ("motion_log10", "depth", "harmonics_log10")}
    moves = np.log10(np.maximum(data.motion, 1e-16)) >= limit["motion_log10"]
    two_phases = np.minimum(data.highest, -data.lowest) >= limit["depth"]
    harmonic = np.log10(np.maximum(1 - data.forced_share, 1e-16)) >= limit["harmonics_log10"]
    expected = np.where(moves, 0, np.where(two_phases & harmonic, 1, 2))
    expected = np.where(data.range < 0.02, 2, expected)
    np.testing.assert_array_equal(data["class"], expected)
    assert set(np.unique(expected)) == {0, 1, 2}
    assert data.attrs["unsettled_cells"] == int((data.settled == 0).sum())


def test_no_states_and_no_kmeans(tmp_path):
    data = make(tmp_path, "--keep-states", "0x0", "--kmeans-restarts", "0")
    assert not {"state", "position", "kept_mean", "kmeans_class"} & set(data.variables)
    assert np.isnan(data.attrs["kmeans_speckle"])


def test_provenance_gives_the_same_again(tmp_path):
    data = make(tmp_path, "--seed", "5", "--refine", "2")
    assert "window = 1.5" in data.attrs["options"] and "mean = 0:1.5" in data.attrs["options"]
    assert data.attrs["window"] == 1.5 and data.attrs["seed"] == 5 and 3 <= data.attrs["until"] < 3.1
    (tmp_path / "again.conf").write_text(data.attrs["options"])
    succeed(tmp_path, "map", "--config", "again.conf", "--out", "again.nc")
    assert_same_data(tmp_path / "map.nc", tmp_path / "again.nc")


def test_f32(tmp_path):
    single, double = make(tmp_path, "--precision", "f32"), make(tmp_path, out="double.nc")
    assert single.state.dtype == np.float32 and double.state.dtype == np.float64
    np.testing.assert_allclose(single.state[:, :, :], double.state, atol=2e-3)


# --- parameters


def test_noise_is_that_of_the_cell(tmp_path):
    """Cell y W + x starts alike on any grid; so does the map of another panel."""
    wide = make(tmp_path, "--grid", "8x2", "--mean", "0.1:0.1", "--forcing", "1:1", out="wide.nc")
    long = make(tmp_path, "--grid", "2x8", "--mean", "0.1:0.1", "--forcing", "1:1", out="long.nc")
    np.testing.assert_array_equal(wide.state.values.reshape(16, 32), long.state.values.reshape(16, 32))
    assert len({tuple(state) for state in wide.state.values.reshape(16, 32)}) == 16


def test_several_speeds_are_several_maps(tmp_path):
    both = make(tmp_path, "--speed", "0.5,1.0", "--wavenumber", "2,1", "--window", "1", out="both.nc")
    assert both["class"].dims == ("speed", "wavenumber", "forcing", "mean")
    assert both.state.dims[:2] == ("speed", "wavenumber") and both.outcome_share.dims[-1] == "outcome"
    np.testing.assert_array_equal(both.wavenumber, [2, 1])
    for speed in 0.5, 1.0:
        for wavenumber in 1, 2:
            one = make(tmp_path, "--speed", speed, "--wavenumber", wavenumber, "--window", "1", out=f"{speed}-{wavenumber}.nc")
            part = both.sel(speed=speed, wavenumber=wavenumber)
            for name in [*FEATURES, "state", "time_step", "step_too_long"]:  # the rule has seen the others, too
                np.testing.assert_array_equal(part[name], one[name], err_msg=name)


def test_any_two_parameters_are_axes(tmp_path):
    data = make(tmp_path, "--x", "speed", "--y", "gamma", "--speed", "0:1", "--gamma", "0.01:0.03", "--mean", "0.1,0.2",
                "--forcing", "0.7", "--window", "1")  # fmt: skip
    assert data["class"].dims == ("mean", "gamma", "speed") and data["class"].shape == (2, 6, 8)
    assert data.state.dims == ("mean", "kept_gamma", "kept_speed", "position")
    np.testing.assert_allclose(data.speed, np.linspace(0, 1, 8))
    # A row of it by the axes as usual: the first row has the same noise.
    row = make(tmp_path, "--grid", "8x1", "--x", "speed", "--y", "forcing", "--speed", "0:1", "--forcing", "0.7:0.7",
               "--mean", "0.2", "--gamma", "0.01", "--window", "1", out="row.nc")  # fmt: skip
    for name in [*FEATURES, "time_step"]:
        np.testing.assert_array_equal(data[name].sel(mean=0.2)[0], row[name][0], err_msg=name)


def test_negative_wavenumbers_and_a_forcing_that_does_not_fit(tmp_path):
    make(tmp_path, "--wavenumber", "-1", out="whole.nc")
    done = succeed(tmp_path, *small("--wavenumber", "1,1.5,0.25", "--out", "a.nc"))
    assert done.stderr.count("warning") == 1 and "1.5" in done.stderr and "mean" in done.stderr
    assert "warning" not in succeed(tmp_path, *small("--wavenumber", "3", "--out", "b.nc")).stderr
    assert succeed(tmp_path, *small("--wavenumber", "1.5", "--out", "c.nc", "--quiet")).stderr == ""


# --- classes


def test_raw_kmeans(tmp_path):
    physical, raw = make(tmp_path), make(tmp_path, "--classifier", "raw-kmeans", out="raw.nc")
    np.testing.assert_array_equal(raw["class"], raw.kmeans_class)
    for name in set(physical.variables) - {"class"}:
        np.testing.assert_array_equal(physical[name], raw[name])
    assert raw["class"].attrs["classifier"] == raw.attrs["classifier"] == "raw-kmeans"
    assert physical["class"].attrs["classifier"] == physical.attrs["classifier"] == "physical"


def test_refinement(tmp_path):
    arguments = ["--grid", "10x8", "--until", "10"]
    data, plain = make(tmp_path, *arguments, "--refine", "4"), make(tmp_path, *arguments, out="plain.nc")
    np.testing.assert_allclose(data.outcome_share.sum("outcome"), 1)
    assert set(np.unique(data.runs)) == {1, 5}
    assert data.attrs["refined_runs"] == int((data.runs - 1).sum()) > 0
    first = plain["class"].values
    padded = np.pad(first, 1, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    border = (windows != first[..., None, None]).any((-1, -2))
    np.testing.assert_array_equal(data.runs == 5, border)
    # Most runs decide, and the features are still those of the first run.
    shares = data.outcome_share.values
    assert (np.take_along_axis(shares, data["class"].values[..., None], -1)[..., 0] == shares.max(-1)).all()
    np.testing.assert_array_equal(data.motion, plain.motion)
    assert (plain.runs == 1).all() and plain.attrs["refined_runs"] == 0


REPEATED = ["--points", "64", "--dt", "0.02", "--mean", "1:2.5"]  # more than was expected is seen in some cells


def test_steps_that_turn_out_too_long_are_halved(tmp_path):
    data = make(tmp_path, *REPEATED)
    halvings = np.log2(0.02 / data.time_step)
    np.testing.assert_array_equal(halvings, np.round(halvings))
    assert len(np.unique(halvings)) > 1 and halvings.min() >= 0
    assert (data.step_too_long == 0).all() and data.attrs["lost_members"] == 0
    a, finest = np.maximum(3 * data.largest**2 - 1, 1e-3), 4 / (2 * np.pi / 64) ** 2
    limit = xarray.where(a / 0.02 <= finest, 0.08 / a**2, 2 / (finest * (a - 0.01 * finest)))
    assert (data.time_step <= limit).all()


def test_cells_that_are_lost(tmp_path):
    """Steps that cannot be short enough: such cells have no class, and the others have."""
    data = make(tmp_path, "--forcing", "0:1e7", "--until", "2")
    lost = data["class"] == -1
    assert 0 < int(lost.sum()) < lost.size and data.attrs["lost_members"] == int(lost.sum())
    assert np.isnan(data.motion.values[lost.values]).all() and np.isfinite(data.motion.values[~lost.values]).all()
    assert (data.kmeans_class.values[lost.values] == -1).all() and (data.runs.values[lost.values] == 0).all()
    assert np.isnan(data.outcome_share.values[lost.values]).all()


# --- what it prints


def test_report(tmp_path):
    done = succeed(tmp_path, *small("--grid", "80x30", "--until", "0.5" if SANITIZED else "3", "--speed", "0.5,1"))
    for words in ["speed 0.5, wavenumber 1, gamma 0.01: A0", "speckle", "by raw k-means", "not settled", "rule", "shorter in",
                  "written to map.nc", "point-steps per second", "2 maps of 80 x 30 cells"]:  # fmt: skip
        assert words in done.stdout, words
    letters = read(tmp_path / "map.nc")["class"].values
    pictures = [line[5:] for line in done.stdout.splitlines() if line[5:] and set(line[5:]) <= set(".#~")]
    assert len(pictures) == 48 and {len(row) for row in pictures} == {64}
    corners = [pictures[panel * 24 + row][column] for panel in (0, 1) for row in (23, 0) for column in (0, 63)]
    assert corners == [".#~"[letters[panel, y, x]] for panel in (0, 1) for y in (0, -1) for x in (0, -1)]
    assert max(map(len, done.stdout.splitlines())) <= 200


def test_summary(tmp_path):
    summary = json.loads(succeed(tmp_path, *small("--speed", "0.5,1", "--json", "-")).stdout)
    data = read(tmp_path / "map.nc")
    assert summary["study"] == "map" and [panel["speed"] for panel in summary["panels"]] == [0.5, 1]
    for panel, part in zip(summary["panels"], data["class"]):
        assert [panel[f"a{kind}_cells"] for kind in range(3)] == [int((part == kind).sum()) for kind in range(3)]
    for name in "speckle", "kmeans_speckle":
        mean = np.mean([panel[name] for panel in summary["panels"]])
        assert mean == pytest.approx(data.attrs[name], abs=1e-12)
    assert sum(panel["unsettled_cells"] for panel in summary["panels"]) == data.attrs["unsettled_cells"]
    assert summary["corner_largest"] == float(data.largest[-1, -1, -1])
    assert summary["point_steps_per_second"] > 0 and summary["kmeans_seconds"] >= 0


def test_quiet_is_silent(tmp_path):
    done = succeed(tmp_path, *small("--quiet"))
    assert done.stdout == "" and done.stderr == ""


def test_help(tmp_path):
    done = succeed(tmp_path, "map", "--help")
    assert done.stderr == "" and max(map(len, done.stdout.splitlines())) <= 120
    for option in "grid x y mean forcing speed wavenumber gamma points length amplitude seed until dt window classifier " \
                  "kmeans-restarts refine keep-states backend precision out checkpoint-every dry-run".split():  # fmt: skip
        assert f"--{option} " in done.stdout, option
    for line in done.stdout.splitlines():
        words = line.split()
        if words[:1] == ["bandmill"]:
            succeed(tmp_path, *words[1:], "--print-config")


def test_config(tmp_path):
    printed = succeed(tmp_path, *small("--quiet", "--speed", "0.5,1", "--print-config")).stdout
    (tmp_path / "map.conf").write_text(printed)
    assert succeed(tmp_path, "map", "--config", "map.conf", "--print-config").stdout == printed
    assert "grid = 8x6" in printed and "# window =" in printed
    succeed(tmp_path, "map", "--config", "map.conf", "--out", "a.nc")
    make(tmp_path, "--speed", "0.5,1", out="b.nc")
    assert_same_data(tmp_path / "a.nc", tmp_path / "b.nc")


def test_dry_run(tmp_path):
    done = succeed(tmp_path, "map", "--grid", "32x16", "--dry-run")
    assert "512 of 256 points" in done.stdout and os.listdir(tmp_path) == []
    memory = []
    for restarts in 0, 8:
        done = succeed(tmp_path, "map", "--grid", "64x64", "--kmeans-restarts", restarts, "--dry-run", "--json", "-")
        memory.append(json.loads(done.stdout))
    for name in "memory_bytes", "checkpoint_bytes":
        assert memory[1][name] - memory[0][name] == 64 * 64 * 256 * 8  # the states that k-means waits for
    assert memory[1]["file_bytes"] > 48 * 48 * 256 * 8 and os.listdir(tmp_path) == []


BAD = [
    (["--grid", "96"], ["--grid", "'96'", "96x64"]),
    (["--grid", "0x5"], ["--grid"]),
    (["--grid", "5x5x5"], ["--grid"]),
    (["--grid", "axb"], ["--grid"]),
    (["--grid", "2^20x2^20"], ["--grid", "2^28"]),
    (["--grid", "2^14x2^14", "--speed", "0.5,1"], ["cells", "2^28"]),
    (["--x", "colour"], ["--x", "colour", "wavenumber"]),
    (["--x", "forcing"], ["--x", "--y", "forcing"]),
    (["--speed", "0:1"], ["--speed 0:1 is a range, but speed is not an axis: give --x speed or --y speed, or a list"]),
    (["--mean", "0.5"], ["--mean 0.5 is not a range, but mean is an axis"]),
    (["--mean", "0.1,0.2"], ["--mean 0.1,0.2 is not a range, but mean is an axis"]),
    (["--mean", "0:1:2"], ["--mean"]),
    (["--mean", "0:b"], ["--mean", "'b'"]),
    (["--x", "speed", "--mean", "0"], ["speed is an axis", "--speed A:B"]),
    (["--x", "speed", "--speed", "0:1"], ["mean is not an axis", "--mean"]),
    (["--speed", "-1"], ["speed", "negative"]),
    (["--speed", "0.5,,1"], ["--speed"]),
    (["--speed", "fast"], ["--speed", "fast"]),
    (["--gamma", "0"], ["gamma"]),
    (["--gamma", "inf"], ["--gamma"]),
    (["--points", "4"], ["--points", "5"]),
    (["--length", "0"], ["--length"]),
    (["--until", "0"], ["--until"]),
    (["--until", "1", "--dt", "2"], ["--dt", "--until"]),
    (["--until", "1", "--window", "2"], ["--window", "--until"]),
    (["--window", "0"], ["--window"]),
    (["--dt", "1e-300"], ["steps"]),
    (["--amplitude", "-1"], ["--amplitude"]),
    (["--seed", "-1"], ["--seed"]),
    (["--refine", "-1"], ["--refine"]),
    (["--refine", "1001"], ["--refine"]),
    (["--keep-states", "48"], ["--keep-states"]),
    (["--classifier", "svm"], ["--classifier", "raw-kmeans"]),
    (["--classifier", "raw-kmeans", "--kmeans-restarts", "0"], ["--classifier", "--kmeans-restarts"]),
    (["--kmeans-restarts", "-1"], ["--kmeans-restarts"]),
    (["--members", "3"], ["--members"]),
    (["--precision", "f16"], ["--precision"]),
]


@pytest.mark.parametrize("arguments, words", BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_refuses(tmp_path, arguments, words):
    assert_refused(run(tmp_path, "map", *arguments), *words)
    assert os.listdir(tmp_path) == []
