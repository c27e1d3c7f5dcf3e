"""The options of the study commands: where they come from, and how wrong ones are refused."""

import json
import os
import re

import pytest

from studies import SMALL, assert_refused, read, run, succeed


def test_config_file(tmp_path):
    (tmp_path / "study.conf").write_text(
        '# a comment\nmembers = 2^3   # eight\nlength = 2pi\npoints = 32\nuntil = 1\nout = "a b.nc"\nquiet = true\n'
    )
    succeed(tmp_path, "coarsen", "--config", "study.conf", "--members", "5")
    data = read(tmp_path / "a b.nc")
    assert (data.member_count == 5).all()  # the command line counts before the file
    # What is printed gives the same again.
    printed = succeed(tmp_path, "coarsen", "--config", "study.conf", "--print-config").stdout
    (tmp_path / "printed.conf").write_text(printed)
    again = succeed(tmp_path, "coarsen", "--config", "printed.conf", "--print-config").stdout
    assert printed == again and "members = 2^3" in printed and 'out = a b.nc' in printed


@pytest.mark.parametrize(
    "text, words",
    [
        ("members", ["line 1", "'='"]),
        ("\nmember = 3", ["line 2", "member"]),
        ("members = many", ["--members", "many"]),
        ("quiet = perhaps", ["true or false"]),
        ('out = "x', ["quote"]),
        ("members = 3\0", ["zero byte"]),
    ],
)
def test_bad_config_files(tmp_path, text, words):
    (tmp_path / "bad.conf").write_text(text)
    assert_refused(run(tmp_path, "coarsen", "--config", "bad.conf"), *words)
    assert os.listdir(tmp_path) == ["bad.conf"]


def test_a_config_file_may_begin_with_a_mark_and_is_no_folder(tmp_path):
    (tmp_path / "marked.conf").write_bytes(b"\xef\xbb\xbfmembers = 7\n")
    assert "members = 7\n" in succeed(tmp_path, "coarsen", "--config", "marked.conf", "--print-config").stdout
    assert_refused(run(tmp_path, "coarsen", "--config", "."), "--config '.'", "folder")


# Options in a file of results make the same data again, and nothing else: they replace no file, and write no second one.
def test_stored_options_replace_nothing(tmp_path):
    small = "coarsen --members 2 --points 16 --until 1 --json a.json --force-overwrite --quiet".split()
    succeed(tmp_path, *small, "--out", "a.nc")
    (tmp_path / "again.conf").write_text(read(tmp_path / "a.nc").attrs["options"])
    (tmp_path / "other.nc").write_text("precious")
    assert_refused(run(tmp_path, "coarsen", "--config", "again.conf", "--out", "other.nc"), "other.nc")
    assert (tmp_path / "other.nc").read_text() == "precious"
    done = succeed(tmp_path, "coarsen", "--config", "again.conf", "--out", "again.nc")
    assert "written to again.nc" in done.stdout


