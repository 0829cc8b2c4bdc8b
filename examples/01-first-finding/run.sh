#!/bin/sh
# What `make run` shows: a catalog that opm accepts and that strands users, its fix, and the mended catalog.
set -eu
cd "$(dirname "$0")/../.."
here=examples/01-first-finding

show() { printf '\n$ %s\n' "$*"; "$@"; }

# Findings are what this is about, so exit code 1 is the right answer here and any other is not.
code=0
show everpath validate-graph "$here/before" || code=$?
if [ "$code" -ne 1 ]; then echo "expected exit code 1, got $code" >&2; exit 1; fi

printf '\nThe edit that the finding asks for:\n'
show diff -U1 "$here/before/catalog.yaml" "$here/after/catalog.yaml" || [ $? -eq 1 ]

show everpath validate-graph "$here/after"
printf '\nNow your own: .venv/bin/everpath validate-graph PATH\n'
