#!/usr/bin/env bash
# Runs one pytest file with the project's Python, or with the system's; 77 (skipped) where neither has pytest.
# From CMake: SOURCE_DIR, BANDMILL_BIN.
set -euo pipefail
for python in "$SOURCE_DIR/.venv/bin/python" python3; do
    if "$python" -c 'import pytest' 2>/dev/null; then
        exec "$python" -m pytest -q -p no:cacheprovider "$@"
    fi
done
echo "pytest was not found (script/setup installs it): skipped"
exit 77
