"""What operator-controller remembers of an installation: a Helm release, kept in a Secret.

Mirrors pkg/storage of helm-operator-plugins v0.8.0. What is installed is read from the release's labels
alone, so that a release without any content makes operator-controller believe in an installation.
"""

from __future__ import annotations

__all__ = ["installed_release", "release_name"]

import base64
import gzip
import json

from e2e.servers.api import Object


def installed_release(extension: str, bundle: str, version: str) -> Object:
    """The Secret by which `bundle` counts as installed for a ClusterExtension."""
    key = release_name(extension)
    release = {
        "name": extension,
        "version": 1,
        "info": {"status": "deployed"},
        "labels": {
            "olm.operatorframework.io/bundle-name": bundle,
            "olm.operatorframework.io/bundle-version": version,
            "olm.operatorframework.io/bundle-reference": "none",
        },
    }
    labels = {
        "name": extension,
        "owner": "operator-controller",
        "status": "deployed",
        "version": "1",
        "key": key,
        "type": "index",
    }
    return {
        "metadata": {"name": key, "labels": labels},
        "type": "operatorframework.io/index.v1",
        "data": {"extraChunks": _coded(b"[]"), "chunk": _coded(gzip.compress(json.dumps(release).encode()))},
    }


def release_name(extension: str) -> str:
    """The name of the Secret with the first release of a ClusterExtension."""
    return f"sh.helm.release.v1.{extension}.v1"


def _coded(data: bytes) -> str:
    return base64.b64encode(data).decode()
