"""bandmill.report: pages made from what the program writes, in a real browser, against the files read by h5py."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

from report_files import BENCHES, PROGRAM, STUDIES, needs_browser, needs_program

h5py = pytest.importorskip("h5py", reason="h5py is not installed (script/setup installs it)")
pytest.importorskip("plotly", reason="plotly is not installed (script/setup installs it)")

from bandmill.report import ReportError, page, write_report  # noqa: E402
from bandmill.report.encode import packed  # noqa: E402
from bandmill.report.readers import BENCHMARKS  # noqa: E402


def command(*arguments):
    """As a user calls it: exit code, the lines of stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "bandmill.report", *map(str, arguments)], capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stderr.splitlines()


@needs_program
@needs_browser
def test_all_kinds_in_one_page(study_folder, chromium):
    kept = {path: json.loads(path.read_text()).get("benchmark") for path in sorted(BENCHES.glob("*.json"))}
    assert set(kept.values()) >= {*BENCHMARKS, None}  # None: of a study
    shown = [path for path, benchmark in kept.items() if benchmark in (*BENCHMARKS, None)]
    files = [study_folder / name for name in [*STUDIES, "order.json"]] + shown
    out = study_folder / "all.html"
    write_report(files, out)
    for width, phone in ((1280, False), (375, True)):
        chromium.size(width, 800, phone)
        chromium.open(out)
        assert chromium.evaluate("document.body.dataset.errors") is None
        assert chromium.evaluate("document.body.dataset.drawn") == "yes"
        assert chromium.evaluate("document.documentElement.scrollWidth") == width
        assert all(url.startswith(("file:", "data:", "blob:")) for url in chromium.requested())
        empty = (
            "[...document.querySelectorAll('.plot')]"
            ".filter(p => !p.closest('[hidden]') && !p.querySelector('.main-svg')).map(p => p.id)"
        )
        assert chromium.evaluate(empty) == []
        assert chromium.evaluate("[...document.querySelectorAll('.plot')].every(p => p.ariaLabel.length > 20)")
        assert chromium.evaluate("document.querySelectorAll('h1').length") == 1
    static = out.read_text(encoding="utf-8")
    static = re.sub(r'<script type="text/plain" id="plotly">[^<]*</script>', "", static)
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", static) and "<script src" not in static
    assert "default-src 'none'" in static  # and the browser holds the page to that
    chromium.size(1280, 800)


@needs_browser
def test_arrays_survive_the_encoding(bench_page, chromium):
    chromium.open(bench_page)
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
            back = np.array(
                chromium.evaluate(f"unpack({json.dumps(given)}).then(v => [...v].map(x => isNaN(x) ? null : x))"), float
            )
            back = back.reshape(values.shape)
            assert (np.isnan(back) == np.isnan(values)).all()
            scale = np.abs(values) * np.log(10) * 1.1 if given["wide"] else 1.0
            slack = given["step"] / 2 * scale if (values != np.rint(values)).any() else 0
            assert (
                np.abs(back - values)[~np.isnan(values)] <= (slack + np.abs(values) * 2e-7 + 1e-12)[~np.isnan(values)]
            ).all()


@pytest.fixture(scope="module")
def bench_page(tmp_path_factory):
    out = tmp_path_factory.mktemp("bench") / "page.html"
    write_report([BENCHES / "h200-step.json"], out)
    return out


@needs_program
@needs_browser
def test_curves_fits_and_fields_are_those_of_the_files(studies_page, study_folder, chromium):
    chromium.size(1280, 900)
    chromium.open(studies_page)
    check_fits(study_folder, chromium)
    check_field(study_folder, chromium)
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


def check_fits(study_folder, chromium):
    cells = "[...document.querySelectorAll('#s0 .cards tbody tr')].map(r => [...r.children].map(c => c.textContent))"
    for name, row in zip(("short.nc", "long.nc"), chromium.evaluate(cells), strict=True):
        with h5py.File(study_folder / name) as file:
            assert row[0] == name
            for column, key in ((1, "slope"), (2, "intercept")):
                value, error = row[column].replace("−", "-").split(" ± ")
                assert float(error) == pytest.approx(file.attrs[f"fit_{key}_error95"], rel=0.06)  # two digits
                assert float(value) == pytest.approx(file.attrs[f"fit_{key}"], abs=float(error) * 0.06)
            time, mean = file["time"][...], file["domain_size_mean"][...]
        found = f"d => d.mode === 'lines+markers' && (d.name || '').startsWith('{name}')"
        drawn = chromium.evaluate(
            f"(() => {{ const t = document.getElementById('s0-law').data.find({found}); return [t.x, t.y]; }})()"
        )
        at = [int(np.abs(time - t).argmin()) for t in drawn[0]]
        np.testing.assert_allclose(drawn[0], time[at], rtol=1e-6)
        np.testing.assert_allclose(drawn[1], mean[at], rtol=1e-6)
        assert drawn[0][-1] == pytest.approx(time[-1], rel=1e-6)