BAD = [
    (["coarsen", "--members", "0"], ["--members"]),
    (["coarsen", "--members", "2^70"], ["--members", "2^70"]),
    (["coarsen", "--members", "9223372036854775807"], ["--members", "range"]),
    (["simulate", "--members", "2^60", "--dry-run"], ["--members", "range"]),
    (["coarsen", "--members"], ["--members", "missing"]),
    (["coarsen", "--member", "3"], ["'--member'", "did you mean --members?"]),
    (["coarsen", "--members", "1.5e0"], ["--members"]),
    (["coarsen", "--dt", "1e-9"], ["steps"]),
    (["coarsen", "--dt", "200"], ["--dt", "--until"]),
    (["coarsen", "--points", "4"], ["--points", "5"]),
    (["coarsen", "--length", "2pie"], ["--length", "2pie"]),
    (["coarsen", "--length", "-pi"], ["--length"]),
    (["coarsen", "--length", "1e12"], ["--points"]),
    (["coarsen", "--gamma", "0"], ["--gamma"]),
    (["coarsen", "--gamma", "nan"], ["--gamma"]),
    (["coarsen", "--noise", "-1"], ["--noise"]),
    (["coarsen", "--seed", "-1"], ["--seed"]),
    (["coarsen", "--until", "0"], ["--until"]),
    (["coarsen", "--until", "10s"], ["--until"]),
    (["coarsen", "--dt", "0"], ["--dt"]),
    (["coarsen", "--dt", "0.1", "--dt", "0.2"], ["--dt is given more than once"]),
    (["coarsen", "--dimensions", "2", "--length", "2x"], ["--length '2x'", "two with one x"]),
    (["coarsen", "--dimensions", "2", "--points", "x5"], ["--points 'x5'", "two with one x"]),
    (["simulate", "--equation", "diffusion", "--diffusivity", "0"], ["--diffusivity 0 is", "above 0"]),
    (["simulate", "--equation", "diffusion", "--diffusivity", "-1e-9"], ["--diffusivity -1e-9 is"]),
    (["simulate", "--gamma", "0"], ["--gamma 0 is"]),
    (["coarsen", "--dt", "1e-300"], ["steps"]),
    (["coarsen", "--samples", "sometimes"], ["--samples"]),
    (["coarsen", "--samples", "cubic:7"], ["--samples"]),
    (["coarsen", "--histogram-times", "1,,2"], ["--histogram-times"]),
    (["coarsen", "--fit", "3"], ["--fit"]),
    (["coarsen", "--fit", "3:1"], ["--fit"]),
    (["coarsen", "--backend", "gpu"], ["--backend", "auto"]),
    (["coarsen", "--backend", "cpu", "--gpu", "0"], ["--gpu"]),
    (["coarsen", "--threads", "0"], ["--threads"]),
    (["coarsen", "--precision", "f16"], ["--precision"]),
    (["coarsen", "--checkpoint-every", "1 day"], ["--checkpoint-every"]),
    (["coarsen", "--out", "no/such/folder/x.nc"], ["no/such/folder"]),
    (["coarsen", "--out", "."], ["'.'"]),
    (["coarsen", "--config", "missing.conf"], ["missing.conf"]),
    (["coarsen", "extra"], ["extra"]),
    (["simulate", "--equation", "burgers"], ["--equation", "diffusion"]),
    (["simulate", "--equation", "diffusion", "--gamma", "1"], ["--gamma", "diffusion"]),
    (["simulate", "--speed", "1"], ["--speed"]),
    (["simulate", "--equation", "forced-cahn-hilliard", "--speed", "-1"], ["speed"]),
    (["simulate", "--equation", "forced-cahn-hilliard", "--ends", "neumann"], ["periodic"]),
    (["simulate", "--ends", "open"], ["--ends"]),
    (["simulate", "--end-value", "1"], ["dirichlet", "irichlet"][1:]),
    (["simulate", "--initial", "cosine", "--mean", "0:1"], ["--mean"]),
    (["simulate", "--initial", "constant", "--amplitude", "1"], ["--amplitude", "constant"]),
    (["simulate", "--initial", "constant", "--mode", "2"], ["--mode", "constant"]),
    (["simulate", "--initial", "cosine", "--exact-mean"], ["--exact-mean", "cosine"]),
    (["simulate", "--mode", "5"], ["--mode", "noise"]),
    (["simulate", "--mode", "fast"], ["--mode", "fast"]),
    (["simulate", "--initial", "cosine", "--seed", "5"], ["--seed", "cosine"]),
    (["simulate", "--initial", "constant", "--seed", "2^3"], ["--seed", "constant"]),
    (["simulate", "--save-every", "-1"], ["--save-every"]),
    (["simulate", "--mean", "0:1:2", "--members", "2"], ["--mean"]),
    (["simulate", "--mean", "0:1"], ["--mean", "one run"]),
    (["simulate", "--save-every", "1e-12"], ["records"]),
    (["converge", "--equation", "forced-cahn-hilliard", "--forcing", "0:2"], ["--forcing", "one run"]),
    (["converge", "--points", "128:2^62"], ["points"]),
    (["converge", "--points", "128"], ["--points"]),
    (["converge", "--points", "100:300"], ["--points 100:300", "100:400 would"]),
    (["converge", "--points", "8:64"], ["10"]),
    (["converge", "--points", "512:128"], ["512"]),
    (["converge", "--dt-over-dx", "0"], ["--dt-over-dx"]),
    (["resume"], ["checkpoint"]),
    (["resume", "x", "--members", "3"], ["--members"]),
    (["coarse"], ["coarse"]),
]


