#!/usr/bin/env bash
# The body of both actions: installs the everpath that the action was checked out with, and runs it.
# Annotations and the step summary come from everpath itself, which knows that it runs under GitHub Actions.
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
venv=${RUNNER_TEMP:-/tmp}/everpath-venv

if ! [ -x "$venv/bin/everpath" ]; then
    if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo "::error::everpath needs Python 3.11 or newer; add actions/setup-python before this step"
        exit 2
    fi
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$source"
fi

# Both inputs are lists of words by contract, so they are split here on purpose, at blanks and at line ends
# (`read` says 1 when it meets no NUL, which is always). What an input leaves open, the configuration decides.
read -r -d '' -a paths <<< "${EVERPATH_PATH:-}" || true
read -r -d '' -a options <<< "${EVERPATH_ARGS:-}" || true
command=("$venv/bin/everpath" validate-graph "${paths[@]}" ${EVERPATH_FAIL_ON:+--fail-on "$EVERPATH_FAIL_ON"} "${options[@]}")

if [ -n "${EVERPATH_SARIF:-}" ]; then
    code=0
    "${command[@]}" -o sarif --output-file "$EVERPATH_SARIF" || code=$?
    # 1 is findings, 3 is findings with unreadable parts: both leave a report to upload, and the run below fails the job.
    case $code in 0 | 1 | 3) ;; *) exit "$code" ;; esac
fi
exec "${command[@]}"
