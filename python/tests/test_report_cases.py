"""bandmill.report: what it refuses, and what the page says of planes, forced runs, diffusion, single runs, no fit."""

import html
import json
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
    "lost.nc": "simulate --members 6 --points 64 --dt 0.005 --until 0.1 --save-every 0.02 --mean 0:3",
    "still.nc": "simulate --points 32 --until 1 --save-every 0.25",
    "wall.nc": "simulate --points 32 --until 0.5 --dt 0.005 --mean 0.2 --ends dirichlet --end-value 0.5",
    "forced.nc": "simulate --equation forced-cahn-hilliard --points 32 --dt 0.001 --until 1 --save-every 0.25",
    "map.nc": "map --grid 3x2 --points 32 --until 1 --keep-states 3x2",
    "diffusion.nc": "simulate --equation diffusion --points 32 --until 1 --save-every 0.25",
    "hyperdiffusion.nc": "simulate --equation hyperdiffusion --points 32 --until 1 --save-every 0.25",
    "one.nc": "coarsen --members 1 --points 64 --until 1",
    "long.nc": "coarsen --dimensions 2 --members 4 --length 3e5 --points 128 --gamma 2.28e7 --until 4e7 --dt 1e5 "
    "--samples linear:41 --json long.json",
    "flat.nc": "coarsen --dimensions 2 --members 2 --points 32 --length 2pi --until 0.2 --dt 0.002 --mean 0.9 --noise 0.01",
    "large.nc": "simulate --equation diffusion --members 2 --points 32 --until 1 --save-every 0.25 --amplitude 1e31",
    "few.nc": "coarsen --members 8 --points 64 --until 1",
    "losing.nc": "coarsen --members 8 --points 64 --dt 0.015 --noise 2.1 --until 5 --histogram-times 1,2 "
    "--json losing.json",
    "early.nc": "coarsen --members 8 --points 64 --dt 0.015 --noise 2.1 --until 5 --histogram-times none "
    "--fit 0.015:0.05 --mean 0.001 --json early.json",
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


def opened(chromium, files, out):
    write_report(files, out)
    chromium.open(out)
    assert chromium.evaluate("document.body.dataset.errors") is None


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
    chromium.size(1280, 900)
    opened(chromium, [folder / name for name in names], folder / "p.html")
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
    assert "cannot be told: too few groups of runs have a fit" in text and "±" not in text
    (text,) = sections(folder / "plane0.nc").values()
    assert "too short for a fit" in text and "Dashed" not in text and "The fits" not in text


@needs_program
def test_one_run_has_no_band_and_no_error(folder):
    text = sections(folder / "one.nc")["Growth of domains"]
    assert "for every factor e" in text and "cannot be told from one run" in text
    assert "±" not in text and "Zero is" not in text
    both = sections(folder / "one.nc", folder / "few.nc")["Growth of domains"]
    assert "95 % band" in both and "more than chance" not in both and "within the error" not in both
    most = r"([\d.]+) at most in the fit's window"
    alone = re.search(most, sections(folder / "few.nc")["Growth of domains"])[1]
    assert re.search(rf"{most} of few.nc\. (Zero is|Where zero)", both)[1] == alone  # what is judged by a band has one


@needs_program
def test_runs_too_short_for_a_fit_are_not_said_to_have_one(folder):
    text = sections(folder / "short.nc")["Growth of domains"]
    assert "too short for a fit" in text and "The runs" in text
    assert not re.search("fitted|dashed|The fits", text)
    assert "fitted lines" not in page([folder / "short.nc"])
    assert re.search("fitted.*dashed.*The fits", sections(folder / "few.nc")["Growth of domains"])


@needs_program
@needs_browser
def test_lost_runs_leave_the_others_as_they_are(folder, chromium):
    """Runs 3 to 5 reach 1e21, 1e199 and more in a record before they are not finite."""
    opened(chromium, [folder / "lost.nc"], folder / "lost.html")
    (text,) = sections(folder / "lost.nc").values()
    assert "3 of 6 runs were lost" in text
    shown = """(member => { const list = document.getElementById('s0-member'); list.value = member;
        list.dispatchEvent(new Event('change'));
        return [list.selectedOptions[0].textContent, document.getElementById('s0-said').textContent,
            document.getElementById('s0-field').data[0].z.map(row => [...row].map(c => isNaN(c) ? null : c))]; })"""
    with h5py.File(folder / "lost.nc") as file:
        field = file["C"][...]
    for member in range(6):
        label, said, drawn = chromium.evaluate(f"{shown}({member})")
        kept = {3: 2, 4: 1, 5: 1}.get(member, len(field))
        drawn = np.array(drawn, float).T
        np.testing.assert_allclose(drawn[:kept], field[:kept, member], atol=1e-4)
        assert np.isnan(drawn[kept:]).all() and label.endswith(", lost") == (member > 2)
        assert ("this run is lost, since t = 0.0" in said) == (member > 2) and "e+" not in said
    assert "lost" not in sections(folder / "still.nc").popitem()[1]


