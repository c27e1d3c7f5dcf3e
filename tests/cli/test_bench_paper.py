"""bandmill bench diffusion and hyperdiffusion: what they print, what they write, and how they refuse."""

import json
import re

import pytest

EQUATIONS = ["diffusion", "hyperdiffusion"]
TINY = ["--backend", "cpu", "--threads", "2", "--steps", "30", "--repetitions", "2"]
WAYS = ["resident", "one-solve", "paper", "lapack"]


@pytest.fixture
def bench(bandmill, tmp_path):
    """bench(equation, arguments...) -> the JSON it wrote."""

    def bench(equation, *arguments):
        done = bandmill("bench", equation, *TINY, *arguments, "--json", "out.json", "--force-overwrite")
        assert done.returncode == 0, done.stderr
        return json.loads((tmp_path / "out.json").read_text())

    return bench


def has_lapack(record):
    return "not built" not in record["ways"]["lapack"].get("skipped", "")


@pytest.mark.parametrize("equation", EQUATIONS)
def test_help_names_every_option(bandmill, equation):
    done = bandmill("bench", equation, "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert max(map(len, done.stdout.splitlines())) <= 120
    for option in (
        "backend gpu threads n members steps repetitions most-seconds rivals list json force-overwrite quiet"
    ).split():
        assert re.search(rf"--{option}\b", done.stdout), option


@pytest.mark.parametrize("equation", EQUATIONS)
def test_every_field_of_a_record(bench, equation):
    result = bench(equation, "--n", "16", "--members", "70")
    assert result["benchmark"] == equation and result["backend"] == "cpu" and result["skipped"] == []
    assert {"device", "date", "commit", "version", "compiler", "build_type", "isa", "load_average"} <= result.keys()
    assert (result["threads"], result["steps"]) == (2, 30)
    (record,) = result["records"]
    wanted = dict(equation=equation, n=16, members=70, dtype="f64", backend="cpu", threads=2, shape="throughput")
    wanted.update(steps=30, length=1, state_bytes=16 * 70 * 8, members_per_slice=70)
    assert {key: record[key] for key in wanted} == wanted
    dx = 1 / 16
    assert record["time_step"] == pytest.approx(0.1 * dx)
    assert record["sigma"] == pytest.approx(0.05 * dx / dx ** (2 if equation == "diffusion" else 4))
    assert list(record["ways"]) == WAYS
    for name, way in record["ways"].items():
        if "skipped" in way:
            assert name == "lapack" and not has_lapack(record)
            continue
        time = way["time_ms"]
        assert way["path"] and 0 < time["min"] <= time["median"] <= time["max"] and time["repetitions"] == 2
        assert way["timed_steps"] == 30 and way["scaled"] is False and way["wrong"] is False
        assert way["held_bytes"] >= record["state_bytes"] * (1 if name == "resident" else 2)
        assert way["difference"] < 1e-9 and (name != "resident" or way["difference"] == 0)
    for way, speedups in record["speedup"].items():
        for rival, speedup in speedups.items():
            times = [record["ways"][name]["time_ms"]["median"] for name in (rival, way)]
            assert rival != way and speedup == pytest.approx(times[0] / times[1])
    assert {"one-solve", "paper"} <= record["speedup"]["resident"].keys() and record["speedup"]["one-solve"]["paper"] > 0


@pytest.mark.parametrize("equation", EQUATIONS)
def test_ways_that_share_no_code_end_alike(bench, equation):
    # Fewer members than are compared, as many, and more; sizes that no vector divides.
    result = bench(equation, "--n", "6,33,2^7", "--members", "1,61,62,150")
    assert len({(r["n"], r["members"]) for r in result["records"]}) == len(result["records"]) == 12
    for record in result["records"]:
        for name, way in record["ways"].items():
            if "skipped" in way:
                assert name == "lapack" and not has_lapack(record)
                continue
            # What goes through the inverse loses digits by the stiffness of the matrix.
            assert way["difference"] <= 1e-14 * (1 + record["sigma"]) * 50 and not way["wrong"], (record["n"], name, way)


def test_few_points_are_too_few_for_the_border(bench):
    (record,) = bench("hyperdiffusion", "--n", "5", "--members", "3")["records"]
    assert "at least 6" in record["ways"]["paper"]["skipped"] and "time_ms" in record["ways"]["one-solve"]
    if has_lapack(record):
        assert "at least 6" in record["ways"]["lapack"]["skipped"]


def test_long_runs_are_scaled_and_say_so(bandmill, tmp_path):
    arguments = ["--backend", "cpu", "--threads", "1", "--n", "64", "--members", "64", "--steps", "2^22"]
    done = bandmill("bench", "diffusion", *arguments, "--most-seconds", "0.01", "--rivals", "paper", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    (record,) = json.loads((tmp_path / "out.json").read_text())["records"]
    for way in record["ways"].values():
        assert way["scaled"] is True and 1 <= way["timed_steps"] < 2**22
        assert way["time_ms"]["median"] > 10 and way["wrong"] is False
    assert re.search(r"^ +64 +64 +~[0-9]+ +~[0-9]+ \|", done.stdout, re.MULTILINE)


def test_table(bandmill):
    done = bandmill("bench", "diffusion", *TINY, "--n", "16,32", "--members", "8,9")
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    (head,) = [i for i, line in enumerate(lines) if line.split()[:2] == ["n", "members"]]
    columns = "resident one-solve paper lapack | one-solve paper lapack | paper lapack".split()
    assert lines[head].split()[2:] == columns
    rows = [line for line in lines[head + 1 :] if "lapack:" not in line]
    assert [line.split()[:2] for line in rows] == [["16", "8"], ["16", "9"], ["32", "8"], ["32", "9"]]
    assert len({len(line) for line in [lines[head - 1], lines[head], *rows]}) == 1  # aligned
    assert max(map(len, lines)) <= 120 and "30 steps" in done.stdout


def test_rivals_can_be_chosen(bench):
    (record,) = bench("diffusion", "--n", "16", "--members", "8", "--rivals", "none")["records"]
    assert list(record["ways"]) == ["resident"] and record["speedup"] == {"resident": {}}
    (record,) = bench("diffusion", "--n", "16", "--members", "8", "--rivals", "paper")["records"]
    assert list(record["ways"]) == ["resident", "paper"]
    (record,) = bench("diffusion", "--n", "16", "--members", "8", "--rivals", "paper,one-solve,paper")["records"]
    assert list(record["ways"]) == ["resident", "one-solve", "paper"]


def test_quiet_is_quiet(bandmill):
    done = bandmill("bench", "hyperdiffusion", *TINY, "--n", "16", "--members", "8", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("equation", EQUATIONS)
def test_list_shows_the_cases_and_runs_nothing(bandmill, tmp_path, equation):
    done = bandmill("bench", equation, "--backend", "cpu", "--list", "--json", "out.json")
    assert done.returncode == 0 and done.stderr == "" and list(tmp_path.iterdir()) == []
    assert "11 cases on cpu" in done.stdout and "lapack" in done.stdout
    assert f"{equation} n=1024 members=1024 " in done.stdout and "n=1024 members=4096" not in done.stdout
    cuda = bandmill("bench", equation, "--backend", "cuda", "--list").stdout
    assert "21 cases on cuda" in cuda and "cusparse" in cuda
    for n in (64, 256, 1024):
        for members in (64, 256, 1024, 4096, 16384, 65536, 1048576):
            assert f"{equation} n={n} members={members} f64" in cuda


def test_cases_beyond_memory_are_skipped(bandmill, tmp_path):
    done = bandmill("bench", "diffusion", *TINY, "--n", "256", "--members", "2^45", "--json", "out.json")
    assert done.returncode == 1 and "every case was skipped" in done.stderr
    (skipped,) = json.loads((tmp_path / "out.json").read_text())["skipped"]
    assert skipped["members"] == 2**45 and "memory" in skipped["reason"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--nonsense", "1"],
        ["stray"],
        ["--n", "4"],
        ["--n", "64,"],
        ["--members", "0"],
        ["--members", "many"],
        ["--steps", "0"],
        ["--repetitions", "0"],
        ["--most-seconds", "0"],
        ["--most-seconds", "soon"],
        ["--threads", "0"],
        ["--threads", "1,2"],
        ["--rivals", "numpy"],
        ["--rivals", "cusparse", "--backend", "cpu"],
        ["--backend", "tpu"],
        ["--threads", "2", "--backend", "cuda"],
        ["--gpu", "0", "--backend", "cpu"],
    ],
    ids=" ".join,
)
def test_wrong_values(bandmill, tmp_path, arguments):
    done = bandmill("bench", "hyperdiffusion", *arguments, "--json", "out.json")
    assert done.returncode == 2 and done.stdout == "", (done.stdout, done.stderr)
    assert done.stderr.startswith("bandmill: ") and done.stderr.count("\n") == 1
    assert arguments[0] in done.stderr and "bench hyperdiffusion --help" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_existing_file_is_kept(bandmill, tmp_path):
    (tmp_path / "out.json").write_text("precious")
    done = bandmill("bench", "diffusion", *TINY, "--n", "16", "--members", "8", "--json", "out.json")
    assert done.returncode == 2 and "--force-overwrite" in done.stderr
    assert (tmp_path / "out.json").read_text() == "precious"
