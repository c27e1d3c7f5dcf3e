"""bandmill bench own: systems with matrices of their own."""

import json

import pytest

from studies import assert_refused


def test_own_matrices(bandmill, tmp_path):
    done = bandmill(
        *"bench own --backend cpu --threads 2 --repetitions 2 --n 5,2^6 --batch 33 --precision f64,f32".split(),
        *"--layout interleaved,contiguous,tiled --json own.json".split(),
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    result = json.loads((tmp_path / "own.json").read_text())
    assert ("busy     other programs" in done.stdout) == (result["load_average"] > 0.5)
    assert result["benchmark"] == "own" and result["skipped"] == []
    assert len(result["records"]) == 2 * 2 * 2 * 2 * 3
    for record in result["records"]:
        size = (8 if record["dtype"] == "f64" else 4) * record["n"] * record["batch"]
        w, periodic = record["half_bandwidth"], record["boundary"] == "periodic"
        assert record["factor_and_solve"]["bytes"] == (2 * w + 3) * size
        assert record["solve"]["bytes"] == (3 + w * (4 if periodic else 2)) * size
        for way in record["factor_and_solve"], record["solve"]:
            assert 0 <= way["backward_error"] < 20 and way["wrong"] is False
            assert way["share_of_copy"] == pytest.approx(way["gbytes_per_s"] / record["ceiling_gbytes_per_s"])
        ran = {name for name, rival in record["rivals"].items() if "skipped" not in rival}
        assert set(record["speedup"]) == ran
        assert not periodic or ran == set()
        assert all(record["rivals"][name]["backward_error"] < 20 for name in ran)


def test_own_matrices_are_as_stiff_as_told(bandmill, tmp_path):
    def sigmas(*more):
        done = bandmill(*"bench own --backend cpu --repetitions 1 --n 9 --batch 2 --json s.json --force-overwrite".split(), *more)
        assert done.returncode == 0, done.stderr
        return {r["half_bandwidth"]: r["sigma"] for r in json.loads((tmp_path / "s.json").read_text())["records"]}

    assert sigmas() == {1: 1, 2: 1e6}
    assert sigmas("--sigma", "0.25") == {1: 0.25, 2: 0.25}


@pytest.mark.parametrize("sigma", ["nan", "-1", "1e999", "x", ""])
def test_own_matrices_refuse_stiffness(bandmill, tmp_path, sigma):
    assert_refused(bandmill("bench", "own", "--sigma", sigma, "--json", "out.json"), "--sigma", "bench own --help")
    assert list(tmp_path.iterdir()) == []


def test_own_matrices_beyond_the_range_are_told(bandmill):
    done = bandmill(*"bench own --backend cpu --n 9 --batch 2 --precision f32 --sigma 1e39".split())
    assert done.returncode == 1 and "--sigma 1e+39 gives entries too large for f32" in done.stdout


# The sizes of the bars for factor and solve on a GPU; none may fall out of the set.
def test_own_matrices_standard_set_has_every_size_with_a_bar(bandmill):
    listed = bandmill(*"bench own --backend cuda --list".split()).stdout
    sizes = {(n, b) for n in (64, 128, 256, 300, 512, 1000, 1024) for b in (65536, 1048576)}
    sizes |= {(2048, 65536), (4096, 65536), (16384, 4096), (100000, 4096), (256, 4096)}
    sizes |= {(n, 64) for n in (64, 256, 1024, 4096)}
    for n, batch in sizes:
        for kind in "W=1 open", "W=1 periodic", "W=2 open", "W=2 periodic":
            assert f"{kind} n={n} batch={batch} interleaved f64\n" in listed


def test_own_matrices_refuse_tuning_of_a_gpu_on_the_cpu(bandmill):
    done = bandmill(*"bench own --backend cpu --n 5 --batch 3 --blocks 2".split())
    assert done.returncode == 2 and "--blocks" in done.stderr
