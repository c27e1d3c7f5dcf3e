"""Runs the programs of the build under test (BANDMILL_BIN, the folder they stand in) in an empty folder."""

import os
import pathlib
import subprocess

import pytest

BIN = pathlib.Path(os.environ["BANDMILL_BIN"])


@pytest.fixture
def run(tmp_path):
    """run("bandmill", "info") -> CompletedProcess, with text output; keyword arguments are environment variables."""

    def run(program, *arguments, **environment):
        return subprocess.run(
            [BIN / program, *map(str, arguments)],
            cwd=tmp_path,
            # Threads that spin while they wait would take the cores of tests that run at the same time.
            env={"OMP_WAIT_POLICY": "passive", **os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


@pytest.fixture
def bandmill(run):
    return lambda *arguments, **environment: run("bandmill", *arguments, **environment)
