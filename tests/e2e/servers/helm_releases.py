"""Secrets with Helm releases, in which operator-controller records what is installed.

Mirrors pkg/storage of helm-operator-plugins v0.8.0. operator-controller reads the installed bundle from the
labels of the release, so a release without content is enough.
"""

from __future__ import annotations

__all__ = ["installed_release", "release_name"]

import base64
import gzip
import json

from tests.e2e.servers.api import Object


def installed_release(extension: str, bundle: str, version: str) -> Object:
    """The Secret that makes `bundle` the installed one of a ClusterExtension."""
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
        "data": {
            "extraChunks": _base64(b"[]"),
            "chunk": _base64(gzip.compress(json.dumps(release).encode())),
        },
    }


def release_name(extension: str) -> str:
    """The name of the Secret with the first release of a ClusterExtension."""
    return f"sh.helm.release.v1.{extension}.v1"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