@pytest.mark.parametrize("arguments, words", BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_refuses(tmp_path, arguments, words):
    assert_refused(run(tmp_path, *arguments), *words)
    assert os.listdir(tmp_path) == []


# Files of results hold all options; so may whoever writes them in another way.
@pytest.mark.parametrize(
    "arguments",
    ["noise --mode 1.0", "cosine --seed 2^0", "constant --amplitude .1 --mode 1e0 --seed 1", "constant --mean 0.5"],
)
def test_defaults_of_other_initial_states_are_no_mistake(tmp_path, arguments):
    small = "--points 16 --until 0.1 --quiet --initial".split()
    succeed(tmp_path, "simulate", *small, *arguments.split())
    (tmp_path / "again.conf").write_text(read(tmp_path / "simulate.nc").attrs["options"])
    succeed(tmp_path, "simulate", "--config", "again.conf", "--out", "again.nc")


def test_refuses_to_overwrite(tmp_path):
    succeed(tmp_path, *SMALL)
    before = (tmp_path / "coarsen.nc").read_bytes()
    assert_refused(run(tmp_path, *SMALL), "coarsen.nc", "--force-overwrite")
    assert (tmp_path / "coarsen.nc").read_bytes() == before
    succeed(tmp_path, *SMALL, "--seed", "9", "--force-overwrite")
    assert (tmp_path / "coarsen.nc").read_bytes() != before
    (tmp_path / "folder.nc").mkdir()
    assert_refused(run(tmp_path, *SMALL, "--out", "folder.nc", "--force-overwrite"), "folder.nc", "regular")


def test_names_that_clash_are_refused(tmp_path):
    for name in "coarsen.nc", "./coarsen.nc", "coarsen.nc.partial":
        assert_refused(run(tmp_path, *SMALL, "--json", name), "--json")
    os.symlink("nowhere.nc", tmp_path / "link.nc")
    assert_refused(run(tmp_path, *SMALL, "--out", "link.nc"), "link")
    (tmp_path / "target.nc").write_text("old")
    os.symlink("target.nc", tmp_path / "good.nc")
    succeed(tmp_path, *SMALL, "--out", "good.nc", "--force-overwrite")
    assert (tmp_path / "good.nc").is_symlink() and (read(tmp_path / "target.nc").member_count == 40).all()


def test_every_member_is_in_the_histograms(tmp_path):
    succeed(tmp_path, "coarsen", "--members", "3", "--length", "4000", "--points", "20000", "--dt", "0.01", "--until", "0.02",
            "--histogram-times", "0.01", "--quiet")  # fmt: skip
    data = read(tmp_path / "coarsen.nc")
    assert int(data.interface_histogram.sum()) == 3 and int(data.interface_histogram[0, -1]) == 3


def test_flags_can_be_denied(tmp_path):
    done = succeed(tmp_path, *SMALL[:-1], "--quiet=false", "--dry-run=false")
    assert "written to" in done.stdout


def test_dry_run(tmp_path):
    done = succeed(tmp_path, "coarsen", "--members", "2^10", "--dry-run")
    for word in ["1024 of 256 points", "time", "memory", "file", "checkpoint"]:
        assert word in done.stdout
    assert os.listdir(tmp_path) == []
    # 10^15 steps of 2^38 points: too much for any machine.
    endless = "coarsen --members 2^30 --until 1e13 --dt 0.01 --samples log:9 --histogram-times none --dry-run"
    done = succeed(tmp_path, *endless.split())
    assert "time       more than 300 years at" in done.stdout
    estimate = json.loads(succeed(tmp_path, "coarsen", "--dry-run", "--json", "-").stdout)
    assert estimate["seconds"] > 0 and estimate["file_bytes"] > 1e6
    succeed(tmp_path, "simulate", "--dry-run")
    succeed(tmp_path, "converge", "--dry-run")
    # What the run would warn of.
    assert "stable" in succeed(tmp_path, "coarsen", "--dimensions", "2", "--points", "32", "--dry-run").stderr
    assert os.listdir(tmp_path) == []


REFUSED = [
    (["--out", "nowhere/x.nc"], ["nowhere/x.nc"]),
    (["--out", "."], ["'.'", "not a regular file"]),
    (["--json", "nowhere/x.json"], ["nowhere/x.json"]),
    (["--out", "x.nc", "--json", "x.nc"], ["--json", "x.nc"]),
]
CHECKPOINTS = ["--checkpoint-every", "5x"]  # converge has none


@pytest.mark.parametrize(
    "study, options, words",
    [(study, *refused) for study in ("coarsen", "simulate", "map", "converge") for refused in REFUSED]
    + [(study, CHECKPOINTS, CHECKPOINTS) for study in ("coarsen", "simulate", "map")],
)
def test_a_dry_run_refuses_what_the_run_would(tmp_path, study, options, words):
    for more in ["--dry-run"], []:
        assert_refused(run(tmp_path, study, *options, *more), *words)
        assert os.listdir(tmp_path) == []
