#!/bin/sh
# Builds the real parts that come as Go modules, once, and prints the folder that has them under plain names:
# the programs below, and the resource definitions of OLM v0 and v1 as folders.
#
# The folder's name is made from the modules' go.mod and go.sum and from this file, the programs' from their versions.
set -eu

programs='kube-apiserver kube-controller-manager catalog olm copy-content operator-controller catalogd opm'
definitions='olm-v0-crds olm-v1-crds'

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
peers=$(CDPATH='' cd -- "$here/../../support/peers" && pwd)
tools=${EVERPATH_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/everpath/tools}

digest() { if command -v sha256sum >/dev/null 2>&1; then sha256sum; else shasum -a 256; fi; }

version_of() { sed -n "s|^[[:space:]]*\(require \)\{0,1\}$2 v\([^ ]*\).*|\2|p" "$here/$1/go.mod"; }

# A module that was never fetched has no folder.
folder_of() { (cd "$here/$1" && "$peers/patiently.sh" go mod download "$2" >&2 && go list -m -f '{{.Dir}}' "$2"); }

# No part of them needs C, so neither does whoever builds them. They take minutes on every core: be polite.
build() { CGO_ENABLED=0 nice -n 10 "$peers/go-tool.sh" "$@"; }

kubernetes() {
    version=$(version_of kubernetes k8s.io/kubernetes)
    build "$1-$version" "$here/kubernetes" "k8s.io/kubernetes/cmd/$1" -trimpath \
        -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$version"
}

# OLM lets itself ask the API server five times a second, and has no option for it: fifty operators that are installed
# at the same time would take half an hour. The copy of the client library differs from the original in these rates.
unthrottled() {
    mkdir "$temporary/.olm"
    cp -R "$(folder_of operator-lifecycle-manager k8s.io/client-go)" "$temporary/.olm/client-go"
    chmod -R u+w "$temporary/.olm/client-go"
    rates=$temporary/.olm/client-go/rest/config.go
    sed -e 's/DefaultQPS   float32 = 5\.0$/DefaultQPS   float32 = 500.0/' \
        -e 's/DefaultBurst int     = 10$/DefaultBurst int     = 1000/' "$rates" >"$temporary/.olm/rates"
    [ "$(grep -c -e 'float32 = 500\.0$' -e 'int     = 1000$' "$temporary/.olm/rates")" = 2 ]
    mv "$temporary/.olm/rates" "$rates"
    cp "$here/operator-lifecycle-manager/go.mod" "$temporary/.olm/unthrottled.mod"
    cp "$here/operator-lifecycle-manager/go.sum" "$temporary/.olm/unthrottled.sum"
    echo "replace k8s.io/client-go => $temporary/.olm/client-go" >>"$temporary/.olm/unthrottled.mod"
}

olm_v0() {
    module=github.com/operator-framework/operator-lifecycle-manager
    version=$(version_of operator-lifecycle-manager "$module")
    [ -d "$temporary/.olm" ] || unthrottled
    build "olm-v0-$1-$version-unthrottled" "$here/operator-lifecycle-manager" "$module/cmd/$1" \
        -modfile "$temporary/.olm/unthrottled.mod" -ldflags "-s -w -X $module/pkg/version.OLMVersion=$version"
}

olm_v1() {
    module=github.com/operator-framework/operator-controller
    version=$(version_of operator-controller "$module")
    build "$1-$version" "$here/operator-controller" "$module/cmd/$1" \
        -tags containers_image_openpgp -ldflags "-s -w -X $module/internal/shared/version.version=v$version"
}

program() {
    case $1 in
        kube-*) kubernetes "$1" ;;
        catalog | olm | copy-content) olm_v0 "$1" ;;
        opm) nice -n 10 "$peers/build.sh" opm ;;
        *) olm_v1 "$1" ;;
    esac
}

definition() {
    case $1 in
        olm-v0-crds) cp "$(folder_of operator-lifecycle-manager github.com/operator-framework/api)"/crds/*.yaml "$2" ;;
        olm-v1-crds) cp "$(folder_of operator-controller github.com/operator-framework/operator-controller)"/config/base/*/crd/bases/*.yaml "$2" ;;
    esac
}

is_complete() {
    for part in $programs $definitions; do
        [ -e "$folder/$part" ] || return 1
    done
}

hash=$(cd "$here" && cat build.sh ./*/go.mod ./*/go.sum ../../support/peers/opm/go.mod | digest | cut -c1-16)
folder=$tools/real-$hash

if ! is_complete; then
    mkdir -p "$tools"
    temporary=$(mktemp -d "$tools/.real.XXXXXX")
    trap 'rm -rf "$temporary"' EXIT
    trap 'exit 130' INT TERM
    chmod 755 "$temporary"
    for part in $programs; do
        built=$(program "$part")
        ln -s "$built" "$temporary/$part"
    done
    rm -rf "$temporary/.olm"
    for part in $definitions; do
        mkdir "$temporary/$part"
        definition "$part" "$temporary/$part"
    done
    # Whoever was quicker may already be running what is there.
    if ! is_complete; then
        rm -rf "$folder"
        mv "$temporary" "$folder"
    fi
fi
echo "$folder"
