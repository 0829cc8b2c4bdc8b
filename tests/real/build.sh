#!/bin/sh
# Builds the real parts that come as Go modules, once, and prints the folder that has them under plain names:
# kube-apiserver, operator-controller, and olm-v1-crds, the resource definitions that the latter needs.
#
# The folder's name is made from the modules' go.mod and go.sum and from this file, the programs' from their versions.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tools=${EVERPATH_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/everpath/tools}

digest() { if command -v sha256sum >/dev/null 2>&1; then sha256sum; else shasum -a 256; fi; }

version_of() { sed -n "s|^[[:space:]]*\(require \)\{0,1\}$2 v\([^ ]*\).*|\2|p" "$here/$1/go.mod"; }

# No part of them needs C, so neither does whoever builds them. They take minutes on every core: be polite.
build() { CGO_ENABLED=0 nice -n 10 "$here/../peers/go-tool.sh" "$@"; }

kube_apiserver() {
    version=$(version_of kubernetes k8s.io/kubernetes)
    stamp=k8s.io/component-base/version
    build "kube-apiserver-$version" "$here/kubernetes" k8s.io/kubernetes/cmd/kube-apiserver -trimpath \
        -ldflags "-s -w -X $stamp.gitVersion=v$version"
}

operator_controller() {
    module=github.com/operator-framework/operator-controller
    version=$(version_of operator-controller "$module")
    build "operator-controller-$version" "$here/operator-controller" "$module/cmd/operator-controller" \
        -tags containers_image_openpgp -ldflags "-s -w -X $module/internal/shared/version.version=v$version"
}

olm_v1_crds() {
    module=$(cd "$here/operator-controller" && go list -m -f '{{.Dir}}' github.com/operator-framework/operator-controller)
    mkdir "$1"
    cp "$module"/config/base/catalogd/crd/bases/*.yaml "$module"/config/base/operator-controller/crd/bases/*.yaml "$1/"
}

hash=$(cd "$here" && cat build.sh ./*/go.mod ./*/go.sum | digest | cut -c1-16)
folder=$tools/real-$hash

if ! [ -x "$folder/kube-apiserver" ] || ! [ -x "$folder/operator-controller" ] || ! [ -d "$folder/olm-v1-crds" ]; then
    apiserver=$(kube_apiserver)
    controller=$(operator_controller)
    temporary=$(mktemp -d "$tools/.real.XXXXXX")
    trap 'rm -rf "$temporary"' EXIT
    trap 'exit 130' INT TERM
    chmod 755 "$temporary"
    ln -s "$apiserver" "$temporary/kube-apiserver"
    ln -s "$controller" "$temporary/operator-controller"
    olm_v1_crds "$temporary/olm-v1-crds"
    rm -rf "$folder"
    mv "$temporary" "$folder"
fi
echo "$folder"
