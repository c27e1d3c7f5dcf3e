"""The programs of examples/, at sizes that take no time, and what docs/examples.md shows of them."""

import importlib.util
import json
import math
import os
import pathlib
import re
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
EXAMPLES = SOURCE / "examples"
BIN = pathlib.Path(os.environ["BANDMILL_BIN"])
MODULE = BIN.parent / "python"
PAGE = SOURCE / "docs" / "examples.md"
SANITIZED = "BANDMILL_TEST_MAX_ELEMENTS" in os.environ


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


@pytest.mark.parametrize("rows, systems", [(0, 5), (3, -5), (4, 2**62), (4, 2**60), (3, "x"), ("1e3", 4), ("4.7", 4)])
def test_solve_batch_reports_errors(run, rows, systems):
    for program in ["solve_batch", "solve_batch_c"]:
        done = run(program, rows, systems)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and done.stdout == ""


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
    readme = (SOURCE / "README.md").read_text()
    shown = re.search(r"```text\n(   time .*?)```", readme, re.DOTALL)[1]
    assert shown.splitlines()[0] == done.stdout.splitlines()[0]
    # Backends round differently, so a run may merge two domains a moment earlier.
    assert numbers(done.stdout) == pytest.approx(numbers(shown), abs=0.002)


def test_coarsening_reports_errors(run):
    done = run("coarsening", 0)
    assert done.returncode == 1 and done.stderr.count("\n") == 1


def succeed(run, program, *arguments):
    """What a program prints. It compares itself with an exact answer, and fails if it is wrong."""
    if program == "new_equation" and SANITIZED:
        pytest.skip("tests/equations, which builds it, is no part of builds with sanitizers")
    done = run(program, *arguments)
    assert done.returncode == 0 and done.stderr == "", (done.stdout, done.stderr)
    return done.stdout


def errors_and_orders(text):
    """(coarse error, fine error, order) of every line that has them; the order must be that of the errors."""
    number = r"([\d.]+e-\d+)"
    found = [tuple(map(float, line)) for line in re.findall(rf"error {number} .*?, {number} .*order ([\d.]+)", text)]
    for coarse, fine, order in found:
        assert math.log2(coarse / fine) == pytest.approx(order, abs=0.03)
    return found


def check_splines(text):
    # The error of a cubic spline is at most 5/384 h^4 times the fourth derivative; here h <= (1 + 0.16 pi) / intervals,
    # and the curves are sines of these wave numbers.
    waves = {"natural": 3 * math.pi, "periodic": 6 * math.pi, "1000": 3 * math.pi}
    lines = text.splitlines()
    for line in lines:
        bound = 5 / 384 * ((1 + 0.16 * math.pi) / 64 * waves[re.match(r"\w+", line)[0]]) ** 4
        ((coarse, _, order),) = errors_and_orders(line)
        assert 0.02 * bound < coarse < bound
        assert order == pytest.approx(4, abs=0.1)
    return len(lines)


def check_pade(text):
    (sixth, tenth) = errors_and_orders(text)
    assert sixth[2] == pytest.approx(6, abs=0.2) and tenth[2] == pytest.approx(10, abs=0.4)
    assert tenth[1] < 1e-3 * sixth[1]


def check_new_equation(text):
    """One step multiplies a weak wave by (1 + dt r) / (1 + dt (1 - kappa)^2), with -kappa its second difference."""
    dt, dx = 0.05, 16 * 2 * math.pi / 512
    kappa = (2 / dx * math.sin(dx / 2)) ** 2
    rows = [list(map(float, line.split())) for line in text.splitlines()[1:-1]]
    assert len(rows) == 5
    for r, growth, mean_square, two_thirds in rows:
        assert growth == pytest.approx(math.log((1 + dt * r) / (1 + dt * (1 - kappa) ** 2)) / dt, abs=6e-5)
        assert two_thirds == pytest.approx(max(0, 2 * r / 3), abs=6e-5)
        assert mean_square == pytest.approx(two_thirds, abs=4e-4)
    width, deviation = map(float, re.search(r"are ([\d.]+) \+- ([\d.]+) wide", text).groups())
    assert 0 < deviation < 0.05
    assert width == pytest.approx(2 * math.pi, abs=3 * deviation + 0.02)


def test_cubic_splines(run):
    assert check_splines(succeed(run, "cubic_splines")) == 2


def test_pade_derivatives(run):
    check_pade(succeed(run, "pade_derivatives"))


def test_heat_adi(run):
    ((_, fine, order),) = errors_and_orders(succeed(run, "heat_adi"))
    assert order == pytest.approx(2, abs=0.02) and fine < 1e-4


