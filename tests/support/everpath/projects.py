"""The files of a small operator project, for tests of the release commands."""

from __future__ import annotations

__all__ = ["RELEASES", "catalog", "tree", "write_operator", "write_releases"]

from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml

RELEASES = Path("catalog/releases.yaml")

_MANIFESTS = """\
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: acme
  annotations: {capabilities: Basic Install}
spec:
  displayName: Acme
  description: Keeps acmes.
  installModes:
    - {type: AllNamespaces, supported: true}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: acme
spec:
  selector: {matchLabels: {app: acme}}
  template:
    metadata: {labels: {app: acme}}
    spec:
      serviceAccountName: acme
      containers:
        - {name: manager, image: "acme:latest"}
"""


def write_operator(root: Path) -> None:
    """Write the operator's manifests to one file."""
    (root / "operator").mkdir(exist_ok=True)
    (root / "operator" / "manifests.yaml").write_text(_MANIFESTS)


def write_releases(root: Path, releases: str, top: str = "") -> None:
    """Write a releases.yaml with these releases."""
    (root / "catalog").mkdir(exist_ok=True)
    if "images:" not in top:
        top = f"images: {{acme: example.com/acme}}\n{top}"
    head = (
        f"package: acme\ndefaultChannel: stable\noperator: ../operator\nimage: example.com/acme-bundle\n{top}"
    )
    (root / RELEASES).write_text(f"{head}releases:\n{dedent(releases)}")


def tree(root: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def catalog(file: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the documents of a catalog by schema."""
    found: dict[str, list[dict[str, Any]]] = {}
    for document in yaml.safe_load_all(file.read_text()):
        found.setdefault(document["schema"], []).append(document)
    return found
