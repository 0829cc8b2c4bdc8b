"""Minimal bundle folders and operators repositories for tests."""

from __future__ import annotations

__all__ = [
    "PACKAGE",
    "annotations_yaml",
    "channels",
    "csv",
    "edges",
    "problems",
    "read_bundle",
    "read_manifests",
    "read_packages",
    "write",
    "write_bundle",
]

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from everpath.loaders.bundle.bundle_folder import load_bundle_folder
from everpath.loaders.bundle.repository import load_repository
from everpath.loaders.notation import format_channel
from everpath.loaders.packagemanifest.package_file import load_package_manifests
from everpath.model import Catalog, Package
from everpath.model.builder import CatalogBuilder

#: The prefix of the annotations that opm reads.
PACKAGE = "operators.operatorframework.io.bundle."


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def csv(name: str = "op.v1.0.0", *, notes: Mapping[str, Any] | None = None, **spec: Any) -> str:
    """Return a minimal CSV; the version follows from the name. `notes` are its annotations."""
    version = name.partition(".v")[2] or "1.0.0"
    return _yaml(
        {
            "apiVersion": "operators.coreos.com/v1alpha1",
            "kind": "ClusterServiceVersion",
            "metadata": {"name": name, **({"annotations": notes} if notes else {})},
            "spec": {"version": version, **spec},
        }
    )


def annotations_yaml(
    package: str | None = "op", channels: str | None = "stable", default: str | None = None
) -> str:
    """Return an annotations.yaml."""
    named = {"package.v1": package, "channels.v1": channels, "channel.default.v1": default}
    return _yaml({"annotations": {PACKAGE + key: value for key, value in named.items() if value is not None}})


def write_bundle(
    folder: Path,
    name: str = "op.v1.0.0",
    *,
    channels: str = "stable",
    default: str | None = None,
    notes: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Path:
    """Write a bundle with manifests and metadata."""
    files = {
        f"manifests/{name}.clusterserviceversion.yaml": csv(name, notes=notes, **spec),
        "metadata/annotations.yaml": annotations_yaml(channels=channels, default=default),
    }
    return write(folder, files)


def read_bundle(path: Path) -> Catalog:
    builder = CatalogBuilder()
    load_bundle_folder(str(path), builder)
    return builder.build("bundle")


def read_packages(path: Path, **options: Any) -> Catalog:
    builder = CatalogBuilder()
    load_repository(str(path), builder, **options)
    return builder.build("repository")


def read_manifests(path: Path) -> Catalog:
    builder = CatalogBuilder()
    load_package_manifests(str(path), builder)
    return builder.build("manifests")


def edges(catalog: Catalog, channel: str = "stable") -> str:
    """Return a channel of the only package in the notation."""
    (package,) = catalog.packages
    return format_channel(next(c for c in package.channels if c.name == channel))


def channels(package: Package) -> dict[str, list[str]]:
    """Return the names of entries by channel."""
    return {channel.name: [entry.name for entry in channel.entries] for channel in package.channels}


def problems(catalog: Catalog) -> list[tuple[str, str]]:
    """Return the kind and file name of each problem."""
    return [(problem.kind, Path(problem.place.file).name) for problem in catalog.problems]


def _yaml(document: Mapping[str, Any]) -> str:
    text: str = yaml.safe_dump(document, sort_keys=False)
    return text
