"""script/gpu-check with stand-ins for a GPU and all tools: what runs, what it says, what it keeps of earlier runs."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = "bash cat date dirname env git grep head mkdir mv nproc rm sed sleep tail timeout touch tr".split()
BANDMILL = """while [ $# -gt 0 ]; do if [ $1 = --json ]; then file=$2; fi; shift; done
if [ -n "${FAILING-}" ]; then echo broken; exit 3; fi
echo new >"$file" """


@pytest.fixture
def check(tmp_path):
    """check(arguments...) -> CompletedProcess of a copy of the script, in a checkout that has nothing else."""
    stand_ins, build = tmp_path / "tools", tmp_path / "build/release/bin"
    for folder in stand_ins, build, tmp_path / "script":
        folder.mkdir(parents=True)
    for name in "gpu-check", "common.sh":
        shutil.copy(ROOT / "script" / name, tmp_path / "script")
    for name in filter(shutil.which, TOOLS):  # without git the commit is unknown
        (stand_ins / name).symlink_to(shutil.which(name))

    def write(path, text):
        path.write_text("#!/usr/bin/env bash\n" + text)
        path.chmod(0o755)

    write(stand_ins / "nvidia-smi", 'echo "${SMI_SAYS-NVIDIA H200}"; exit ${SMI_STATUS-0}')
    write(stand_ins / "nvcc", "echo release 12.9,")
    for name in "cmake", "ninja", "ctest":
        write(stand_ins / name, f"echo {name} ran")
    write(build / "bandmill", BANDMILL)

    def check(*arguments, **environment):
        return subprocess.run(
            [tmp_path / "script/gpu-check", *arguments],
            env={"PATH": str(stand_ins), **environment},
            cwd="/",
            capture_output=True,
            text=True,
            timeout=60,
        )

    return check


def results(done):
    """{stage: result} of the table at the end."""
    lines = done.stdout[done.stdout.index("\nstage ") :].splitlines()[2:]
    return {line.split()[0]: line[23:35].strip() for line in lines if line[-1].isdigit()}


def test_a_gpu_that_does_not_answer_is_told(check):
    done = check(SMI_STATUS="9", SMI_SAYS="couldn't communicate with the driver")
    assert done.returncode == 1 and "nvidia-smi failed" in done.stderr and "couldn't communicate" in done.stderr
    assert "lists no GPU" in check(SMI_SAYS="").stderr


def test_only_what_is_asked_for_runs(check, tmp_path):
    done = check("--only", "^bench-own$")
    assert done.returncode == 0, done.stdout + done.stderr
    assert results(done) == {"configure": "ok", "build": "ok", "bench-own": "ok"}
    assert (tmp_path / "bench/results/h200-own.json").read_text() == "new\n"


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["nosuch"], "--only 'nosuch', without --cpu, without --profile\n"),
        (["profile", "--cpu"], "--only 'profile', without --profile\n"),
        (["tests", "--skip-tests", "--cpu", "--profile"], "--only 'tests', with --skip-tests\n"),
        (["bench", "--skip-bench"], "--only 'bench', with --skip-bench, without --cpu, without --profile\n"),
    ],
)
def test_a_check_of_nothing_names_the_options(check, arguments, words):
    done = check("--only", *arguments)
    assert done.returncode == 2 and f"nothing was checked: no stage's name matches {words}" in done.stderr


def test_sanitizers_are_missed_where_they_are_asked_for(check):
    done = check("--only", "memcheck-stencil")
    assert done.returncode == 1 and results(done)["sanitizers"] == "not found"
    assert results(check())["sanitizers"] == "not found"
    assert "sanitizers" not in results(check("--skip-sanitizers"))


def test_what_cannot_run_is_in_the_table(check):
    for stage, why in ("python-cuda", "not built"), ("arrays-cuda", "no python3"):
        done = check("--only", stage)
        assert done.returncode == 0 and results(done)[stage] == why, done.stdout + done.stderr


@pytest.mark.parametrize("arguments, words", [(["--only", "("], "regular expression"), (["--only"], "value")])
def test_wrong_usage(check, arguments, words):
    done = check(*arguments)
    assert done.returncode == 2 and words in done.stderr and done.stdout == ""


def test_logs_of_other_stages_stay(check, tmp_path):
    check("--only", "tests|bench-own")
    logs = tmp_path / "build/gpu-check"
    (logs / "tests.log").write_text("of the visit before")
    (logs / "coarsen.nc").write_text("of the visit before")
    check("--only", "bench-step")
    assert (logs / "tests.log").read_text() == (logs / "coarsen.nc").read_text() == "of the visit before"
    check("--only", "tests")
    assert "ctest ran" in (logs / "tests.log").read_text()
    check(SMI_STATUS="9")
    assert (logs / "tests.log").exists()


def test_results_of_an_earlier_run_are_told(check, tmp_path):
    check("--only", "bench-own$|study-map$")
    done = check("--only", "bench-own$|study-map$", FAILING="yes")
    assert done.returncode == 1 and results(done)["bench-own"] == "failed (3)"
    for name in "own", "map":
        assert f"not replaced, of an earlier run: bench/results/h200-{name}.json\n" in done.stdout
    assert "earlier run" not in check("--only", "bench-step", FAILING="yes").stdout


def test_counters_have_a_file_of_the_gpu(check, tmp_path):
    ncu = tmp_path / "tools/ncu"
    columns = [f"other{i}" for i in range(10)] + ["gpu__time_duration.sum"]
    table = [columns, ["ns"] * len(columns), ["7"] * len(columns)]
    ncu.write_text("#!/usr/bin/env bash\n" + "".join(f"echo '{','.join(row)}'\n" for row in table))
    ncu.chmod(0o755)
    (tmp_path / "tools/python3").symlink_to(sys.executable)
    shutil.copy(ROOT / "script/ncu_lines.py", tmp_path / "script")
    done = check("--only", "profile", "--profile")
    assert results(done)["profile"] == "ok", done.stdout
    assert sorted(path.name for path in (tmp_path / "bench/results").iterdir()) == ["h200-profile.csv"]
    counters = (tmp_path / "bench/results/h200-profile.csv").read_text().splitlines()
    assert counters[1] == '"solve, n = 64, W = 1, interleaved, f64","gpu__time_duration.sum","ns","7"'


def test_counters_replace_a_file_only_when_they_are_there(check, tmp_path):
    counters = tmp_path / "bench/results/h200-profile.csv"
    counters.parent.mkdir(parents=True)
    counters.write_text("precious")
    done = check("--only", "profile", "--profile")
    assert results(done)["profile"] == "failed (1)" and counters.read_text() == "precious"
    assert f"earlier run: bench/results/{counters.name}" in done.stdout
