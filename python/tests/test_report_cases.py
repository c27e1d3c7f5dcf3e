"""bandmill.report: what it refuses, and what the page says of planes, forced runs, diffusion, single runs, no fit."""

import html
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from report_files import BENCHES, PROGRAM, needs_browser, needs_program

h5py = pytest.importorskip("h5py", reason="h5py is not installed (script/setup installs it)")
pytest.importorskip("plotly", reason="plotly is not installed (script/setup installs it)")

import bandmill.report  # noqa: E402
from bandmill.report import ReportError, page, write_report  # noqa: E402
from bandmill.report.page import names_of  # noqa: E402

CASES = {
    "plane.nc": "coarsen --dimensions 2 --members 4 --points 32x48 --length 2pix3pi --until 1 --dt 0.004 "
    "--json plane.json",
    "plane1.nc": "coarsen --dimensions 2 --members 1 --points 32 --length 2pi --until 1 --dt 0.004",
    "plane0.nc": "coarsen --dimensions 2 --members 2 --points 32 --length 2pi --until 0.1 --dt 0.004 --fit 1:2",
    "still.nc": "simulate --points 32 --until 1 --save-every 0.25",
    "forced.nc": "simulate --equation forced-cahn-hilliard --points 32 --dt 0.001 --until 1 --save-every 0.25",
    "map.nc": "map --grid 3x2 --points 32 --until 1 --keep-states 3x2",
    "diffusion.nc": "simulate --equation diffusion --points 32 --until 1 --save-every 0.25",
    "hyperdiffusion.nc": "simulate --equation hyperdiffusion --points 32 --until 1 --save-every 0.25",
    "one.nc": "coarsen --members 1 --points 64 --until 1",
    "few.nc": "coarsen --members 8 --points 64 --until 1",
    "short.nc": "coarsen --members 4 --points 64 --until 0.3",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("cases")
    for name, words in CASES.items():
        command = [PROGRAM, *words.split(), "--threads", "1", "--quiet", "--out", name]
        subprocess.run(command, cwd=place, check=True, timeout=120)
    return place


def sections(*files):
    """The texts of the page's sections, by title, without markup; of the first file of each kind only."""
    text = page(files)
    found = re.findall(r'<section [^>]*><h2[^>]*>(.*?)</h2>(.*?)<details', text, re.DOTALL)
    return {html.unescape(title): html.unescape(re.sub("<[^>]*>", " ", body)) for title, body in found}


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


@needs_program
@needs_browser
def test_planes_have_their_law(folder, chromium):
    names = ("plane.nc", "one.nc", "plane1.nc", "plane0.nc", "plane.json")
    write_report([folder / name for name in names], folder / "p.html")
    chromium.size(1280, 900)
    chromium.open(folder / "p.html")
    assert chromium.evaluate("document.body.dataset.errors") is None
    assert chromium.evaluate("[...document.querySelectorAll('h2')].map(h => h.textContent)") == [
        "Growth of domains in planes",
        "Growth of domains",
    ]
    for axis in ("xaxis", "yaxis", "xaxis2", "yaxis2"):
        assert chromium.evaluate(f"document.getElementById('s0-powers').layout.{axis}.type") == "log"
    shown = "document.getElementById('s0-powers').data.map(t => [t.name || '', t.x, t.y, t.yaxis || 'y'])"
    traces = chromium.evaluate(shown)
    with h5py.File(folder / "plane.nc") as file:
        for axis, mean, prefix in (("y", "domain_size_mean", "fit_"), ("y2", "domain_length", "fit_length_")):
            fit = {name: float(file.attrs[prefix + name]) for name in ("prefactor", "exponent", "exponent_error95")}
            _, time, drawn, _ = next(t for t in traces if t[0] == "plane.nc (2π × 3π)" and t[3] == axis)
            np.testing.assert_allclose(drawn, np.interp(time, file["time"], file[mean]), rtol=1e-5)
            name, ends, line, _ = next(t for t in traces if "fit:" in t[0] and t[3] == axis)
            assert ends == pytest.approx([file.attrs["fit_from"], file.attrs["fit_to"]])
            assert line == pytest.approx([fit["prefactor"] * t ** fit["exponent"] for t in ends])
            value, error = map(float, re.search(r"\((.*) ± (.*)\)", name).groups())
            assert error == pytest.approx(fit["exponent_error95"], rel=0.06)
            assert value == pytest.approx(fit["exponent"], abs=0.06 * error)
    rows = chromium.evaluate(
        "[...document.querySelectorAll('#s0 .cards tbody tr')].map(r => [...r.children].map(c => c.textContent))"
    )
    assert [row[0] for row in rows] == ["plane.nc", "plane1.nc", "plane0.nc", "plane.json"]
    assert rows[0][1:] == rows[3][1:] and "32 × 48" in rows[0] and "2π × 3π" in rows[0]
    assert "±" in rows[0][1] and "±" not in rows[1][1] and float(rows[1][1]) > 0 and rows[2][1] == "–"


@needs_program
def test_planes_without_error_or_fit_are_not_said_to_have_one(folder):
    (text,) = sections(folder / "plane1.nc").values()
    assert "cannot be told" in text and "±" not in text
    (text,) = sections(folder / "plane0.nc").values()
    assert "too short for a fit" in text and "Dashed" not in text and "The fits" not in text


@needs_program
def test_one_run_has_no_band_and_no_error(folder):
    text = sections(folder / "one.nc")["Growth of domains"]
    assert "for every factor e" in text and "cannot be told from one run" in text
    assert "±" not in text and "Zero is" not in text
    both = sections(folder / "one.nc", folder / "few.nc")["Growth of domains"]
    assert "95 % band" in both and "more than chance" not in both and "within the error" not in both


@needs_program
def test_runs_too_short_for_a_fit_are_not_said_to_have_one(folder):
    text = sections(folder / "short.nc")["Growth of domains"]
    assert "too short for a fit" in text and "The runs" in text
    assert not re.search("fitted|dashed|The fits", text)
    assert "fitted lines" not in page([folder / "short.nc"])
    assert re.search("fitted.*dashed.*The fits", sections(folder / "few.nc")["Growth of domains"])


@needs_program
@needs_browser
def test_forced_runs_are_in_the_frame_of_the_forcing(folder, chromium):
    write_report([folder / name for name in ("still.nc", "forced.nc", "map.nc")], folder / "frames.html")
    chromium.open(folder / "frames.html")
    assert chromium.evaluate("document.body.dataset.errors") is None
    title = "document.getElementById('{}').layout.{}.title.text"
    for picture, axis, frame in (
        ("s0-field", "yaxis", "x"),
        ("s0-profile", "xaxis", "x"),
        ("s1-field", "yaxis", "η = x − vt"),
        ("s1-profile", "xaxis", "η = x − vt"),
        ("s2-state", "xaxis", "η = x − vt"),
    ):
        assert chromium.evaluate(title.format(picture, axis)) == f"position {frame}"
        hover = chromium.evaluate(f"document.getElementById('{picture}').data.at(-1).hovertemplate")
        assert f"{frame[0]} = " in hover
    still, forced, _ = sections(*(folder / name for name in ("still.nc", "forced.nc", "map.nc"))).values()
    assert "level are at rest" in still and "moves with the forcing" not in still
    assert "at rest" not in forced and "level move along with the forcing" in forced


@needs_program
@pytest.mark.parametrize(("equation", "decay"), [("diffusion", "exp(−D k² t)"), ("hyperdiffusion", "exp(−D k⁴ t)")])
def test_diffusion_has_no_phases(folder, equation, decay):
    (text,) = sections(folder / f"{equation}.nc").values()
    assert f"one run of {equation}:" in text and decay in text
    assert not re.search("phase|interface|domain|border", text, re.IGNORECASE)


def test_one_path_will_do_and_none_will_not(tmp_path):
    file, out = BENCHES / "h200-step.json", tmp_path / "page.html"
    assert page(file) == page(str(file)) == page(iter([file]))
    assert write_report(str(file), out) == out.stat().st_size
    for nothing in ([], iter(())):
        with pytest.raises(ReportError, match="no files"):
            write_report(nothing, tmp_path / "nothing.html")
    assert not (tmp_path / "nothing.html").exists()


def test_errors_are_those_of_bandmill_and_the_report_needs_no_compiled_module(tmp_path):
    assert issubclass(ReportError, bandmill.Error)
    shutil.copytree(pathlib.Path(bandmill.report.__file__).parent, tmp_path / "report")  # as script/demo runs it
    command = [sys.executable, "-m", "report", BENCHES / "h200-step.json", "-o", tmp_path / "page.html"]
    subprocess.run(command, env=os.environ | {"PYTHONPATH": str(tmp_path)}, check=True, timeout=120)
    assert (tmp_path / "page.html").stat().st_size > 1e6


@needs_program
def test_files_of_one_name_are_told_apart(folder, tmp_path):
    paths = [tmp_path / place / "c.nc" for place in ("a", "b", "x/b")] + [tmp_path / "d.nc"]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "few.nc", path)
    text = page(paths)
    names = ["a/c.nc", f"{tmp_path.name}/b/c.nc", "x/b/c.nc", "d.nc"]
    assert f"4 files: {', '.join(names)}<" in text
    for name in names:
        assert f'<td data-head="file">{name}</td>' in text  # the table, the settings, the selector, the legend
        assert f"provenance of <b>{name}</b>" in text
        assert re.search(rf'<option value="\d">{name} \(', text) and f'"label":"{name} (L' in text
    assert names_of([pathlib.Path("c.nc"), pathlib.Path("b/c.nc")]) == ["c.nc", "b/c.nc"]
    assert names_of([pathlib.Path("b/c.nc")] * 2) == ["c.nc", "c.nc"]
