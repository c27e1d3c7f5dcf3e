"""What the tests of reports share: files that the program writes, pages of them, a browser."""

import os
import pathlib
import subprocess

import pytest

import browser
from bandmill.report import write_report

PROGRAM = str(pathlib.Path(os.environ["BANDMILL_BIN"], "bandmill")) if os.environ.get("BANDMILL_BIN") else ""
BENCHES = pathlib.Path(__file__).parents[2] / "bench" / "results"
needs_program = pytest.mark.skipif(not PROGRAM, reason="BANDMILL_BIN does not name the program's folder (ctest sets it)")
needs_browser = pytest.mark.skipif(browser.executable() is None, reason="chromium is not installed (script/setup does)")

STUDIES = {
    "short.nc": "coarsen --members 32 --points 128 --until 4 --histogram-times 1,2,4",
    "long.nc": "coarsen --members 16 --points 256 --length 4pi --until 4 --samples log:60",
    "run.nc": "simulate --equation forced-cahn-hilliard --members 3 --forcing 0:2 --points 64 --dt 0.001 "
    "--until 4 --save-every 0.25",
    "map.nc": "map --grid 24x16 --points 64 --until 6 --speed 0.5,1 --keep-states 6x4",
    "bare.nc": "map --grid 5x1 --x gamma --y speed --gamma 0.01:0.03 --speed 0.5:1 --mean 0.2 --forcing 0.8 --points 32 "
    "--until 1 --keep-states 0x0 --kmeans-restarts 0",
    "order.nc": "converge --equation diffusion --points 32:128 --json order.json",
}


@pytest.fixture(scope="session")
def study_folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("studies")
    for name, words in STUDIES.items():
        command = [PROGRAM, *words.split(), "--threads", "1", "--quiet", "--out", name]
        subprocess.run(command, cwd=place, check=True, timeout=120)
    return place


@pytest.fixture(scope="session")
def chromium():
    opened = browser.Browser()
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def studies_page(study_folder):
    """All studies in one page: s0 growth, s1 fields, s2 and s3 maps, s4 convergence."""
    out = study_folder / "studies.html"
    write_report(
        [study_folder / name for name in ("short.nc", "long.nc", "run.nc", "map.nc", "bare.nc", "order.nc")], out
    )
    return out
