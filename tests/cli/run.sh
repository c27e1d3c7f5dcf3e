#!/usr/bin/env bash
# Runs one pytest file with the project's Python, or with the system's; 77 (skipped) where neither has pytest.
# From CMake: SOURCE_DIR, BANDMILL_BIN.
set -euo pipefail
for python in "$SOURCE_DIR/.venv/bin/python" python3; do
    if "$python" -c 'import pytest' 2>/dev/null; then
        status=0
        "$python" -m pytest -q -p no:cacheprovider "$@" || status=$?
        if [ $status -eq 5 ]; then exit 77; fi # pytest ran no test: the file skipped itself
        exit $status
    fi
done
echo "pytest was not found (script/setup installs it): skipped"
exit 77