@needs_program
def test_unusual_means_and_ends_are_told(folder):
    (still,) = sections(folder / "still.nc").values()
    assert "1 run," in still and "mean of C" not in still and "ends" not in still
    (wall,) = sections(folder / "wall.nc").values()
    assert "mean of C 0.2, dirichlet ends with C = 0.5." in wall


@needs_program
@needs_browser
def test_axes_are_made_for_the_means_after_losses(folder, chromium):
    """Before the last loss the mean of l is between -2 and 4 with errors of 2, later from 1.5 to 4."""
    with h5py.File(folder / "losing.nc") as file:
        counts, time, mean, error = (
            file[name][...] for name in ("member_count", "time", "domain_size_mean", "domain_size_stderr")
        )
        assert counts[0] > counts[-1] == counts[0] - file.attrs["lost_members"]
        late = counts == counts[-1]
    opened(chromium, [folder / "losing.nc", BENCHES / "cpu.json"], folder / "losing.html")
    low, high = chromium.evaluate("document.getElementById('s0-law').layout.yaxis.range")
    top, bottom = (mean + 1.96 * error)[late].max(), min(1, (mean - 1.96 * error)[late].min())
    assert top < high < top + 0.1 * (top - bottom) and bottom - 0.1 * (top - bottom) < low < bottom
    for name in ("losing.nc", "losing.json"):
        assert "Runs were lost" in sections(folder / name)["Growth of domains"]
    assert f"until t = {time[late][0]:.4g})" in sections(folder / "losing.nc")["Growth of domains"]
    assert "Runs were lost" not in sections(folder / "few.nc")["Growth of domains"]
    labels = chromium.evaluate("document.getElementById('s1-speed').layout.yaxis.ticktext")
    values = chromium.evaluate("document.getElementById('s1-speed').layout.yaxis.tickvals")
    assert len(labels) > 2 and [float(label) for label in labels] == values


@needs_program
@needs_browser
def test_a_fit_before_the_last_loss_is_on_the_axes(folder, chromium):
    """Its window ends at 0.05, the last run is lost at 0.135; a summary has no sample in it."""
    opened(chromium, [folder / "early.nc"], folder / "early.html")
    with h5py.File(folder / "early.nc") as file:
        time, mean, error, counts = (
            file[name][...] for name in ("time", "domain_size_mean", "domain_size_stderr", "member_count")
        )
        fit = {name: float(file.attrs[f"fit_{name}"]) for name in ("intercept", "slope", "from", "to")}
    inside = (time >= fit["from"]) & (time <= fit["to"])
    assert inside.sum() == 3 and time[counts == counts[-1]][0] > fit["to"]
    rest = mean[inside] - fit["intercept"] - fit["slope"] * np.log(time[inside])
    largest = (np.abs(rest) + 1.96 * error[inside]).max()
    low, high = chromium.evaluate("document.getElementById('s0-law').layout.yaxis2.range")
    assert high == -low and largest < high < 1.2 * largest
    low, high = chromium.evaluate("document.getElementById('s0-law').layout.yaxis.range")
    assert low < (mean - 1.96 * error)[inside].min() and high > (mean + 1.96 * error)[inside].max()
    opened(chromium, [folder / "early.json"], folder / "early-summary.html")
    low, high = chromium.evaluate("document.getElementById('s0-law')._fullLayout.yaxis2.range")
    assert low < high
    assert "no samples in the fit's window" in sections(folder / "early.json")["Growth of domains"]


@needs_program
def test_the_mean_of_every_file_is_told(folder):
    def told(*names):
        return re.findall('data-head="mean of C">(.*?)</td>', page([folder / name for name in names]))

    assert told("few.nc", "losing.json", "early.nc", "early.json") == ["0", "0", "0.001", "0.001"]
    assert told("plane.nc", "plane.json", "flat.nc") == ["0", "0", "0.9"]
    older = json.loads((folder / "losing.json").read_text())
    del older["mean"]
    (folder / "older.json").write_text(json.dumps(older))
    assert told("older.json", "few.nc") == ["–", "0"]


@needs_program
def test_planes_without_an_area_per_length_say_why(folder):
    (long,) = sections(folder / "long.nc").values()
    assert "In long.nc interfaces are too long to be summed up in 3 of 41 samples" in long
    assert "up to 4 runs are left out" in long and "no run has interfaces" not in long
    assert "too long to be summed up in 2 of 6 samples" in sections(folder / "long.json").popitem()[1]
    assert "In flat.nc no run has interfaces." in sections(folder / "flat.nc").popitem()[1]
    assert "interfaces are too long" not in sections(folder / "plane.nc").popitem()[1]


