"""bandmill.report: pages made from what the program writes, in a real browser, against the files read by h5py."""

import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import browser

h5py = pytest.importorskip("h5py", reason="h5py is not installed (script/setup installs it)")
pytest.importorskip("plotly", reason="plotly is not installed (script/setup installs it)")

from bandmill.report import ReportError, page, write_report  # noqa: E402
from bandmill.report.encode import packed  # noqa: E402

PROGRAM = os.environ.get("BANDMILL_PROGRAM", "")
BENCHES = pathlib.Path(__file__).parents[2] / "bench" / "results"
needs_program = pytest.mark.skipif(not PROGRAM, reason="BANDMILL_PROGRAM does not name the program (ctest sets it)")
needs_browser = pytest.mark.skipif(browser.executable() is None, reason="chromium is not installed (script/setup does)")

STUDIES = {
    "short.nc": "coarsen --members 32 --points 128 --until 4 --histogram-times 1,2,4",
    "long.nc": "coarsen --members 16 --points 256 --length 4pi --until 4 --samples log:60",
    "run.nc": "simulate --equation forced-cahn-hilliard --members 3 --forcing 0:2 --points 64 --dt 0.001 --until 4 --save-every 0.25",
    "map.nc": "map --grid 24x16 --points 64 --until 6 --speed 0.5,1 --keep-states 6x4",
    "bare.nc": "map --grid 5x1 --x gamma --y speed --gamma 0.01:0.03 --speed 0.5:1 --mean 0.2 --forcing 0.8 --points 32 "
    "--until 1 --keep-states 0x0 --kmeans-restarts 0",
    "order.nc": "converge --equation diffusion --points 32:128 --json order.json",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("studies")
    for name, words in STUDIES.items():
        command = [PROGRAM, *words.split(), "--threads", "1", "--quiet", "--out", name]
        subprocess.run(command, cwd=place, check=True, timeout=120)
    return place


@pytest.fixture(scope="module")
def chromium():
    opened = browser.Browser()
    yield opened
    opened.close()


def command(*arguments):
    """As a user calls it: exit code, the lines of stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "bandmill.report", *map(str, arguments)], capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stderr.splitlines()


def cell_list(chromium, name):
    """The names and texts that the page shows of the chosen cell."""
    pairs = f"[...document.querySelectorAll('#{name}-cell dl > div')].map(d => [d.children[0].textContent, d.children[1].textContent])"
    return {key: text.replace("−", "-") for key, text in chromium.evaluate(pairs)}


def middle_of_cell(chromium, name, row, column):
    """Where on the screen that cell is, from the axes that plotly has drawn."""
    return chromium.evaluate(f"""(() => {{
        const place = document.getElementById('{name}-map');
        place.scrollIntoView({{behavior: 'instant', block: 'start'}});
        const box = place.getBoundingClientRect(), {{xaxis, yaxis}} = place._fullLayout, data = place.data[0];
        return [box.left + xaxis._offset + xaxis.c2p(data.x[{column}]), box.top + yaxis._offset + yaxis.c2p(data.y[{row}])];
    }})()""")


def check_cell(chromium, name, path, panel, row, column):
    """All numbers that are shown are those of the file: to the four digits shown, and the steps of the encoding."""
    with h5py.File(path) as file:
        shown = cell_list(chromium, name)
        title = chromium.evaluate(f"document.getElementById('{name}-cell-title').textContent")
        assert title == f"Cell: row {row}, column {column}, panel {panel}"
        assert float(shown.pop("speed")) == pytest.approx(file["speed"][panel], rel=1e-5)
        assert float(shown.pop("mean")) == pytest.approx(file["mean"][column], rel=1e-5, abs=1e-9)
        assert float(shown.pop("forcing")) == pytest.approx(file["forcing"][row], rel=1e-5, abs=1e-9)
        assert float(shown.pop("gamma")) == pytest.approx(file["gamma"][()]) and shown.pop("wavenumber") == "1"
        verdict = chromium.evaluate(f"document.querySelector('#{name}-cell .verdict').textContent")
        assert verdict.startswith(f"A{file['class'][panel, row, column]} ")
        assert shown.pop("kmeans class").startswith(f"A{file['kmeans_class'][panel, row, column]} ")
        assert len(shown) >= 15
        for key, text in shown.items():
            values = file[key.replace(" ", "_")]
            step = np.ptp(values[...]) / (2**16 - 3)
            value = values[panel, row, column]
            # A logarithmic scale over 20 decades has steps of 0.07 %.
            assert float(text) == pytest.approx(value, rel=1.2e-3, abs=step + 1e-12), key


@needs_program
@needs_browser
def test_all_kinds_in_one_page(folder, chromium):
    files = [folder / name for name in [*STUDIES, "order.json"]] + sorted(BENCHES.glob("*.json"))
    out = folder / "all.html"
    write_report(files, out)
    for width, phone in ((1280, False), (375, True)):
        chromium.size(width, 800, phone)
        chromium.open(out)
        assert chromium.evaluate("document.body.dataset.errors") is None
        assert chromium.evaluate("document.body.dataset.drawn") == "yes"
        assert chromium.evaluate("document.documentElement.scrollWidth") == width
        assert all(url.startswith(("file:", "data:", "blob:")) for url in chromium.requested())
        empty = "[...document.querySelectorAll('.plot')].filter(p => !p.closest('[hidden]') && !p.querySelector('.main-svg')).map(p => p.id)"
        assert chromium.evaluate(empty) == []
        assert chromium.evaluate("[...document.querySelectorAll('.plot')].every(p => p.ariaLabel.length > 20)")
        assert chromium.evaluate("document.querySelectorAll('h1').length") == 1
    static = out.read_text(encoding="utf-8")
    static = re.sub(r'<script type="text/plain" id="plotly">[^<]*</script>', "", static)
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", static) and "<script src" not in static
    assert "default-src 'none'" in static  # and the browser holds the page to that
    chromium.size(1280, 800)


@pytest.fixture(scope="module")
def studies(folder):
    """All studies in one page: s0 growth, s1 fields, s2 and s3 maps, s4 convergence."""
    out = folder / "studies.html"
    write_report([folder / name for name in ("short.nc", "long.nc", "run.nc", "map.nc", "bare.nc", "order.nc")], out)
    return out


@needs_program
@needs_browser
def test_click_shows_the_cell(studies, folder, chromium):
    chromium.size(1280, 900)
    chromium.open(studies)
    for row, column in ((3, 20), (12, 5), (0, 0), (15, 23)):
        place = middle_of_cell(chromium, "s2", row, column)
        chromium.move(*place)  # a hand is slow enough for plotly to notice where it is
        chromium.wait_for(
            "(document.getElementById('s2-map')._hoverdata || [])"
            f".some(p => p.pointNumber[0] === {row} && p.pointNumber[1] === {column})"
        )
        chromium.click(*place)
        chromium.wait_for(f"location.hash === '#cell=0,{row},{column}'")
        check_cell(chromium, "s2", folder / "map.nc", 0, row, column)


@needs_program
@needs_browser
def test_tap_on_a_phone(studies, folder, chromium):
    chromium.size(375, 812, phone=True)
    chromium.open(studies)
    chromium.tap(*middle_of_cell(chromium, "s2", 4, 18))
    chromium.wait_for("location.hash === '#cell=0,4,18'")
    check_cell(chromium, "s2", folder / "map.nc", 0, 4, 18)
    chromium.size(1280, 900)


@needs_program
@needs_browser
def test_address_and_keys_choose_cells(studies, folder, chromium):
    chromium.open(studies, "#cell=1,9,7")
    check_cell(chromium, "s2", folder / "map.nc", 1, 9, 7)
    chromium.evaluate("document.getElementById('s2-map').focus()")
    chromium.key("ArrowUp")
    chromium.wait_for("location.hash === '#cell=1,10,7'")
    chromium.key("ArrowLeft")
    chromium.wait_for("location.hash === '#cell=1,10,6'")
    check_cell(chromium, "s2", folder / "map.nc", 1, 10, 6)
    chromium.evaluate("location.hash = '#cell=9,99,99'")  # beyond the map: the last cell
    chromium.wait_for("location.hash === '#cell=1,15,23'")
    check_cell(chromium, "s2", folder / "map.nc", 1, 15, 23)
    chromium.evaluate("location.hash = '#map=2&cell=0,0,3'")
    chromium.wait_for("document.getElementById('s3-cell-title').textContent === 'Cell: row 0, column 3'")
    with h5py.File(folder / "bare.nc") as file:
        assert float(cell_list(chromium, "s3")["gamma"]) == pytest.approx(file["gamma"][3], rel=1e-5)
    assert "No final states were kept" in chromium.evaluate("document.getElementById('s3-kept').textContent")


@needs_program
@needs_browser
def test_solution_of_the_nearest_kept_cell(studies, folder, chromium):
    row, column = 8, 11
    chromium.open(studies, f"#cell=1,{row},{column}")
    note = chromium.evaluate("document.getElementById('s2-kept').textContent")
    with h5py.File(folder / "map.nc") as file:
        i = int(np.abs(file["kept_forcing"][...] - file["forcing"][row]).argmin())
        j = int(np.abs(file["kept_mean"][...] - file["mean"][column]).argmin())
        kept_row = int(np.abs(file["forcing"][...] - file["kept_forcing"][i]).argmin())
        kept_column = int(np.abs(file["mean"][...] - file["kept_mean"][j]).argmin())
        state, x = file["state"][1, i, j], file["position"][...]
        where = f"mean {file['kept_mean'][j]:.6g}, forcing {file['kept_forcing'][i]:.6g}"
        step = np.ptp(file["state"][...]) / (2**12 - 3)
    assert (kept_row, kept_column) != (row, column)  # or this would test nothing
    assert f"row {kept_row}, column {kept_column} ({where})" in note
    across, down = abs(kept_column - column), abs(kept_row - row)
    assert f"{across} column{'s' * (across != 1)} and {down} row{'s' * (down != 1)} away" in note
    line = chromium.evaluate("(() => { const d = document.getElementById('s2-state').data[0]; return [d.x, d.y]; })()")
    np.testing.assert_allclose(line[0], x, rtol=1e-6)
    np.testing.assert_allclose(line[1], state, atol=step / 2 + 1e-6)


@needs_browser
def test_arrays_survive_the_encoding(folder_of_numbers, chromium):
    chromium.open(folder_of_numbers)
    random = np.random.default_rng(5)
    cases = [
        random.normal(size=(7, 33)),
        np.exp(random.normal(scale=6, size=(3, 2, 50))),
        np.where(random.random((5, 40)) < 0.3, 0.0, 10 ** random.uniform(-9, 2, (5, 40))),
        random.integers(-1, 3, (9, 9)),
        np.full((2, 3), 0.1),
        np.full((2, 3), np.nan),
        np.where(random.random((6, 6)) < 0.5, np.nan, random.random((6, 6))),
        np.array([[3.5]]),
    ]
    for values in cases:
        for bits in (10, 12, 16):
            given = packed(values, bits)
            back = np.array(chromium.evaluate(f"unpack({json.dumps(given)}).then(v => [...v].map(x => isNaN(x) ? null : x))"), float)
            back = back.reshape(values.shape)
            assert (np.isnan(back) == np.isnan(values)).all()
            scale = np.abs(values) * np.log(10) * 1.1 if given["wide"] else 1.0
            slack = given["step"] / 2 * scale if (values != np.rint(values)).any() else 0
            assert (np.abs(back - values)[~np.isnan(values)] <= (slack + np.abs(values) * 2e-7 + 1e-12)[~np.isnan(values)]).all()


@pytest.fixture(scope="module")
def folder_of_numbers(tmp_path_factory):
    out = tmp_path_factory.mktemp("bench") / "page.html"
    write_report([BENCHES / "h200-step.json"], out)
    return out


@needs_program
@needs_browser
def test_curves_fits_and_fields_are_those_of_the_files(studies, folder, chromium):
    chromium.size(1280, 900)
    chromium.open(studies)
    check_fits(folder, chromium)
    check_field(folder, chromium)
    chromium.evaluate("""(async () => { // then everything that can be chosen, one after the other
        for (const list of document.querySelectorAll('select')) {
            for (const option of list.options) { list.value = option.value; list.dispatchEvent(new Event('change')); }
            await new Promise(done => setTimeout(done, 0));
        }
        for (const slider of document.querySelectorAll('input[type=range]')) {
            for (const at of [slider.min, slider.max]) { slider.value = at; slider.dispatchEvent(new Event('input')); }
        }
        await new Promise(done => setTimeout(done, 100));
    })()""")
    assert chromium.evaluate("document.body.dataset.errors") is None


def check_fits(folder, chromium):
    cells = "[...document.querySelectorAll('#s0 .cards tbody tr')].map(r => [...r.children].map(c => c.textContent))"
    for name, row in zip(("short.nc", "long.nc"), chromium.evaluate(cells), strict=True):
        with h5py.File(folder / name) as file:
            assert row[0] == name
            for column, key in ((1, "slope"), (2, "intercept")):
                value, error = row[column].replace("−", "-").split(" ± ")
                assert float(error) == pytest.approx(file.attrs[f"fit_{key}_error95"], rel=0.06)  # two digits
                assert float(value) == pytest.approx(file.attrs[f"fit_{key}"], abs=float(error) * 0.06)
            time, mean = file["time"][...], file["domain_size_mean"][...]
        found = f"d => d.mode === 'lines+markers' && (d.name || '').startsWith('{name}')"
        drawn = chromium.evaluate(f"(() => {{ const t = document.getElementById('s0-law').data.find({found}); return [t.x, t.y]; }})()")
        at = [int(np.abs(time - t).argmin()) for t in drawn[0]]
        np.testing.assert_allclose(drawn[0], time[at], rtol=1e-6)
        np.testing.assert_allclose(drawn[1], mean[at], rtol=1e-6)
        assert drawn[0][-1] == pytest.approx(time[-1], rel=1e-6)


def check_field(folder, chromium):
    chromium.evaluate("""(() => {
        document.getElementById('s1-member').value = 2;
        document.getElementById('s1-time').value = 5;
        document.getElementById('s1-member').dispatchEvent(new Event('change'));
    })()""")
    with h5py.File(folder / "run.nc") as file:
        field = file["C"][...]
    assert np.isfinite(field).all()
    step = np.ptp(field) / (2**16 - 3)
    line = chromium.evaluate("document.getElementById('s1-profile').data[1].y")
    np.testing.assert_allclose(line, field[5, 2], atol=step / 2 + 1e-6)
    picture = chromium.evaluate("document.getElementById('s1-field').data[0].z.map(row => [...row])")
    np.testing.assert_allclose(np.array(picture), field[:, 2, :].T, atol=step / 2 + 1e-6)


@needs_program
@needs_browser
def test_paper(studies, folder, chromium):
    """On paper: no controls, nothing wider than the page, all settings open."""
    chromium.size(1280, 900)
    chromium.open(studies)
    chromium.pdf(folder / "page.pdf")
    assert (folder / "page.pdf").read_bytes().startswith(b"%PDF")
    chromium.call("Emulation.setEmulatedMedia", media="print")
    chromium.size(688, 900)  # A4 less the margins, in CSS pixels
    chromium.evaluate("fitToPaper()")
    assert chromium.evaluate("document.documentElement.scrollWidth") <= 688
    assert chromium.evaluate("[...document.querySelectorAll('.controls')].every(c => getComputedStyle(c).display === 'none')")
    assert chromium.evaluate("[...document.querySelectorAll('details.provenance')].every(d => d.open)")
    widths = chromium.evaluate("[...document.querySelectorAll('.main-svg')].filter(s => !s.closest('[hidden]')).map(s => s.getBoundingClientRect().width)")
    assert widths and max(widths) <= 688
    chromium.call("Emulation.setEmulatedMedia", media="")
    chromium.size(1280, 900)


@needs_program
@needs_browser
def test_texts_of_a_file_are_texts(folder, chromium):
    """Markup in attributes, options and names is shown, not obeyed."""
    evil = '</script><img src=x onerror="document.body.dataset.errors=1"><b>'
    path = folder / "a<b>&amp;'\".nc"
    path.write_bytes((folder / "short.nc").read_bytes())
    with h5py.File(path, "r+") as file:
        file.attrs["device"] = evil
        file.attrs["options"] = f"members = {evil}\n"
        file.attrs["<i>name"] = evil
    bench = folder / "evil.json"
    document = json.loads((BENCHES / "h200-step.json").read_text())
    document["device"] = evil
    document["records"][0]["equation"] = evil
    bench.write_text(json.dumps(document))
    write_report([path, bench], folder / "evil.html", title=evil)
    chromium.open(folder / "evil.html")
    assert chromium.evaluate("document.body.dataset.errors") is None
    assert chromium.evaluate("document.body.dataset.drawn") == "yes"
    assert chromium.evaluate("document.querySelectorAll('main img, header img, main b b, main i').length") == 0
    assert chromium.evaluate("document.title") == evil
    assert path.name in chromium.evaluate("document.querySelector('#s0 summary').textContent")


@needs_program
def test_commands_of_the_guide(tmp_path):
    """Those of docs/report.md, as they stand there."""
    block = re.search(r"```sh\n(.*?)```", (BENCHES.parents[1] / "docs" / "report.md").read_text(), re.DOTALL)[1]
    assert block.count("bandmill-report ") == 1
    for line in block.splitlines():
        program, *words = line.split()
        front = {"bandmill": [PROGRAM], "bandmill-report": [sys.executable, "-m", "bandmill.report"]}[program]
        subprocess.run([*front, *words], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    assert (tmp_path / "report.html").stat().st_size > 1e6


@needs_program
def test_same_files_same_bytes(folder):
    files = [folder / name for name in STUDIES]
    assert page(files) == page(files)


def broken_files(folder):
    """name -> (bytes or a change of a copy of short.nc, what the message says)"""
    good = (folder / "short.nc").read_bytes()
    yield "short.nc.partial", good, "has not finished"
    yield "stopped.checkpoint", b"bandmill checkpoint\n\n\n\n\n" + bytes(500), "is a checkpoint.*bandmill resume"
    yield "cut.nc", good[: len(good) // 2], "cannot be read"
    yield "words.txt", b"some words\n", "neither HDF5 nor JSON"
    yield "empty.nc", b"", "neither HDF5 nor JSON"
    yield "cut.json", b'{"benchmark": "solve", "records": [', "not valid JSON"
    yield "other.json", b'{"a": 1}', "no summary of a study"
    yield "odd.json", b'{"benchmark": "solve", "records": [{"n": 1}]}', "not a complete file"
    yield "odd2.json", b'{"benchmark": "step", "records": [1]}', "not a complete file"


@needs_program
def test_broken_files_are_told_in_one_line(folder, tmp_path):
    out = tmp_path / "report.html"
    out.write_text("before")
    cases = list(broken_files(folder))

    def changed(name, change, words):
        path = tmp_path / name
        path.write_bytes((folder / "short.nc").read_bytes())
        with h5py.File(path, "r+") as file:
            change(file)
        cases.append((name, path.read_bytes(), words))

    changed("unfinished.nc", lambda file: file.attrs.modify("finished", b"   "), "is not finished")
    changed("less.nc", lambda file: file.pop("domain_size_stderr"), "no variable domain_size_stderr")
    changed("foreign.nc", lambda file: file.pop("domain_size_mean"), "no result of bandmill")
    cases.append(("nothing.nc", None, "No such file"))
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    for name, content, words in cases:
        if content is not None:
            (inputs / name).write_bytes(content)
        with pytest.raises(ReportError, match=words) as told:
            write_report([folder / "short.nc", inputs / name], out)
        assert name in str(told.value) and "\n" not in str(told.value)
    code, lines = command(folder / "short.nc", inputs / "cut.nc", "-o", out)
    assert code == 2 and len(lines) == 1 and "cut.nc" in lines[0]
    code, lines = command(folder / "short.nc", "-o", tmp_path / "no-folder" / "report.html")
    assert code == 2 and len(lines) == 1 and "cannot be written" in lines[0]
    assert out.read_text() == "before" and not [p for p in tmp_path.iterdir() if p.name.startswith(".")]
    code, lines = command(folder / "short.nc", "-o", out)
    assert code == 0 and not lines and out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_what_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ReportError, match="plotly is not installed.*pip install"):
        write_report([BENCHES / "h200-step.json"], tmp_path / "page.html")
    assert not list(tmp_path.iterdir())
