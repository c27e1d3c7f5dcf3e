"""bandmill bench solve: what it measures, beside whom, and what it writes."""

import datetime
import json

import pytest

TINY = ["bench", "solve", "--backend", "cpu", "--threads", "2", "--repetitions", "3"]
ONE = TINY + ["--n", "20", "--batch", "50", "--half-bandwidth", "1", "--boundary", "open"]


@pytest.fixture
def bench(bandmill, tmp_path):
    """bench(arguments...) -> the JSON it wrote."""

    def bench(*arguments, **environment):
        done = bandmill(*TINY, *arguments, "--json", "out.json", **environment)
        assert done.returncode == 0, done.stderr
        return json.loads((tmp_path / "out.json").read_text())

    return bench


def test_every_field_of_a_record(bench):
    result = bench(*"--n 2^5 --batch 100 --half-bandwidth 2 --boundary periodic --layout tiled".split())
    assert {"device", "date", "commit", "version", "ceilings", "records", "skipped", "backend", "threads", "isa"} <= (
        result.keys()
    )
    date = datetime.datetime.strptime(result["date"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
    assert abs((datetime.datetime.now(datetime.timezone.utc) - date).total_seconds()) < 600
    assert result["threads"] == 2 and result["skipped"] == []
    (record,) = result["records"]
    wanted = dict(half_bandwidth=2, boundary="periodic", matrix="general", n=32, batch=100, layout="tiled", dtype="f64")
    assert {key: record[key] for key in wanted} == wanted
    assert record["backend"] == "cpu" and record["path"] in ["partitioned", "sequential", "pivoted"]
    time = record["time_us"]
    assert 0 < time["min"] <= time["median"] <= time["max"] and time["repetitions"] == 3
    assert time["solves_per_timing"] == 1  # a CPU's clock needs no groups
    assert record["bytes"] == 16 * 32 * 100
    assert record["field_bytes"] == 8 * 32 * 128  # whole tiles
    assert record["flops"] == (1 + 8 * 2) * 32 * 100
    assert record["held_bytes"] > 0
    assert record["gflops_per_s"] == pytest.approx(record["flops"] / time["median"] / 1e3)
    assert record["gbytes_per_s"] == pytest.approx(record["bytes"] / time["median"] / 1e3)
    assert record["share_of_copy"] == pytest.approx(record["gbytes_per_s"] / record["ceiling_gbytes_per_s"])
    assert 0 <= record["backward_error"] < 20 and record["wrong"] is False
    assert record["in_place"] is True and record["cache_resident"] is True
    assert set(record["rivals"]) == {"paper", "gttrs", "gbtrs"}
    assert set(record["speedup"]) == {name for name, rival in record["rivals"].items() if "skipped" not in rival}
    assert "memory" not in result
    assert record["ceiling_gbytes_per_s"] > 0  # on a CPU measured again beside each case, so not one of the list
    assert all(ceiling["gbytes_per_s"] > 0 for ceiling in result["ceilings"])


def test_lists_make_all_combinations(bench):
    result = bench(
        *["--n", "5,2^4", "--batch", "1,33", "--half-bandwidth", "1,2", "--boundary", "open,periodic"],
        *["--layout", "interleaved,contiguous,tiled", "--precision", "f64,f32", "--matrix", "general,toeplitz"],
        *["--rivals", "none"],
    )
    names = ["n", "batch", "half_bandwidth", "boundary", "layout", "dtype", "matrix"]
    seen = {tuple(record[name] for name in names) for record in result["records"]}
    assert len(seen) == len(result["records"]) == 2 * 2 * 2 * 2 * 3 * 2 * 2
    assert {record["n"] for record in result["records"]} == {5, 16}
    for record in result["records"]:
        assert record["backward_error"] < 20, record
        assert record["bytes"] == (16 if record["dtype"] == "f64" else 8) * record["n"] * record["batch"]


def test_smallest_systems(bench):
    for record in bench("--n", "1,2,3,4", "--batch", "3")["records"]:
        assert record["backward_error"] < 20, record


@pytest.mark.parametrize("placement", ["--in-place", "--out-of-place"])
def test_placement(bench, placement):
    for record in bench("--n", "64", "--batch", "40", placement)["records"]:
        assert record["in_place"] is (placement == "--in-place")
        assert record["backward_error"] < 20


def test_memory_beyond_the_caches_is_not_called_cache_resident(bench):
    (record,) = bench("--n", "1000", "--batch", "20000", "--half-bandwidth", "1", "--boundary", "open")["records"]
    assert record["cache_resident"] is False and record["backward_error"] < 20


def test_sigma_is_recorded(bench):
    assert {r["sigma"] for r in bench("--n", "9", "--batch", "2", "--sigma", "0.25")["records"]} == {0.25}


def test_sigma_defaults_to_stiff_hyperdiffusion(bench):
    result = bench("--n", "9", "--batch", "2", "--boundary", "open")
    assert {r["half_bandwidth"]: r["sigma"] for r in result["records"]} == {1: 1, 2: 1e6}


def test_cases_beyond_max_bytes_are_skipped(bench):
    result = bench("--n", "16", "--batch", "2^4,2^10", "--max-bytes", "2^14", "--boundary", "open")
    assert {record["batch"] for record in result["records"]} == {16}
    assert {skipped["batch"] for skipped in result["skipped"]} == {1024}
    assert all("--max-bytes" in skipped["reason"] for skipped in result["skipped"])


@pytest.mark.parametrize("n, batch", [("1024", "2^45"), ("2^40", "2^40"), ("2^50", "1"), ("1", "2^62")])
def test_nothing_but_cases_beyond_memory_is_a_failure(bandmill, tmp_path, n, batch):
    done = bandmill(*TINY, "--n", n, "--batch", batch, "--json", "out.json")
    assert done.returncode == 1 and "every case was skipped" in done.stderr
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["records"] == [] and len(result["skipped"]) == 4


def test_table(bandmill):
    done = bandmill(*TINY, "--n", "16,32", "--batch", "64")
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert "GB/s" in done.stdout and "ceiling" in done.stdout
    (head,) = [i for i, line in enumerate(lines) if line.split()[:2] == ["W", "boundary"]]
    end = lines.index("", head)
    table, absent = lines[head + 1 : end], lines[end + 1 :]
    assert len([line for line in table if line[1] in "12"]) == 8
    assert len([line for line in table if " paper " in line and line.endswith("x")]) == 8
    assert len({len(line) for line in lines[head:end]}) == 1  # aligned
    assert all(" is not beside " in line for line in absent) and any("open only" in line for line in absent)
    assert max(map(len, lines)) <= 130


def test_every_rival_is_right(bench):
    arguments = "--n 6,7,40 --batch 1,50 --layout tiled --precision f64,f32 --matrix general,toeplitz --sigma 1"
    seen = set()
    for record in bench(*arguments.split())["records"]:
        for name, rival in record["rivals"].items():
            if "skipped" in rival:
                assert name not in record["speedup"]
                continue
            seen.add((name, record["half_bandwidth"], record["boundary"], record["dtype"]))
            # Sherman-Morrison and Navon's border lose a few digits, not many on so mild a matrix.
            assert rival["backward_error"] < 20 and rival["wrong"] is False, (name, record)
            assert rival["layout"] == ("interleaved" if name == "paper" else "contiguous")
            assert rival["in_place"] is True and rival["held_bytes"] > 0 and rival["path"]
            assert record["speedup"][name] == pytest.approx(rival["time_us"]["median"] / record["time_us"]["median"])
            assert rival["gbytes_per_s"] == pytest.approx(record["bytes"] / rival["time_us"]["median"] / 1e3)
    for dtype in ["f64", "f32"]:
        assert {("paper", w, b, dtype) for w in (1, 2) for b in ("open", "periodic")} <= seen
        if any(name == "gttrs" for name, *_ in seen):  # LAPACK is in this build
            assert {("gttrs", 1, "open", dtype), ("gbtrs", 1, "open", dtype), ("gbtrs", 2, "open", dtype)} <= seen


def test_rivals_that_do_not_apply_say_why(bench):
    for record in bench("--n", "5", "--batch", "9")["records"]:
        reasons = {name: rival.get("skipped") for name, rival in record["rivals"].items()}
        assert reasons["paper"] == "needs at least 6 rows"
        if not any((reason or "").startswith("not built") for reason in reasons.values()):
            assert (reasons["gttrs"] is None) == (record["half_bandwidth"] == 1 and record["boundary"] == "open")
            assert (reasons["gbtrs"] is None) == (record["boundary"] == "open")


def test_rivals_are_measured_once_for_all_layouts(bench):
    case = "--n 30 --batch 40 --half-bandwidth 1 --boundary open --layout interleaved,contiguous,tiled"
    records = bench(*case.split())["records"]
    assert len(records) == 3
    assert all(record["rivals"] == records[0]["rivals"] for record in records)


def test_rivals_by_name(bench):
    one = ["--n", "30", "--batch", "40", "--half-bandwidth", "1", "--boundary", "open"]
    assert bench(*one, "--rivals", "none")["records"][0]["rivals"] == {}
    (record,) = bench(*one, "--rivals", "gbtrs,paper", "--force-overwrite")["records"]
    assert set(record["rivals"]) == {"paper", "gbtrs"}


def test_rivals_beyond_max_bytes_are_skipped(bench):
    # The field fits exactly; the rival's factor beside it does not.
    (record,) = bench(*"--n 16 --batch 32 --half-bandwidth 1 --boundary open --max-bytes 2^12".split())["records"]
    assert "--max-bytes" in record["rivals"]["paper"]["skipped"]


def test_memory(bench):
    memory = bench("--n", "16", "--batch", "16", "--memory")["memory"]
    assert memory["free_bytes"] > 0
    entries = {(e["half_bandwidth"], e["n"], e["contestant"]): e for e in memory["entries"]}
    assert len(entries) == len(memory["entries"]) == 2 * 2 * 4
    for (_, n, contestant), entry in entries.items():
        if "skipped" in entry:
            continue
        assert entry["batch"] == 65536 and entry["dtype"] == "f64" and entry["boundary"] == "open"
        assert entry["bytes_per_system"] == 8 * n
        assert entry["bytes_held"] == 65536 * 8 * n + entry["shared_bytes"]
        assert 0 < entry["largest_batch"] * 8 * n <= memory["free_bytes"]
        assert memory["free_bytes"] < (entry["largest_batch"] + 1) * 8 * n + 2**23  # whole pages
        assert entry["largest_batch_limit"] == "memory" and entry["proved_by_allocation"] is False
        assert (entry["reduction_percent"] is None) == (contestant == "bandmill")


def test_list_shows_the_cases_and_rivals_and_runs_nothing(bandmill, tmp_path):
    done = bandmill("bench", "solve", "--backend", "cpu", "--list", "--json", "out.json")
    assert done.returncode == 0 and done.stderr == "" and list(tmp_path.iterdir()) == []
    for word in ["W=1 open general n=256", "gttrs", "gbtrs", "paper"]:
        assert word in done.stdout
    cuda = bandmill("bench", "solve", "--backend", "cuda", "--list").stdout
    for word in ["batch=1048576", "gtsvInterleavedBatch+reset", "gpsvInterleavedBatch", "gtsv2StridedBatch"]:
        assert word in cuda


def test_quiet(bandmill, tmp_path):
    done = bandmill(*ONE, "--quiet", "--json", "out.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads((tmp_path / "out.json").read_text())["records"]


@pytest.mark.parametrize(
    "case",
    ["solve --n 16 --batch 32", "own --n 16 --batch 32", "step --n 16 --members 8", "stencil --size 32x32",
     "plane --points 16", "diffusion --n 16 --members 8 --steps 9"],
)  # fmt: skip
def test_json_on_standard_output_stands_alone(bandmill, tmp_path, case):
    done = bandmill("bench", *case.split(), *"--backend cpu --threads 1 --repetitions 1 --rivals none --json -".split())
    assert done.returncode == 0 and done.stderr == "" and list(tmp_path.iterdir()) == []
    assert json.loads(done.stdout)["records"]
