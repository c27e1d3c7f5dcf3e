"""script/reproduction at its smallest scale: the page has every table and figure of the paper, with the right numbers."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from studies import BIN, ENVIRONMENT, SANITIZED

ROOT = pathlib.Path(os.environ["SOURCE_DIR"])
MODULE = BIN.parents[1] / "python"
for name in ("h5py", "matplotlib"):
    pytest.importorskip(name)
if SANITIZED or not list((MODULE / "bandmill").glob("_bandmill.*")):
    pytest.skip("the Python module is not built here", allow_module_level=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("reproduction")
    command = [sys.executable, ROOT / "script" / "reproduction", "--bandmill", BIN, "--scale", "tiny", "--out", out,
               "--backend", "cpu"]  # fmt: skip
    done = subprocess.run(command, env={**ENVIRONMENT, "PYTHONPATH": str(MODULE)}, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-3000:])
    return out


def test_every_table_and_figure_is_there(folder):
    page = (folder / "index.md").read_text()
    for number in range(1, 15):
        assert re.search(rf"Figures? .*\b{number}\b", page), number
    for number in range(1, 5):
        assert f"**Table {number}**" in page
    images = re.findall(r"\]\((images/[^)]+)\)", page)
    assert len(images) == 13
    for image in images:
        assert (folder / image).stat().st_size > 5000, image
        assert (folder / "figures" / pathlib.Path(image).name).with_suffix(".pdf").exists()


def test_no_row_of_the_paper_is_missing(folder):
    page = (folder / "index.md").read_text()
    tables = [block for block in page.split("\n\n") if block.startswith("| ")]
    assert max(len(table.splitlines()) for table in tables) >= 11  # head, line, nine rows
    for value in ("97.0", "46,175", "369.9", "38,408", "0.0310", "4.54e-6", "0.0013", "2.88e-5", "0.9989", "0.9996"):
        assert value in page, value
    errata = page.partition("## Errata")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\| \d+ \|", errata, re.MULTILINE)) == 11


def test_numbers_are_those_of_the_runs(folder):
    page = (folder / "index.md").read_text()
    # The paper's own digits at N = 128 and 256, which this scale runs, too; and the downwind scheme's.
    assert re.search(r"\| 128 \| 0.0310 \| 3.7932 \| 3.1018e-02 \| 3.7932 \|", page)
    assert re.search(r"\| 256 \| 0.0013 \| 2.8363 \| 6.79\d\de-04 \|  \| 1.279\de-03 \|", page)
    run = json.loads((folder / "data" / "diffusion.json").read_text())
    (record,) = [r for r in run["records"] if (r["n"], r["members"]) == (64, 64)]
    median = record["ways"]["resident"]["time_ms"]["median"]
    shown = f"{median:,.{2 if median < 10 else 1}f}"
    assert f"| {shown} |" in re.search(r"^\| 2\^6 \| 64 \|.*$", page, re.MULTILINE).group(0)


def test_the_page_stands_alone(folder):
    page = (folder / "reproduction.html").read_text()
    assert page.count('src="data:image/png;base64,') == 13
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert page.count("<tr") == page.count("</tr>") and page.rstrip().endswith("</html>")


def test_what_is_there_is_not_run_again(folder):
    before = {file.name: file.stat().st_mtime_ns for file in (folder / "data").glob("*.nc")}
    command = [sys.executable, ROOT / "script" / "reproduction", "--bandmill", BIN, "--scale", "tiny", "--out", folder,
               "--backend", "cpu"]  # fmt: skip
    subprocess.run(command, env={**ENVIRONMENT, "PYTHONPATH": str(MODULE)}, check=True, capture_output=True)
    assert before == {file.name: file.stat().st_mtime_ns for file in (folder / "data").glob("*.nc")}
