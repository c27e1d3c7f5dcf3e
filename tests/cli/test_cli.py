"""The command line of bandmill: help, what is refused (exit code 2, one line, nothing written), result files."""

import json
import os
import re

import pytest

from studies import assert_refused

TINY = ["bench", "solve", "--backend", "cpu", "--threads", "2", "--repetitions", "3"]
ONE = TINY + ["--n", "20", "--batch", "50", "--half-bandwidth", "1", "--boundary", "open"]


@pytest.mark.parametrize("command", [[], ["info"], ["bench"], ["bench", "solve"]])
def test_help(bandmill, command):
    done = bandmill(*command, "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert "Usage: bandmill" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 120


def test_help_names_every_option_of_bench_solve(bandmill):
    text = bandmill("bench", "solve", "--help").stdout
    for option in (
        "backend gpu threads n batch half-bandwidth boundary layout precision matrix sigma rivals repetitions max-bytes "
        "in-place out-of-place memory no-memory list json force-overwrite quiet"
    ).split():
        assert re.search(rf"--{option}\b", text), option


def test_version(bandmill):
    done = bandmill("--version", BANDMILL_COMMIT="abc123")
    assert done.returncode == 0
    assert re.fullmatch(r"bandmill \d+\.\d+\.\d+ \(commit abc123\)\n", done.stdout)


def test_info(bandmill):
    done = bandmill("info", BANDMILL_COMMIT="abc123")
    assert done.returncode == 0 and done.stderr == ""
    for word in ["bandmill", "abc123", "CPU", "ISA level", "threads", "CUDA"]:
        assert word in done.stdout


def test_info_json(bandmill):
    info = json.loads(bandmill("info", "--json", BANDMILL_COMMIT='a"b\\c').stdout)
    assert info["commit"] == 'a"b\\c'
    assert info["threads"] >= 1
    assert info["isa"] in ["v2", "v3", "v4", "generic"]
    assert isinstance(info["cuda_built"], bool)
    assert info["cuda_built"] or info["gpus"] == []
    assert {"version", "compiler", "build_type", "cpu", "memory_available_bytes"} <= info.keys()


def test_commit_is_known_or_said_to_be_unknown(bandmill):
    assert re.fullmatch(
        r"unknown|[0-9a-f]{12}(-dirty)?", json.loads(bandmill("info", "--json", BANDMILL_COMMIT="").stdout)["commit"]
    )


def test_full_disk_behind_stdout(run):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    done = run("/bin/sh", "-c", f"{os.environ['BANDMILL_BIN']}/bandmill info > /dev/full")
    assert done.returncode == 1 and "cannot write" in done.stderr


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], []),
        (["bench"], []),
        (["nonsense"], ["nonsense"]),
        (["info", "--nonsense"], ["--nonsense"]),
        (["bench", "nonsense"], ["nonsense"]),
    ],
)
def test_wrong_commands(bandmill, arguments, words):
    assert_refused(bandmill(*arguments), "--help", *words)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--nonsense", "1"],
        ["stray"],
        ["--n", "0"],
        ["--n", "-5"],
        ["--n", "12x"],
        ["--n", "1.5"],
        ["--n", "64,,128"],
        ["--n", "64,"],
        ["--n", ""],
        ["--n", "2^63"],
        ["--n", "2^-1"],
        ["--n", "^4"],
        ["--n", "99999999999999999999"],
        ["--n"],
        ["--batch", "many"],
        ["--half-bandwidth", "3"],
        ["--boundary", "closed"],
        ["--layout", "interleaved,diagonal"],
        ["--precision", "f16"],
        ["--matrix", "dense"],
        ["--backend", "tpu"],
        ["--sigma", "nan"],
        ["--sigma", "-1"],
        ["--sigma", "1e999"],
        ["--repetitions", "0"],
        ["--threads", "0"],
        ["--threads", "1000000"],
        ["--gpu", "zero"],
        ["--max-bytes", "lots"],
        ["--rivals", "paper,nonsense"],
        ["--rivals", "paper,"],
        ["--memory", "--no-memory"],
        ["--in-place", "--out-of-place"],
        ["--backend", "cpu", "--gpu", "0"],
        ["--backend", "cuda", "--threads", "2"],
    ],
    ids=" ".join,
)
def test_wrong_values(bandmill, tmp_path, arguments):
    done = bandmill("bench", "solve", *arguments, "--json", "out.json")
    assert_refused(done, arguments[0], "bench solve --help")
    assert list(tmp_path.iterdir()) == []


def test_cuda_without_gpu_is_a_failed_run(bandmill, tmp_path):
    if json.loads(bandmill("info", "--json").stdout)["gpus"]:
        pytest.skip("this machine has a GPU")
    done = bandmill("bench", "solve", "--backend", "cuda", "--json", "out.json")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("bandmill: ") and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_existing_file_is_kept(bandmill, tmp_path):
    (tmp_path / "out.json").write_text("precious")
    assert_refused(bandmill(*ONE, "--json", "out.json"), "out.json", "--force-overwrite")
    assert (tmp_path / "out.json").read_text() == "precious"
    assert bandmill(*ONE, "--json", "out.json", "--force-overwrite").returncode == 0
    assert json.loads((tmp_path / "out.json").read_text())["records"]
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize("target", ["missing/out.json", "/dev/null", ".", "folder/", "folder", "/proc/out.json"])
def test_target_that_cannot_be_written(bandmill, tmp_path, target):
    (tmp_path / "folder").mkdir()
    assert_refused(bandmill(*ONE, "--json", target, "--force-overwrite"), target)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_read_only_folder(bandmill, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o555)
    assert_refused(bandmill(*ONE, "--json", "folder/out.json"), "folder/out.json")