def check_field(study_folder, chromium):
    chromium.evaluate("""(() => {
        document.getElementById('s1-member').value = 2;
        document.getElementById('s1-time').value = 5;
        document.getElementById('s1-member').dispatchEvent(new Event('change'));
    })()""")
    with h5py.File(study_folder / "run.nc") as file:
        field = file["C"][...]
    assert np.isfinite(field).all()
    step = np.ptp(field) / (2**16 - 3)
    line = chromium.evaluate("document.getElementById('s1-profile').data[1].y")
    np.testing.assert_allclose(line, field[5, 2], atol=step / 2 + 1e-6)
    picture = chromium.evaluate("document.getElementById('s1-field').data[0].z.map(row => [...row])")
    np.testing.assert_allclose(np.array(picture), field[:, 2, :].T, atol=step / 2 + 1e-6)


@needs_program
@needs_browser
def test_paper(studies_page, study_folder, chromium):
    """On paper: no controls, nothing wider than the page, all settings open."""
    chromium.size(1280, 900)
    chromium.open(studies_page)
    chromium.pdf(study_folder / "page.pdf")
    assert (study_folder / "page.pdf").read_bytes().startswith(b"%PDF")
    chromium.call("Emulation.setEmulatedMedia", media="print")
    chromium.size(688, 900)  # A4 less the margins, in CSS pixels
    chromium.evaluate("fitToPaper()")
    assert chromium.evaluate("document.documentElement.scrollWidth") <= 688
    assert chromium.evaluate(
        "[...document.querySelectorAll('.controls')].every(c => getComputedStyle(c).display === 'none')"
    )
    assert chromium.evaluate("[...document.querySelectorAll('details.provenance')].every(d => d.open)")
    widths = chromium.evaluate(
        "[...document.querySelectorAll('.main-svg')].filter(s => !s.closest('[hidden]')).map(s => s.getBoundingClientRect().width)"
    )
    assert widths and max(widths) <= 688
    chromium.call("Emulation.setEmulatedMedia", media="")
    chromium.size(1280, 900)


@needs_program
@needs_browser
def test_texts_of_a_file_are_texts(study_folder, chromium):
    """Markup in attributes, options and names is shown, not obeyed."""
    evil = '</script><img src=x onerror="document.body.dataset.errors=1"><b>'
    path = study_folder / "a<b>&amp;'\".nc"
    path.write_bytes((study_folder / "short.nc").read_bytes())
    with h5py.File(path, "r+") as file:
        file.attrs["device"] = evil
        file.attrs["options"] = f"members = {evil}\n"
        file.attrs["<i>name"] = evil
    bench = study_folder / "evil.json"
    document = json.loads((BENCHES / "h200-step.json").read_text())
    document["device"] = evil
    document["records"][0]["equation"] = evil
    bench.write_text(json.dumps(document))
    write_report([path, bench], study_folder / "evil.html", title=evil)
    chromium.open(study_folder / "evil.html")
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
def test_same_files_same_bytes(study_folder):
    files = [study_folder / name for name in STUDIES]
    assert page(files) == page(files)


def broken_files(study_folder):
    """name -> (bytes or a change of a copy of short.nc, what the message says)"""
    good = (study_folder / "short.nc").read_bytes()
    yield "short.nc.partial", good, "has not finished"
    yield "stopped.checkpoint", b"bandmill checkpoint\n\n\n\n\n" + bytes(500), "is a checkpoint.*bandmill resume"
    yield "cut.nc", good[: len(good) // 2], "cannot be read"
    yield "words.txt", b"some words\n", "neither HDF5 nor JSON"
    yield "empty.nc", b"", "neither HDF5 nor JSON"
    yield "cut.json", b'{"benchmark": "solve", "records": [', "not valid JSON"
    yield "other.json", b'{"a": 1}', "no summary of a study"
    yield "python.json", b'{"benchmark": "python", "n": 1}', "benchmark 'python': only solve"
    yield "odd.json", b'{"benchmark": "solve", "records": [{"n": 1}]}', "not a complete file"
    yield "odd2.json", b'{"benchmark": "step", "records": [1]}', "not a complete file"


@needs_program
def test_broken_files_are_told_in_one_line(study_folder, tmp_path):
    out = tmp_path / "report.html"
    out.write_text("<!DOCTYPE html> before")
    cases = list(broken_files(study_folder))

    def changed(name, change, words):
        path = tmp_path / name
        path.write_bytes((study_folder / "short.nc").read_bytes())
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
            write_report([study_folder / "short.nc", inputs / name], out)
        assert name in str(told.value) and "\n" not in str(told.value)
    code, lines = command(study_folder / "short.nc", inputs / "cut.nc", "-o", out)
    assert code == 2 and len(lines) == 1 and "cut.nc" in lines[0]
    code, lines = command(study_folder / "short.nc", "-o", tmp_path / "no-study_folder" / "report.html")
    assert code == 2 and len(lines) == 1 and "cannot be written" in lines[0]
    assert out.read_text() == "<!DOCTYPE html> before" and not [p for p in tmp_path.iterdir() if p.name.startswith(".")]
    code, lines = command(study_folder / "short.nc", "-o", out)
    assert code == 0 and not lines and out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_what_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ReportError, match="plotly is not installed.*pip install"):
        write_report([BENCHES / "h200-step.json"], tmp_path / "page.html")
    assert not list(tmp_path.iterdir())
