"""Flow maps of bandmill.report: real clicks, taps and keys in a browser show the cells that h5py reads in the file."""

import pathlib
import re

import numpy as np
import pytest

from report_files import needs_browser, needs_program

h5py = pytest.importorskip("h5py", reason="h5py is not installed (script/setup installs it)")
pytest.importorskip("plotly", reason="plotly is not installed (script/setup installs it)")


def test_classes_have_the_colours_of_the_figures():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (script/setup installs it)")
    from bandmill.figures._style import CLASS_COLOURS
    from bandmill.report import flowmap

    in_figures = [CLASS_COLOURS[kind].upper() for kind in (0, 1, 2)]
    assert list(flowmap.COLOURS.values()) == in_figures
    script = (pathlib.Path(flowmap.__file__).parent / "flowmap.js").read_text()
    assert re.findall(r"[012]: \"(#\w+)\"", script.partition("CLASS_COLOURS = {")[2].partition("}")[0]) == in_figures


def test_cells_that_are_not_finite_are_not_counted_as_unsettled():
    from bandmill.report.flowmap import counts_table

    classes, settled = np.array([[[0, 1, 2], [-1, -1, 0]]]), np.array([[[0, 1, 1], [0, 0, 1]]])
    text = counts_table(classes, settled, [{"speed": 0.5}])
    assert '<td class="n" data-head="not finite">2</td><td class="n" data-head="not settled">1</td>' in text


def cell_list(chromium, name):
    """The names and texts that the page shows of the chosen cell."""
    texts = "d => [d.children[0].textContent, d.children[1].textContent]"
    pairs = f"[...document.querySelectorAll('#{name}-cell dl > div')].map({texts})"
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
def test_click_shows_the_cell(studies_page, study_folder, chromium):
    chromium.size(1280, 900)
    chromium.open(studies_page)
    for row, column in ((3, 20), (12, 5), (0, 0), (15, 23)):
        place = middle_of_cell(chromium, "s2", row, column)
        chromium.move(*place)  # a hand is slow enough for plotly to notice where it is
        chromium.wait_for(
            "(document.getElementById('s2-map')._hoverdata || [])"
            f".some(p => p.pointNumber[0] === {row} && p.pointNumber[1] === {column})"
        )
        chromium.click(*place)
        chromium.wait_for(f"location.hash === '#cell=0,{row},{column}'")
        check_cell(chromium, "s2", study_folder / "map.nc", 0, row, column)


@needs_program
@needs_browser
def test_tap_on_a_phone(studies_page, study_folder, chromium):
    chromium.size(375, 812, phone=True)
    chromium.open(studies_page)
    chromium.tap(*middle_of_cell(chromium, "s2", 4, 18))
    chromium.wait_for("location.hash === '#cell=0,4,18'")
    check_cell(chromium, "s2", study_folder / "map.nc", 0, 4, 18)
    chromium.size(1280, 900)


@needs_program
@needs_browser
def test_address_and_keys_choose_cells(studies_page, study_folder, chromium):
    chromium.open(studies_page, "#cell=1,9,7")
    check_cell(chromium, "s2", study_folder / "map.nc", 1, 9, 7)
    chromium.evaluate("document.getElementById('s2-map').focus()")
    chromium.key("ArrowUp")
    chromium.wait_for("location.hash === '#cell=1,10,7'")
    chromium.key("ArrowLeft")
    chromium.wait_for("location.hash === '#cell=1,10,6'")
    check_cell(chromium, "s2", study_folder / "map.nc", 1, 10, 6)
    chromium.evaluate("location.hash = '#cell=9,99,99'")  # beyond the map: the last cell
    chromium.wait_for("location.hash === '#cell=1,15,23'")
    check_cell(chromium, "s2", study_folder / "map.nc", 1, 15, 23)
    chromium.evaluate("location.hash = '#map=2&cell=0,0,3'")
    chromium.wait_for("document.getElementById('s3-cell-title').textContent === 'Cell: row 0, column 3'")
    with h5py.File(study_folder / "bare.nc") as file:
        assert float(cell_list(chromium, "s3")["gamma"]) == pytest.approx(file["gamma"][3], rel=1e-5)
    assert "No final states were kept" in chromium.evaluate("document.getElementById('s3-kept').textContent")


def check_state(chromium, path, panel, row, column):
    with h5py.File(path) as file:
        i = int(np.abs(file["kept_forcing"][...] - file["forcing"][row]).argmin())
        j = int(np.abs(file["kept_mean"][...] - file["mean"][column]).argmin())
        kept_row = int(np.abs(file["forcing"][...] - file["kept_forcing"][i]).argmin())
        kept_column = int(np.abs(file["mean"][...] - file["kept_mean"][j]).argmin())
        state, x = file["state"][panel, i, j], file["position"][...]
        where = f"mean {file['kept_mean'][j]:.6g}, forcing {file['kept_forcing'][i]:.6g}"
        step = np.ptp(file["state"][...]) / (2**12 - 3)
    note = chromium.evaluate("document.getElementById('s2-kept').textContent")
    across, down = abs(kept_column - column), abs(kept_row - row)
    if across or down:
        assert f"row {kept_row}, column {kept_column} ({where})" in note
        assert f"{across} column{'s' * (across != 1)} and {down} row{'s' * (down != 1)} away" in note
    else:
        assert f"of this cell ({where})" in note
    line = chromium.evaluate("(() => { const d = document.getElementById('s2-state').data[0]; return [d.x, d.y]; })()")
    np.testing.assert_allclose(line[0], x, rtol=1e-6)
    np.testing.assert_allclose(line[1], state, atol=step / 2 + 1e-6)


@needs_program
@needs_browser
def test_solution_of_the_nearest_kept_cell(studies_page, study_folder, chromium):
    """Kept are rows 0, 5, 10, 15 and columns 0, 5, 9, 14, 18, 23 of the map."""
    chromium.open(studies_page)
    for row, column in ((8, 11), (7, 6), (3, 17), (12, 2), (5, 9), (13, 21)):
        chromium.evaluate(f"maps[0].choose(1, {row}, {column})")
        check_state(chromium, study_folder / "map.nc", 1, row, column)
