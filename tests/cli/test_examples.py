"""The programs of examples/, at sizes that take no time."""

import os
import pathlib
import re

import pytest


@pytest.mark.parametrize("rows, systems", [(1, 1), (50, 3), (257, 100)])
def test_solve_batch(run, rows, systems):
    done = run("solve_batch", rows, systems)
    assert done.returncode == 0 and done.stderr == ""
    middle = float(re.search(r"x in the middle is ([\d.]+)", done.stdout)[1])
    # x_i of tridiag(-1, 4, -1) x = 1: 1/2 (1 - what is left of the ends' influence)
    root = 2 - 3**0.5
    left, right = rows // 2 + 1, rows - rows // 2
    n1 = rows + 1
    ends = (root**left + root**right - root ** (n1 + left) - root ** (n1 + right)) / (1 - root ** (2 * n1))
    assert middle == pytest.approx(0.5 * (1 - ends), abs=1e-6)


def test_solve_batch_reports_errors(run):
    done = run("solve_batch", 0, 5)
    assert done.returncode == 1 and done.stderr.count("\n") == 1


def test_periodic_diffusion(run):
    done = run("periodic_diffusion", 128, 100, 50)
    assert done.returncode == 0 and done.stderr == ""
    for residual, error in re.findall(r"residual +([\d.]+) epsilon.*?error +([\d.e+-]+) ", done.stdout, re.DOTALL):
        assert float(residual) < 20
        assert float(error) < 5e-3
    assert "unknowns/s" in done.stdout and "ISA level" in done.stdout


def test_periodic_diffusion_is_of_second_order(run):
    """Half the steps in space and time: a quarter of the error."""

    def error(rows, steps):
        return float(re.search(r"error +([\d.e+-]+) ", run("periodic_diffusion", rows, 16, steps).stdout)[1])

    assert 3 < error(64, 32) / error(128, 64) < 5


def test_periodic_diffusion_refuses_too_small_sizes(run):
    done = run("periodic_diffusion", 8)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def numbers(text):
    return [float(number) for number in re.findall(r"\d+\.\d+", text)]


def test_coarsening_prints_what_the_readme_shows(run):
    done = run("coarsening")
    assert done.returncode == 0 and done.stderr == ""
    readme = (pathlib.Path(os.environ["SOURCE_DIR"]) / "README.md").read_text()
    shown = re.search(r"```text\n(   time .*?)```", readme, re.DOTALL)[1]
    assert shown.splitlines()[0] == done.stdout.splitlines()[0]
    # Backends round differently, so a run may merge two domains a moment earlier.
    assert numbers(done.stdout) == pytest.approx(numbers(shown), abs=0.002)


def test_coarsening_reports_errors(run):
    done = run("coarsening", 0)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
