#!/usr/bin/env bash
# Installs everpath from the checkout of the action, and runs it. Both actions call this script.
# Everpath detects GitHub Actions, and writes the annotations and the step summary.
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

# Both inputs are lists of words, which `read` splits at spaces and newlines; it returns 1 because there is no
# NUL. For an empty input, everpath uses its configuration.
read -r -d '' -a paths <<< "${EVERPATH_PATH:-}" || true
read -r -d '' -a options <<< "${EVERPATH_ARGS:-}" || true
command=("$venv/bin/everpath" validate-graph "${paths[@]}" ${EVERPATH_FAIL_ON:+--fail-on "$EVERPATH_FAIL_ON"} "${options[@]}")

if [ -n "${EVERPATH_SARIF:-}" ]; then
    code=0
    "${command[@]}" -o sarif --output-file "$EVERPATH_SARIF" || code=$?
    # With 1 (findings) and 3 (unreadable parts) there is a report to upload, and the run below fails the job.
    case $code in 0 | 1 | 3) ;; *) exit "$code" ;; esac
fi
exec "${command[@]}"