@needs_program
@needs_browser
def test_large_runs_are_not_lost(folder, chromium):
    opened(chromium, [folder / "large.nc"], folder / "large.html")
    with h5py.File(folder / "large.nc") as file:
        field = file["C"][:, 0]
        assert np.abs(field).max() > 1e30 and file.attrs["lost_members"] == 0
    assert "lost" not in chromium.evaluate("document.getElementById('s0-member').textContent")
    drawn = chromium.evaluate("document.getElementById('s0-field').data[0].z.map(row => [...row])")
    np.testing.assert_allclose(np.array(drawn).T, field, atol=1e-4 * np.ptp(field))


@needs_program
@needs_browser
def test_bins_with_what_is_beyond_them_are_marked_and_legends_are_above(folder, chromium):
    shutil.copy(folder / "few.nc", folder / "over.nc")
    with h5py.File(folder / "over.nc", "r+") as file:
        for name, first in (("interface_histogram", 0), ("domain_size_histogram", 1)):
            counts = np.zeros(file[name].shape, file[name].dtype)
            counts[:, [0, -1]] = first, 2
            counts[:, 12] = 5
            file[name][...] = counts
    for name, beyond in (("over.nc", [[False, True], [True, True]]), ("few.nc", [[False, False]] * 2)):
        opened(chromium, [folder / name], folder / "over.html")
        bars = chromium.evaluate("document.getElementById('s0-histograms').data.map(t => t.marker.color)")
        assert [[bar[0] == "#8b98a5", bar[-1] == "#8b98a5"] for bar in bars] == beyond
        told = chromium.evaluate("document.getElementById('s0-said').textContent")
        assert ("Grey bars" in told) == (name == "over.nc")
        assert chromium.evaluate("document.getElementById('s0-law').layout.legend.yanchor") == "bottom"
        low = "document.getElementById('s0-histograms').layout.xaxis2.range[0]"
        assert (chromium.evaluate(low) < 0.05) == (name == "over.nc")


@needs_program
@needs_browser
def test_forced_runs_are_in_the_frame_of_the_forcing(folder, chromium):
    opened(chromium, [folder / name for name in ("still.nc", "forced.nc", "map.nc")], folder / "frames.html")
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


def test_benchmarks_of_one_kind_are_told_apart(tmp_path):
    (plain,) = sections(BENCHES / "cpu-plane.json")
    shutil.copy(BENCHES / "cpu-plane.json", tmp_path / "b.json")
    files = [BENCHES / "cpu-plane.json", BENCHES / "cpu.json", tmp_path / "b.json"]
    titles = [f"{plain}: cpu-plane.json", plain.replace("plane", "solve"), f"{plain}: b.json"]
    assert plain == "Benchmark: plane, AMD EPYC" and list(sections(*files)) == titles
    assert re.findall(r'<li><a href="#s\d">(.*?)</a>', page(files)) == titles


def test_shares_are_of_what_the_file_says():
    for name, ceiling in (("cpu-plane", "a scale in place"), ("cpu", "an in-place scale"), ("h200-plane", "a copy")):
        heads = re.findall(r"<th [^>]*>(share of .*?)</th>", page(BENCHES / f"{name}.json"))
        assert heads == [f"share of {ceiling}"]


def resized(source, sizes):
    """The first record of a result, for other sizes."""
    result = json.loads((BENCHES / source).read_text())
    return result | {"records": [result["records"][0] | size for size in sizes]}


@needs_browser
def test_lines_join_what_is_alike_and_ticks_can_be_read(tmp_path, chromium):
    shapes = [(64, 64, 1), (33, 65, 3), (64, 64, 3)]
    planes = resized("cpu-plane.json", [dict(zip(("nx", "ny", "members"), shape)) for shape in shapes])
    sizes = [(99, 65), (77, 101), (4096, 4096)]
    stencils = resized("cpu-stencil.json", [dict(zip(("rows", "columns"), size)) for size in sizes])
    solves = resized("cpu.json", [{"batch": batch} for batch in (64, 4096)])
    paths = [tmp_path / name for name in ("planes.json", "stencils.json", "solves.json")]
    for path, result in zip(paths, (planes, stencils, solves)):
        path.write_text(json.dumps(result))
    opened(chromium, paths, tmp_path / "page.html")
    modes = [chromium.evaluate(f"document.getElementById('s{i}-speed').data.map(t => t.mode)") for i in range(3)]
    assert {*modes[0]} == {*modes[1]} == {"markers"} and {*modes[2]} == {"lines+markers"}
    ticks = chromium.evaluate("document.getElementById('s1-speed').layout.xaxis.ticktext")
    assert ticks == ["6435", "16 Mi"]  # 7777 would lie on the first


def test_one_comparison_is_told_once(tmp_path):
    path = tmp_path / "one.json"
    path.write_text(json.dumps(resized("cpu-plane.json", [{}])))
    (text,) = sections(path).values()
    assert "The only comparison of the file: " in text and " from " not in text


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
