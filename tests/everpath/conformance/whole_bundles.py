"""Complete bundles of OperatorHub: the corpus has their CSVs and annotations, but not their CRDs.

opm rejects a bundle without the CRDs that its CSV owns, so each gets CRDs with the names, kinds and versions
of its CSV.
"""

from __future__ import annotations

__all__ = ["bundle_folders", "completed"]

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.model.bundle_contents import Contents


def bundle_folders(operators: Path) -> list[Path]:
    """Yield every bundle of a repository that has manifests and metadata."""
    found = (path.parent for path in operators.glob("*/*/manifests"))
    return sorted(path for path in found if (path / "metadata").is_dir())


def completed(folder: Path, into: Path) -> Path:
    """Create a folder with links to the bundle's files, and the CRDs that it owns."""
    # opm does not follow a link to a folder.
    for part in ("manifests", "metadata"):
        (into / part).mkdir(parents=True)
        for file in sorted((folder / part).iterdir()):
            (into / part / file.name).symlink_to(file)
    for name, crd in _crds(load_bundle_contents(str(folder))):
        (into / "manifests" / f"{name}.crd.json").write_text(json.dumps(crd))
    return into


def _crds(contents: Contents) -> Iterator[tuple[str, Mapping[str, Any]]]:
    csv = contents.csv
    definitions = csv.spec.get("customresourcedefinitions") if csv else None
    owned = definitions.get("owned") if isinstance(definitions, dict) else None
    for index, item in enumerate(owned if isinstance(owned, list) else ()):
        if isinstance(item, dict) and "." in str(item.get("name")):
            yield f"{index}", _crd(*(str(item.get(key, "")) for key in ("name", "kind", "version")))


def _crd(name: str, kind: str, version: str) -> Mapping[str, Any]:
    plural, _, group = name.partition(".")
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural},
            "scope": "Namespaced",
            "versions": [{"name": version, "served": True, "storage": True}],
        },
    }
