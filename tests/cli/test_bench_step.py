"""bandmill bench step: what it prints, what it writes, and how it refuses."""

import json
import re

import pytest

TINY = ["bench", "step", "--backend", "cpu", "--threads", "2", "--steps", "10", "--repetitions", "3"]
ONE = TINY + ["--n", "16", "--members", "8"]


@pytest.fixture
def bench(bandmill, tmp_path):
    """bench(arguments...) -> the JSON it wrote."""

    def bench(*arguments):
        done = bandmill(*TINY, *arguments, "--json", "out.json", "--force-overwrite")
        assert done.returncode == 0, done.stderr
        return json.loads((tmp_path / "out.json").read_text())

    return bench


def test_help_names_every_option(bandmill):
    done = bandmill("bench", "step", "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert max(map(len, done.stdout.splitlines())) <= 120
    for option in (
        "backend gpu threads equation n members precision statistics shape rivals steps repetitions list json "
        "force-overwrite quiet"
    ).split():
        assert re.search(rf"--{option}\b", done.stdout), option


def test_every_field_of_a_record(bench):
    result = bench("--n", "16", "--members", "8")
    assert result["benchmark"] == "step" and result["backend"] == "cpu" and result["skipped"] == []
    assert {"device", "date", "commit", "version", "compiler", "build_type", "isa", "load_average"} <= result.keys()
    (record,) = result["records"]
    wanted = dict(equation="cahn-hilliard", n=16, members=8, dtype="f64", backend="cpu", threads=2, statistics="none")
    wanted.update(shape="throughput", steps=10, state_bytes=16 * 8 * 8, lost_members=0, wrong=False)
    assert {key: record[key] for key in wanted} == wanted
    assert record["path"] and record["members_per_slice"] >= 1
    assert record["length"] == pytest.approx(6.283185307) and 0 < record["time_step"] <= 0.1 * record["length"] / 16
    time = record["time_us"]
    assert 0 < time["min"] <= time["median"] <= time["max"] and time["repetitions"] == 3
    assert record["gpoint_steps_per_s"] == pytest.approx(16 * 8 * 10 / time["median"] / 1e3)
    assert 0 < record["largest"] < 2
    paper = record["rivals"]["paper"]
    assert paper["wrong"] is False and paper["difference"] < 1e-9 and paper["path"]
    assert record["speedup"]["paper"] == pytest.approx(record["gpoint_steps_per_s"] / paper["gpoint_steps_per_s"])


def test_lists_make_all_combinations(bench):
    equations = "diffusion,hyperdiffusion,cahn-hilliard,forced-cahn-hilliard"
    result = bench(
        *["--equation", equations, "--n", "33,2^6", "--members", "1,9", "--precision", "f64,f32"],
        *["--statistics", "none,domain-size"],
    )
    names = ["equation", "n", "members", "dtype", "statistics"]
    seen = {tuple(record[name] for name in names) for record in result["records"]}
    assert len(seen) == len(result["records"]) == 4 * 2 * 2 * 2 * 2
    for record in result["records"]:
        assert record["lost_members"] == 0 and record["steps"] == 10
        paper = record["rivals"]["paper"]
        assert ("skipped" in paper) == (record["equation"] == equations.split(",")[3] or record["statistics"] != "none")
        # Two programs that share no code take the same steps.
        if "skipped" not in paper:
            assert paper["difference"] < (1e-9 if record["dtype"] == "f64" else 1e-2), record


def test_rivals_can_be_left_out(bench):
    (record,) = bench("--n", "16", "--members", "8", "--rivals", "none")["records"]
    assert record["rivals"] == {} and record["speedup"] == {}


def test_steps_are_chosen_for_a_fifth_of_a_second(bandmill, tmp_path):
    arguments = "--backend cpu --threads 1 --n 16 --members 8 --repetitions 1 --rivals none --quiet --json out.json"
    done = bandmill("bench", "step", *arguments.split())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (record,) = json.loads((tmp_path / "out.json").read_text())["records"]
    assert record["steps"] > 100 and 1e4 < record["time_us"]["median"] < 1e7


def test_table(bandmill):
    done = bandmill(*ONE, "--equation", "diffusion,cahn-hilliard")
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    (head,) = [i for i, line in enumerate(lines) if line.startswith("equation")]
    assert [line.split()[0] for line in lines[head + 1 :]] == ["diffusion", "paper", "cahn-hilliard", "paper"]
    assert len({len(line) for line in lines[head:]}) == 1  # aligned
    assert max(map(len, lines)) <= 140
    assert "one SIMD lane per member   " in done.stdout and "..." not in done.stdout


def test_a_rival_that_cannot_says_why_below_the_table(bandmill):
    done = bandmill(*ONE, "--equation", "cahn-hilliard,forced-cahn-hilliard", "--statistics", "none,domain-size")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.splitlines()[-3:] == [
        "",
        "paper is not beside 2 of 4 cases: without forcing only",
        "paper is not beside 1 of 4 cases: without statistics only",
    ]


def test_list_shows_the_cases_and_runs_nothing(bandmill, tmp_path):
    done = bandmill("bench", "step", "--backend", "cpu", "--list", "--json", "out.json")
    assert done.returncode == 0 and done.stderr == "" and list(tmp_path.iterdir()) == []
    for words in ["cahn-hilliard n=256 members=4096 f64 statistics=none throughput threads=1", "paper"]:
        assert words in done.stdout
    cuda = bandmill("bench", "step", "--backend", "cuda", "--list").stdout
    for words in [
        "cahn-hilliard n=256 members=262144 f64 statistics=domain-size throughput",
        "cahn-hilliard n=300 ",
        "forced-cahn-hilliard n=512 members=131072 f32",
        "hyperdiffusion n=1024 members=65536",
        "cahn-hilliard n=256 members=64 f64 statistics=none latency",
    ]:
        assert words in cuda


def test_cases_beyond_memory_are_skipped(bandmill, tmp_path):
    done = bandmill(*TINY, "--n", "256", "--members", "2^45", "--json", "out.json")
    assert done.returncode == 1 and "every case was skipped" in done.stderr
    (skipped,) = json.loads((tmp_path / "out.json").read_text())["skipped"]
    assert skipped["members"] == 2**45 and "memory" in skipped["reason"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--nonsense", "1"],
        ["stray"],
        ["--equation", "burgers"],
        ["--n", "4"],
        ["--n", "64,"],
        ["--members", "0"],
        ["--members", "many"],
        ["--precision", "f16"],
        ["--statistics", "everything"],
        ["--shape", "round"],
        ["--steps", "0"],
        ["--repetitions", "0"],
        ["--threads", "0"],
        ["--rivals", "numpy"],
        ["--backend", "tpu"],
        ["--shape", "latency", "--backend", "cpu"],
        ["--threads", "2", "--backend", "cuda"],
        ["--gpu", "0", "--backend", "cpu"],
    ],
    ids=" ".join,
)
def test_wrong_values(bandmill, tmp_path, arguments):
    done = bandmill("bench", "step", *arguments, "--json", "out.json")
    assert done.returncode == 2 and done.stdout == "", (done.stdout, done.stderr)
    assert done.stderr.startswith("bandmill: ") and done.stderr.count("\n") == 1
    assert arguments[0] in done.stderr and "bench step --help" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_existing_file_is_kept(bandmill, tmp_path):
    (tmp_path / "out.json").write_text("precious")
    done = bandmill(*ONE, "--json", "out.json")
    assert done.returncode == 2 and "--force-overwrite" in done.stderr
    assert (tmp_path / "out.json").read_text() == "precious"
