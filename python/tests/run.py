"""What CTest runs: pytest on this folder; 77 (skipped) where the module or what the tests need is missing."""

import importlib.util
import pathlib
import sys

sys.dont_write_bytecode = True
for name, remedy in (
    ("bandmill._bandmill", "build with nanobind installed"),
    ("numpy", "script/setup installs it"),
    ("pytest", "script/setup installs it"),
):
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        found = None
    if found is None:
        print(f"{name} was not found ({remedy}): skipped")
        sys.exit(77)

import pytest  # noqa: E402

sys.exit(pytest.main(["-q", "-rs", "-p", "no:cacheprovider", str(pathlib.Path(__file__).parent), *sys.argv[1:]]))
