"""Every bandmill command in the docs is run as it stands there. Those marked "about a minute" are only tried (--dry-run);
those that go on "after Ctrl-C" must be understood."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from studies import BIN, ENVIRONMENT

ROOT = pathlib.Path(os.environ["SOURCE_DIR"])


def commands(page):
    text = (ROOT / page).read_text()
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if re.match(r"(mpirun .*)?bandmill ", line):
                yield line


@pytest.mark.parametrize("page", ["README.md", "docs/studies.md", "docs/maps.md", "docs/planes.md", "docs/scaling.md"])
def test_commands(tmp_path, page):
    lines = list(commands(page))
    assert lines
    environment = {**ENVIRONMENT, "PATH": f"{BIN.parent}:{ENVIRONMENT['PATH']}"}
    for line in lines:
        command, _, remark = line.partition("#")
        if "mpirun" in command and shutil.which("mpirun") is None:
            continue
        if "about" in remark:
            command += " --dry-run"
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        if "after Ctrl-C" in remark:
            assert "No such file" in done.stderr
        else:
            assert done.returncode == 0, (command, done.stdout, done.stderr)
