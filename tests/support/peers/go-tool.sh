#!/bin/sh
# Builds a Go program once into everpath's tool cache and prints its path.
#
#   go-tool.sh NAME MODULE_DIR PACKAGE [go build flag...]
#
# NAME must change whenever the program would: a NAME that is already there is not built again. The cache is
# $EVERPATH_TOOLS, or everpath/tools in the user's cache folder. Standard output carries the path and nothing
# else. Two builds at once are safe: each has its own temporary file and the last rename wins.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
name=$1
module=$2
package=$3
shift 3

tools=${EVERPATH_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/everpath/tools}
program=$tools/$name

say() { echo "$name: $*" >&2; }

if [ -x "$program" ]; then
    say "already built, $program"
    echo "$program"
    exit 0
fi

if ! command -v go >/dev/null 2>&1; then
    say "Go is not installed (or not on PATH)."
    say "Install Go $(sed -n 's/^go //p' "$module/go.mod") or newer, from https://go.dev/dl or your distribution, and run this again."
    exit 1
fi

mkdir -p "$tools"
temporary=$(mktemp "$tools/.$name.XXXXXX")
trap 'rm -f "$temporary"' EXIT
trap 'exit 130' INT TERM

say "building from $module with $(go env GOVERSION); the first build takes some minutes"
# What it is made of is fetched first, by itself: that may be tried again, and a build that fails need not be.
(cd "$module" && "$here/patiently.sh" go list -mod=readonly -deps "$@" "$package" >/dev/null)
(cd "$module" && go build -mod=readonly -o "$temporary" "$@" "$package")
chmod 755 "$temporary"
mv "$temporary" "$program"
say "built, $program"
echo "$program"
