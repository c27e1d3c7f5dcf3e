"""What the docs show is run as it stands there: the program's commands, and the Python between them, page by page.

Commands marked "about a minute" are only tried (--dry-run); those that go on "after Ctrl-C" must be understood. C++ is
compiled and run by tests/install and tests/equations, docs/python.md by python/tests. What needs a GPU or a cluster is
marked by a comment before the block, <!-- not run: why -->, and left out.
"""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from studies import BIN, ENVIRONMENT, SANITIZED

ROOT = pathlib.Path(os.environ["SOURCE_DIR"])
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULE = BIN.parents[1] / "python"
# Who else runs blocks of a page: all of a language.
ELSEWHERE = {
    # tests/install, tests/equations, test_examples.py
    "cpp": {"README.md", "solver.md", "stencils.md", "planes.md", "ensembles.md", "equations.md", "examples.md"},
    "cuda": {"stencils.md"},  # tests/stencil, where there is nvcc
    "cmake": {"README.md", "fortran.md"},  # tests/install
    "c": {"README.md", "c.md"},  # tests/c
    "fortran": {"README.md", "fortran.md"},  # tests/fortran
    "python": {"README.md", "python.md", "figures.md", "examples.md"},  # python/tests, test_examples.py
}
# Lines of shell that are no commands of the program, and who runs them.
OTHER_COMMANDS = re.compile(
    # a user's first steps: continuous integration and tests/install; the report: python/tests
    r"script/(demo|test)\b|pip install \.|cmake |g\+\+ |gcc |gfortran |bandmill-report "
)


def blocks(page):
    """Language, text, and the mark before it if there is one."""
    pattern = r"(?:<!-- not run: ([^>]*) -->\n)?^```(\w*)\n(.*?)^```"
    for mark, language, text in re.findall(pattern, page.read_text(), re.DOTALL | re.MULTILINE):
        yield language, text, mark


def is_run_here(page, language):
    return language == "sh" or (language == "python" and page.name not in ELSEWHERE["python"])


def test_every_block_is_run_by_some_test():
    for page in PAGES:
        for language, text, mark in blocks(page):
            known = language == "text" or page.name in ELSEWHERE.get(language, ()) or is_run_here(page, language)
            assert known or mark, (page.name, language, text)
            if language == "sh" and not mark:
                for line in text.replace("\\\n", " ").splitlines():
                    assert re.match(r"(mpirun .*)?bandmill |#|$", line) or OTHER_COMMANDS.match(line), (page.name, line)


def run_command(line, folder):
    command, _, remark = line.partition("#")
    if "mpirun" in command and shutil.which("mpirun") is None:
        return
    if "about" in remark:
        command += " --dry-run"
    environment = {**ENVIRONMENT, "PATH": f"{BIN.parent}:{ENVIRONMENT['PATH']}"}
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
    if "after Ctrl-C" in remark:
        assert "No such file" in done.stderr
    else:
        assert done.returncode == 0, (command, done.stdout, done.stderr)


def run_python(text, folder):
    """False if what it imports is not here."""
    names = re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)
    if ".plot" in text:
        names.append("matplotlib")
    for name in names:
        if name == "bandmill":
            if SANITIZED or not list((MODULE / "bandmill").glob("_bandmill.*")):
                return False  # the module is not built here
        elif importlib.util.find_spec(name) is None:
            return False
    if "open_dataset" in text and not any(map(importlib.util.find_spec, ("netCDF4", "h5netcdf"))):
        return False  # xarray alone reads no such files
    environment = {**ENVIRONMENT, "PYTHONPATH": str(MODULE), "MPLBACKEND": "agg"}
    done = subprocess.run([sys.executable, "-c", text], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (text, done.stdout, done.stderr)
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(tmp_path, page):
    if SANITIZED and page.name not in ("README.md", "studies.md", "planes.md"):
        pytest.skip("takes minutes under sanitizers; what it runs is in the other pages, too")
    for language, text, mark in blocks(page):
        if mark or not is_run_here(page, language):
            continue
        if language == "python":
            if not run_python(text, tmp_path):
                return  # what follows may need what it would have made
            continue
        for line in text.replace("\\\n", " ").splitlines():
            if re.match(r"(mpirun .*)?bandmill ", line):
                run_command(line, tmp_path)


def test_the_page_of_commands_is_up_to_date():
    subprocess.run([sys.executable, ROOT / "script" / "commands_page.py", BIN, "--check"], check=True)
