#!/bin/sh
# Run by `make run`: validate a catalog that opm accepts and that strands users, show the fix, validate the fixed catalog.
set -eu
cd "$(dirname "$0")/../.."
here=examples/01-first-finding

show() { printf '\n$ %s\n' "$*"; "$@"; }

# Exit code 1 means findings, which this example must have.
code=0
show everpath validate-graph "$here/before" || code=$?
if [ "$code" -ne 1 ]; then echo "expected exit code 1, got $code" >&2; exit 1; fi

printf '\nThe fix:\n'
show diff -U1 "$here/before/catalog.yaml" "$here/after/catalog.yaml" || [ $? -eq 1 ]

show everpath validate-graph "$here/after"
printf '\nNow validate your own: .venv/bin/everpath validate-graph PATH\n'
