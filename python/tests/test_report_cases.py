"""bandmill.report: what it refuses, and what the page says of planes, forced runs, diffusion, single runs, no fit."""

import subprocess

import pytest

from report_files import BENCHES, PROGRAM, needs_program

h5py = pytest.importorskip("h5py", reason="h5py is not installed (script/setup installs it)")
pytest.importorskip("plotly", reason="plotly is not installed (script/setup installs it)")

from bandmill.report import ReportError, page, write_report  # noqa: E402

CASES = {
    "one.nc": "coarsen --members 1 --points 64 --until 1",
    "short.nc": "coarsen --members 4 --points 64 --until 0.3",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("cases")
    for name, words in CASES.items():
        command = [PROGRAM, *words.split(), "--threads", "1", "--quiet", "--out", name]
        subprocess.run(command, cwd=place, check=True, timeout=120)
    return place


def test_only_pages_are_replaced(tmp_path):
    results = tmp_path / "step.json"
    content = (BENCHES / "h200-step.json").read_bytes()
    results.write_bytes(content)
    link = tmp_path / "link.html"
    link.symlink_to(results)
    other = tmp_path / "other.html"
    other.write_text("notes\n")
    for out, words in ((results, "one of the files"), (link, "one of the files"), (other, "no HTML page")):
        with pytest.raises(ReportError, match=words):
            write_report([results], out)
    with pytest.raises(ReportError, match="cannot be written"):
        write_report([results], tmp_path)
    assert results.read_bytes() == content and other.read_text() == "notes\n" and link.is_symlink()
    for before in ("", "<!doctype HTML>\n<p>an older page"):
        other.write_text(before)
        assert write_report([results], other) == other.stat().st_size > 1e6
