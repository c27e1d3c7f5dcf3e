"""The Python code of docs/python.md and of the README is run as it stands there, where the frameworks and the GPU are that it uses."""

import importlib.util
import inspect
import pathlib
import re

import pytest

import bandmill

ROOT = pathlib.Path(__file__).parents[2]
# A block may go on from earlier ones of its section, so sections are run as a whole.
SECTIONS = {
    f"{page.name}: {text.partition(chr(10))[0]}": re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for page in (ROOT / "docs" / "python.md", ROOT / "README.md")
    for text in page.read_text().split("\n## ")[1:]
}


@pytest.mark.parametrize("title", [title for title, blocks in SECTIONS.items() if blocks])
def test_section(title, tmp_path, monkeypatch):
    code = "\n".join(SECTIONS[title])
    for name in re.findall(r"^import (torch|jax|cupy|scipy)\b", code, re.MULTILINE):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    if "cuda" in code and not bandmill.cuda_devices():
        pytest.skip("no GPU")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, title, "exec"), {})


def test_every_public_name_is_described():
    text = (ROOT / "docs" / "python.md").read_text()
    for name in bandmill.__all__:
        assert name.strip("_") in text, name
    for name in ("solve", "T", "n", "half_bandwidth", "periodic", "dtype", "device", "report"):
        assert f"plan.{name}" in text, name
    for name in (n for n in vars(bandmill.Ensemble) | vars(bandmill.Ensemble.__base__) if not n.startswith("_")):
        assert f"`ensemble.{name}" in text, name
    for name in ("time", "step", "lost", "interrupted", "to_xarray"):
        assert f"`history.{name}" in text, name
    for name in (*bandmill.Statistic.__dataclass_fields__, *bandmill.observables):
        assert f"`{name}`" in text, name
    for function in (bandmill.Ensemble.__init__, bandmill.Ensemble.advance):
        for name in list(inspect.signature(function).parameters)[1:]:
            assert f"`{name}`" in text, name


def test_times_of_loss_are_described_as_when_it_was_noticed():
    text = (ROOT / "docs" / "python.md").read_text()
    (loss,) = re.findall(r"as `LostMember`: `member`, `time` \((.*?)\)", text)
    assert "noticed" in loss and "chunk" in loss
    assert "time` is when it was noticed" in text and "`time` is when it was noticed" in bandmill.UnstableError.__doc__


def test_the_stub_has_the_module_s_names():
    from bandmill import _bandmill

    stub = (pathlib.Path(__file__).parents[1] / "bandmill" / "_bandmill.pyi").read_text()
    written = set(re.findall(r"^(?:def |class )?(\w+)[:(]", stub, re.MULTILINE))
    assert written == {name for name in dir(_bandmill) if not name.startswith("__")}
    for name, body in re.findall(r"^class (\w+):(.*(?:\n(?:    .*)?)*)", stub, re.MULTILINE):
        methods = set(re.findall(r"^    def (\w+)", body, re.MULTILINE)) - {"__init__"}
        assert methods == {member for member in dir(getattr(_bandmill, name)) if not member.startswith("_")}, name