def test_black_scholes(run):
    text = succeed(run, "black_scholes")
    ((_, fine, order),) = errors_and_orders(text)
    assert order == pytest.approx(2, abs=0.1) and fine < 0.01
    # Calls less puts are exp(y) - K, whose differences leave sigma^2 / 2 dy^2 / 12 exp(y) a year.
    dy = (math.log(3) + 5 * 0.25) / 200
    parity = float(re.search(r"at most ([\d.e-]+)", text)[1])
    assert parity == pytest.approx(0.25**2 / 2 * dy**2 / 12 * 100, rel=0.05)


def test_new_equation(run):
    check_new_equation(succeed(run, "new_equation"))


ON_GPU = {"cubic_splines": check_splines, "pade_derivatives": check_pade, "new_equation": check_new_equation}


@pytest.mark.parametrize("program", ON_GPU)
def test_a_gpu_is_used_or_missed(run, program):
    if program == "new_equation" and SANITIZED:
        pytest.skip("tests/equations, which builds it, is no part of builds with sanitizers")
    done = run(program, "--gpu")
    gpus = json.loads(run("bandmill", "info", "--json").stdout)["gpus"]
    # tests/equations has the CPU's part of the engine only.
    if gpus and not (program == "new_equation" and "built without CUDA" in done.stderr):
        assert done.returncode == 0 and done.stderr == "", (done.stdout, done.stderr)
        ON_GPU[program](done.stdout)
    else:
        assert done.returncode == 1 and done.stderr.count("\n") == 1
    done = run(program, "--cpu")
    assert done.returncode == 2 and done.stderr == f"usage: {program} [--gpu]\n"


def python_example(name):
    if SANITIZED or not list((MODULE / "bandmill").glob("_bandmill.*")):
        pytest.skip("the Python module is not built here")
    pytest.importorskip("numpy")
    done = subprocess.run(
        [sys.executable, EXAMPLES / "python" / name],
        env={**os.environ, "PYTHONPATH": str(MODULE), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and done.stderr == "", (done.stdout, done.stderr)
    return done.stdout


def test_cubic_splines_in_python():
    assert check_splines(python_example("cubic_splines.py")) == 1


def test_cubic_splines_in_python_are_those_of_scipy(monkeypatch):
    python_example("cubic_splines.py")  # skips where the module is not built
    np, interpolate = pytest.importorskip("numpy"), pytest.importorskip("scipy.interpolate")
    monkeypatch.syspath_prepend(str(MODULE))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec = importlib.util.spec_from_file_location("cubic_splines", EXAMPLES / "python" / "cubic_splines.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    random = np.random.default_rng(7)
    x, y = np.sort(random.uniform(-3, 5, 40)), random.normal(size=(40, 6))
    t = np.linspace(x[0], x[-1], 501)
    expected = interpolate.CubicSpline(x, y, bc_type="natural")(t)
    assert np.allclose(example.natural_splines(x, y)(t), expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_black_scholes_in_python():
    ((_, fine, order),) = errors_and_orders(python_example("black_scholes.py"))
    assert order == pytest.approx(2, abs=0.1) and fine < 0.01


def page_blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def without_indent(text):
    return re.sub(r"^ +", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("language, pattern", [("cpp", "*.?pp"), ("python", "python/*.py")])
def test_the_page_shows_parts_of_the_sources(language, pattern):
    """Line by line as they stand there, but for the indentation."""
    sources = [without_indent(path.read_text()) for path in sorted(EXAMPLES.glob(pattern))]
    blocks = page_blocks(language)
    assert blocks
    for block in blocks:
        assert any("\n" + without_indent(block) in source for source in sources), block


def test_the_page_names_every_example():
    text = PAGE.read_text()
    for path in [*EXAMPLES.glob("*.?pp"), *EXAMPLES.glob("python/*.py")]:
        assert f"examples/{path.relative_to(EXAMPLES)}" in text, path.name


# "`examples/NAME` prints", and what it prints.
PRINTED = re.findall(
    r"^`examples/([\w./]+)` prints\n\n```text\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize("source, shown", PRINTED, ids=[source for source, _ in PRINTED])
def test_the_page_shows_what_they_print(run, source, shown):
    if source.endswith(".py"):
        printed = python_example(source.removeprefix("python/"))
    else:
        printed = succeed(run, source.removesuffix(".cpp"))
    number = r"-?\d+(?:\.\d+)?(?:e-\d+)?"
    assert re.sub(number, "#", printed).split() == re.sub(number, "#", shown).split()
    for value, documented in zip(re.findall(number, printed), re.findall(number, shown)):
        error = 0.05 * float(documented) if "e" in documented else 0.02
        assert float(value) == pytest.approx(float(documented), abs=error)


def test_every_output_of_the_page_is_looked_at():
    assert PRINTED and len(PRINTED) == len(page_blocks("text"))
