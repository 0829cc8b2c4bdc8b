#!/bin/sh
# Builds the named peers (all without arguments) into the tool cache and prints the path of each, one a line.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

version_of() { sed -n "s|^[[:space:]]*\(require \)\{0,1\}$2 v\([^ ]*\).*|\2|p" "$here/$1/go.mod"; }

opm() {
    module=github.com/operator-framework/operator-registry
    version=$(version_of opm "$module")
    # The tags are upstream's own; without the second and third, gpgme and btrfs headers would be needed.
    "$here/go-tool.sh" "opm-$version" "$here/opm" "$module/cmd/opm" \
        -tags json1,containers_image_openpgp,exclude_graphdriver_btrfs \
        -ldflags "-s -w -X $module/cmd/opm/version.opmVersion=v$version"
}

helm() {
    version=$(version_of helm helm.sh/helm/v3)
    "$here/go-tool.sh" "helm-$version" "$here/helm" helm.sh/helm/v3/cmd/helm -ldflags "-s -w"
}

[ $# -gt 0 ] || set -- opm helm
for peer in "$@"; do
    case $peer in
        opm | helm) "$peer" ;;
        *)
            echo "build.sh: no peer is called '$peer'; there are: opm, helm" >&2
            exit 2
            ;;
    esac
done
