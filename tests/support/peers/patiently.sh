#!/bin/sh
# Runs a command that fetches something, five times at most: module proxies fail now and then, seldom for long.
#
#   patiently.sh COMMAND [ARGUMENT...]
#
# The exit code is that of the last attempt.
set -u

pause=2
for attempt in 1 2 3 4; do
    "$@" && exit 0
    echo "patiently.sh: attempt $attempt of 5 has failed, the next is in $pause s: $*" >&2
    sleep "$pause"
    pause=$((pause * 2))
done
exec "$@"
