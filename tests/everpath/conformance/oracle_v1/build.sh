#!/bin/sh
# Builds the OLM v1 oracle into the tool cache, under a name made from its sources, and prints its path.
#
# operator-controller's resolver is internal to its module, and Go takes nothing from outside into a module
# of its cache: the module is copied, the oracle put inside, and the copy deleted when the program is built.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
upstream=github.com/operator-framework/operator-controller

digest() { if command -v sha256sum >/dev/null 2>&1; then sha256sum; else shasum -a 256; fi; }

hash=$(cd "$here" && cat build.sh go.mod go.sum ./*.go | digest | cut -c1-16)
name=oracle-v1-$hash
tools=${EVERPATH_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/everpath/tools}
copy=$tools/.$name.$$

if ! command -v go >/dev/null 2>&1; then
    copy=$here # go-tool.sh reads there which Go to install, and says so
elif [ ! -x "$tools/$name" ]; then
    trap 'rm -rf "$copy"' EXIT
    trap 'exit 130' INT TERM
    module=$(cd "$here" && "$here/../../../support/peers/patiently.sh" go mod download "$upstream" >&2 && go list -m -f '{{.Dir}}' "$upstream")
    mkdir -p "$tools"
    cp -R "$module" "$copy"
    chmod -R u+w "$copy"
    mkdir "$copy/internal/everpathoracle"
    cp "$here"/*.go "$copy/internal/everpathoracle/"
fi

# No part of it needs C, so neither does whoever builds it.
CGO_ENABLED=0 "$here/../../../support/peers/go-tool.sh" "$name" "$copy" ./internal/everpathoracle \
    -tags containers_image_openpgp -ldflags "-s -w"
