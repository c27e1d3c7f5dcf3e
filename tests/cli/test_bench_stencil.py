"""bandmill bench stencil: what it prints, what it writes, and how it refuses."""

import json
import re

import pytest

TINY = ["bench", "stencil", "--backend", "cpu", "--threads", "2", "--repetitions", "3"]


@pytest.fixture
def bench(bandmill, tmp_path):
    """bench(arguments...) -> the JSON it wrote."""

    def bench(*arguments):
        done = bandmill(*TINY, *arguments, "--json", "out.json", "--force-overwrite")
        assert done.returncode == 0, done.stderr
        return json.loads((tmp_path / "out.json").read_text())

    return bench


def test_help_names_every_option(bandmill):
    done = bandmill("bench", "stencil", "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert max(map(len, done.stdout.splitlines())) <= 120
    for option in (
        "backend gpu threads stencil size precision edges rivals repetitions list json force-overwrite quiet"
    ).split():
        assert re.search(rf"--{option}\b", done.stdout), option


def test_every_field_of_a_record(bench):
    result = bench("--stencil", "5x5", "--size", "20x30x2")
    assert result["benchmark"] == "stencil" and result["backend"] == "cpu" and result["skipped"] == []
    (record,) = result["records"]
    wanted = dict(stencil="5x5", rows=20, columns=30, batch=2, dtype="f64", edges="periodic", backend="cpu", threads=2)
    wanted.update(bytes=2 * 8 * 20 * 30 * 2, wrong=False)
    assert {key: record[key] for key in wanted} == wanted
    time = record["time_us"]
    assert 0 < time["min"] <= time["median"] <= time["max"] and time["repetitions"] == 3
    assert record["gbytes_per_s"] == pytest.approx(record["bytes"] / time["median"] / 1e3)
    assert record["share_of_copy"] == pytest.approx(record["gbytes_per_s"] / record["ceiling_gbytes_per_s"])
    assert record["same_size_copy_us"] > 0 and 0 <= record["error"] < 30
    naive = record["rivals"]["naive"]
    assert naive["wrong"] is False and naive["time_us"]["median"] > 0


# Every kind of stencil, with all edges, is compared with sums in long double.
@pytest.mark.parametrize("edges", ["periodic", "leave", "even", "odd"])
@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_all_are_right(bench, edges, dtype):
    kinds = "x3,x5,x7,y3,y5,y7,cross,3x3,5x5,advect-x,advect-y,advect"
    result = bench("--stencil", kinds, "--size", "40x70,9x8x3", "--edges", edges, "--precision", dtype)
    assert len(result["records"]) == 24
    for record in result["records"]:
        assert not record["wrong"] and not record["rivals"]["naive"]["wrong"], record


def test_velocities_are_counted(bench):
    both, one = bench("--stencil", "advect,advect-y", "--size", "16x16", "--rivals", "none")["records"]
    assert both["bytes"] == 4 * 8 * 256 and one["bytes"] == 3 * 8 * 256
    assert both["rivals"] == {}


def test_list_shows_cases(bandmill):
    done = bandmill("bench", "stencil", "--backend", "cuda", "--list")
    assert done.returncode == 0 and "5x5 4096x4096x1 f64 periodic" in done.stdout and "naive" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--stencil", "x9"],
        ["--size", "100"],
        ["--size", "0x5"],
        ["--size", "2^30x2^30"],
        ["--size", "3x4x5x6"],
        ["--edges", "round"],
        ["--precision", "f16"],
        ["--repetitions", "0"],
        ["--rivals", "nobody"],
    ],
)
def test_refusals(bandmill, tmp_path, arguments):
    done = bandmill("bench", "stencil", *arguments, "--json", "out.json")
    assert done.returncode == 2 and done.stdout == ""
    assert arguments[0] in done.stderr and "bench stencil --help" in done.stderr
    assert not (tmp_path / "out.json").exists()
