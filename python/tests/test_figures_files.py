"""bandmill.figures: which files are refused, what is written, the command, and docs/figures.md."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("xarray")
pytest.importorskip("netCDF4")

import figure_files as files  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

import bandmill  # noqa: E402
from bandmill import figures  # noqa: E402
from bandmill.figures.__main__ import main  # noqa: E402


@pytest.mark.parametrize(
    "draw", ["domain_growth", "distributions", "flow_maps", "convergence", "speedups", "rooflines"]
)
def test_a_file_of_another_kind_is_refused(tmp_path, draw):
    files.simulate(tmp_path / "run.nc")
    with pytest.raises(
        bandmill.InvalidArgumentError, match=r"run.nc has .*\(it was written by 'simulate'\): give a file"
    ):
        getattr(figures, draw)(tmp_path / "run.nc")


def test_files_are_drawn_where_netcdf4_is_missing(tmp_path, monkeypatch):
    pytest.importorskip("h5py")
    data = files.flow_map(tmp_path / "map.nc", speeds=(0.5, 1.0))
    for module in ("netCDF4", "h5netcdf"):
        monkeypatch.setitem(sys.modules, module, None)
    first = figures.flow_maps(tmp_path / "map.nc").axes[0]
    assert np.array_equal(first.get_images()[0].get_array(), data["class"].values[0])
    assert len(figures.patterns(tmp_path / "map.nc", panel=1).axes) == 3


def test_what_is_no_file_of_ours_is_refused(tmp_path):
    files.flow_map(tmp_path / "map.nc")
    with pytest.raises(
        bandmill.InvalidArgumentError, match=r"map.nc has no variable domain_size_mean \(it was .* 'map'\)"
    ):
        figures.domain_growth(tmp_path / "map.nc")
    (tmp_path / "a.json").write_text('{"study": "map"}')
    with pytest.raises(bandmill.InvalidArgumentError, match="a.json has no variable class .*summary.*--out"):
        figures.flow_maps(tmp_path / "a.json")
    (tmp_path / "b.json").write_text('{"study": ')
    with pytest.raises(bandmill.InvalidArgumentError, match="b.json is no valid JSON"):
        figures.convergence(tmp_path / "b.json")
    (tmp_path / "c.txt").write_text("words")
    with pytest.raises(bandmill.InvalidArgumentError, match="c.txt is neither netCDF nor JSON"):
        figures.convergence(tmp_path / "c.txt")
    (tmp_path / "run.nc.checkpoint").write_bytes(b"bandmill checkpoint\n\n\n\n\n" + bytes(99))
    with pytest.raises(bandmill.InvalidArgumentError, match="run.nc.checkpoint is a checkpoint.*resume"):
        figures.space_time(tmp_path / "run.nc.checkpoint")
    with pytest.raises(FileNotFoundError, match="nothing.nc"):
        figures.space_time(tmp_path / "nothing.nc")
    with pytest.raises(TypeError, match="not from int"):
        figures.space_time(3)
    for draw in (figures.domain_growth, figures.convergence, figures.flow_maps, figures.speedups):
        with pytest.raises(bandmill.InvalidArgumentError, match="no files"):
            draw()


def test_saving(tmp_path):
    figure = figures.space_time(files.simulate(tmp_path / "run.nc"))
    assert isinstance(figure, Figure) and figure._repr_png_().startswith(b"\x89PNG")
    written = figures.save(figure, tmp_path / "folder" / "v0.5")
    assert [path.name for path in written] == ["v0.5.pdf", "v0.5.png"]
    assert written[0].read_bytes().startswith(b"%PDF") and written[1].read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in figures.save(figure, tmp_path / "only.svg")] == ["only.svg"]
    with pytest.raises(bandmill.InvalidArgumentError, match="'gif'.*pdf, png, svg"):
        figures.save(figure, tmp_path / "a", formats=["pdf", "gif"])
    assert not (tmp_path / "a.pdf").exists()


def test_the_same_file_gives_the_same_bytes_whatever_the_settings(tmp_path):
    """In two processes with other hash seeds, one of them with settings of the user's own."""
    files.flow_map(tmp_path / "map.nc")
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.grid: False\nlines.linewidth: 9\nsavefig.bbox: tight\n")
    for seed, settings in ("1", {}), ("2", {"MATPLOTLIBRC": str(tmp_path / "matplotlibrc")}):
        command = [sys.executable, "-m", "bandmill.figures", tmp_path / "map.nc", "-o", tmp_path / seed]
        command += ["--format", "pdf,png,svg"]
        subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed, **settings}, check=True, stdout=subprocess.PIPE
        )
    names = sorted(path.name for path in (tmp_path / "1").iterdir())
    assert names == sorted(f"{name}.{kind}" for name in ("flow-maps", "map-patterns") for kind in ("pdf", "png", "svg"))
    for name in names:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name


