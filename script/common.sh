# shellcheck shell=bash
# Sourced by the scripts beside it: where the checkout is, how many jobs to run, how to run a step quietly.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck disable=SC2034 # used by the scripts
jobs=$(nproc 2>/dev/null || echo 2)

fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# A CUDA toolkit is often installed without being on the PATH.
if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
    export PATH="$PATH:/usr/local/cuda/bin"
fi

# quietly NAME COMMAND...: one line with the time it took; the end of its output if it fails.
quietly() {
    local name=$1 log status=0 start=$SECONDS
    shift
    mkdir -p build/log
    log=build/log/${name//[^[:alnum:]]/-}.log
    printf '%-32s' "$name"
    "$@" >"$log" 2>&1 || status=$?
    if [ $status -eq 0 ]; then
        printf '%4d s\n' $((SECONDS - start))
    else
        printf 'failed after %d s; the end of %s:\n' $((SECONDS - start)) "$log"
        tail -n 60 "$log"
    fi
    return $status
}

# test_counts JUNIT_FILE: "PASSED FAILED SKIPPED" as ctest counted them.
test_counts() {
    local tests failures skipped disabled
    attribute() { grep -m 1 -o "[[:space:]]$2=\"[0-9]*\"" "$1" | tr -dc 0-9; }
    tests=$(attribute "$1" tests) failures=$(attribute "$1" failures)
    skipped=$(attribute "$1" skipped) disabled=$(attribute "$1" disabled)
    echo $((tests - failures - skipped - disabled)) "$failures" $((skipped + disabled))
}
