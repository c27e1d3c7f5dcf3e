"""The progress bar: on terminals, in files and in notebooks."""

import io
import sys
import types

import numpy as np
import pytest

import bandmill
from bandmill._progress import TextBar, make_bar


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def small():
    return bandmill.Ensemble(bandmill.CahnHilliard(), 3, points=16, time_step=0.01)


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_a_line_that_is_written_over(clock):
    stream = Terminal()
    bar = TextBar(stream)
    for step in (100, 200, 500, 1000):
        clock[0] += 1.0
        bar.update(bandmill.Progress(step, 1000, step * 0.01))
    bar.close()
    lines = stream.getvalue().split("\r")
    assert lines[0] == "" and len(lines) == 5 and lines[-1].endswith("\n") and "\n" not in "".join(lines[:-1])
    assert lines[1] == " 10%|██                  | 100/1000 steps, t = 1 [00:01<00:09, 100 steps/s]"
    assert lines[4].rstrip() == f"100%|{20 * chr(9608)}| 1000/1000 steps, t = 10 [00:04<00:00, 250 steps/s]"
    assert all(len(after) >= len(before) for before, after in zip(lines[1:], lines[2:]))


def test_it_is_not_drawn_too_often(clock):
    stream = Terminal()
    bar = TextBar(stream)
    for step in range(1, 1001):
        clock[0] += 0.001
        bar.update(bandmill.Progress(step, 1000, 0.0))
    bar.close()
    assert 9 <= stream.getvalue().count("\r") <= 12 and " 1000/1000 " in stream.getvalue()


def test_hours(clock):
    stream = Terminal()
    bar = TextBar(stream)
    clock[0] = 3723.0
    bar.update(bandmill.Progress(1, 11, 0.0))
    assert "[1:02:03<10:20:30, 0.000269 steps/s]" in stream.getvalue()


def test_a_file_gets_few_lines(clock):
    stream = io.StringIO()
    bar = TextBar(stream)
    for step in range(1, 101):
        clock[0] += 0.3
        bar.update(bandmill.Progress(step, 100, 0.0))
    bar.close()
    lines = stream.getvalue().splitlines()
    assert "\r" not in stream.getvalue() and 3 <= len(lines) <= 4 and lines[-1].startswith("100%|##########")


@pytest.mark.parametrize("stream", [None, io.TextIOWrapper(io.BytesIO())])
def test_without_a_console(stream, monkeypatch):
    if stream is not None:
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    assert not small().advance(steps=5, progress=True).interrupted


def test_advance_draws_it(capsys):
    ensemble = small()
    ensemble.advance(steps=30, progress=True)
    ensemble.advance(steps=10, progress=False)
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and "30/30 steps, t = 0.3" in err


def test_booleans_of_numpy_are_booleans(capsys):
    ensemble = small()
    assert not ensemble.advance(steps=30, progress=lambda now: np.bool_(True), chunk=10).interrupted
    assert ensemble.advance(steps=30, progress=lambda now: np.bool_(False), chunk=10).interrupted
    assert ensemble.step == 40
    assert not ensemble.advance(steps=30, progress=lambda now: 0, chunk=10).interrupted  # no boolean: it goes on
    ensemble.advance(steps=10, progress=np.bool_(False))
    assert capsys.readouterr().err == ""
    ensemble.advance(steps=10, progress=np.bool_(True))
    assert "10/10 steps" in capsys.readouterr().err


def test_a_bar_that_is_interrupted_is_ended(monkeypatch):
    stream = Terminal()
    bar = TextBar(stream)
    bar.update(bandmill.Progress(3, 10, 0.3))
    monkeypatch.setattr("bandmill._ensemble.make_bar", lambda: bar)
    ensemble = small()
    ensemble.state = 1e9 * ensemble.x
    with pytest.raises(bandmill.UnstableError), pytest.warns(bandmill.AccuracyWarning):
        ensemble.advance(steps=10, progress=True)
    assert stream.getvalue().startswith("\r 30%|") and stream.getvalue().endswith("\n")


@pytest.fixture
def notebook(monkeypatch):
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))


def test_notebooks_without_tqdm(notebook, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    small().advance(steps=30, progress=True)
    assert stream.getvalue().startswith("\r") and "30/30" in stream.getvalue() and stream.getvalue().endswith("\n")


def test_notebooks_with_tqdm(notebook, monkeypatch):
    made = []

    class Bar:
        def __init__(self, total, unit):
            self.total, self.n, self.closed = total, 0, False
            made.append(self)

        def set_postfix_str(self, text, refresh):
            self.text = text

        def update(self, steps):
            self.n += steps

        def close(self):
            self.closed = True

    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    small().advance(steps=30, progress=True)
    (bar,) = made
    assert (bar.total, bar.n, bar.text, bar.closed) == (30, 30, "t = 0.3", True)


def test_a_shell_that_is_no_notebook(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace()))
    assert type(make_bar()) is TextBar