def test_the_command_draws_what_it_can(tmp_path, capsys):
    files.converge(tmp_path / "c.json")
    (tmp_path / "step.json").write_text('{"benchmark": "step", "records": []}')
    arguments = [str(tmp_path / name) for name in ("c.json", "step.json", "nothing.nc")]
    assert main([*arguments, "-o", str(tmp_path / "out"), "--format", "svg", "--diagrams"]) == 1
    written, complaints = capsys.readouterr()
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "convergence.svg",
        "memory-hierarchy.svg",
        "layouts.svg",
    }
    assert "convergence.svg" in written and "step.json has nothing to draw" in complaints and "nothing.nc" in complaints
    assert main([arguments[0], "-o", str(tmp_path / "out"), "--format", "svg"]) == 0
    with pytest.raises(SystemExit):
        main([])


def test_an_unfinished_file_does_not_keep_others_from_being_drawn(tmp_path, capsys):
    files.coarsen(tmp_path / "done.nc")
    empty = files.coarsen(tmp_path / "other.nc").drop_vars(["interface_histogram", "domain_size_histogram"])
    empty["domain_size_mean"] *= float("nan")
    empty.to_netcdf(tmp_path / "big.nc.partial")
    arguments = [str(tmp_path / name) for name in ("done.nc", "big.nc.partial", "other.nc")]
    assert main([*arguments, "-o", str(tmp_path / "out"), "--format", "svg"]) == 1
    written, complaints = capsys.readouterr()
    assert "domain-growth.svg" in written and (tmp_path / "out" / "domain-growth.svg").exists()
    assert "big.nc.partial is unfinished" in complaints and "big.nc.partial has no finite means" in complaints
    assert complaints.count("\n") == 2
    assert main([arguments[1], "-o", str(tmp_path / "none"), "--format", "svg"]) == 1
    assert not (tmp_path / "none").exists()


PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "figures.md").read_text()
SECTIONS = {
    text.partition("\n")[0]: re.findall(r"```python\n(.*?)```", text, re.DOTALL) for text in PAGE.split("\n## ")
}


@pytest.mark.parametrize("title", [title for title, blocks in SECTIONS.items() if blocks])
def test_the_code_of_the_docs(title, tmp_path, monkeypatch):
    """As it stands there, with files of the names that it has; nothing is rendered."""
    bench = tmp_path / "bench" / "results"
    bench.mkdir(parents=True)
    for name in ("coarsen.nc", "coarsen-2pi.nc", "coarsen-4pi.nc"):
        files.coarsen(tmp_path / name)
    for name in ("run.nc", "long.nc"):
        files.simulate(tmp_path / name)
    files.simulate(tmp_path / "forced.nc", 3, "forced-cahn-hilliard")
    files.flow_map(tmp_path / "map.nc", speeds=(0.5, 1.0))
    files.converge(tmp_path / "converge.nc")
    files.converge(tmp_path / "forced.json", "forced-cahn-hilliard")
    files.bench_steps(bench / "h200-diffusion.json")
    files.bench_steps(bench / "h200-hyperdiffusion.json", "hyperdiffusion")
    files.bench_solve(bench / "h200.json")
    saved = []
    monkeypatch.setattr(figures, "save", lambda figure, name: saved.append((figure, name)))
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(SECTIONS[title]), title, "exec"), {})
    assert all(isinstance(figure, Figure) for figure, _ in saved) and (saved or title == "What to cite")


def test_every_function_is_in_the_docs():
    for name in figures.__all__:
        assert f"`{name}(" in PAGE, name


@pytest.mark.skipif("BANDMILL_BIN" not in os.environ, reason="BANDMILL_BIN does not name the program's folder")
def test_what_the_program_writes_is_drawn(tmp_path):
    """Short studies by the real program, every figure of them."""
    commands = (
        "coarsen --members 40 --points 64 --until 2 --histogram-times 1,2 --out coarsen.nc --json coarsen.json",
        "coarsen --dimensions 2 --members 2 --points 32 --length pi --dt 0.004 --until 1 --out p.nc --json p.json",
        "simulate --members 2 --points 32 --until 1 --save-every 0.1 --out run.nc",
        "map --grid 5x4 --points 32 --until 2 --speed 0.5,1 --out map.nc",
        "converge --points 32:64 --out converge.nc --json converge.json",
    )
    for command in commands:
        program = pathlib.Path(os.environ["BANDMILL_BIN"], "bandmill")
        subprocess.run([program, *command.split(), "--quiet"], cwd=tmp_path, check=True)
    inputs = [str(path) for path in sorted(tmp_path.iterdir())]
    assert main([*inputs, "-o", str(tmp_path / "out"), "--format", "svg"]) == 0
    assert {path.stem for path in (tmp_path / "out").iterdir()} == {
        *("domain-growth", "domain-growth-2d", "coarsen-distributions", "run-space-time", "run-patterns"),
        *("flow-maps", "map-patterns", "convergence"),
    }
