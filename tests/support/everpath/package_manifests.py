"""Short package manifests for tests: CSVs, CRDs and a package file."""

from __future__ import annotations

__all__ = ["complete", "crd", "owning", "package_file", "tree", "walks"]

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from everpath.graph import PackageGraph
from everpath.model import Catalog
from everpath.resolvers import olm_v0, olm_v1
from everpath.upgrade_path.hops import hops_from


def crd(name: str = "things.example.com", note: str = "", *versions: str) -> str:
    """A CRD; the note distinguishes two with the same name."""
    plural, _, group = name.partition(".")
    stored = versions or ("v1",)
    return yaml.safe_dump(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": name, "annotations": {"note": note}},
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": {"kind": plural.title(), "plural": plural},
                "versions": [{"name": v, "served": True, "storage": v == stored[-1]} for v in stored],
            },
        }
    )


def owning(*names: str, version: str = "v1") -> dict[str, Any]:
    """Return the owned CRDs of a CSV."""
    listed = [{"name": n, "version": version, "kind": n.partition(".")[0].title()} for n in names]
    return {"customresourcedefinitions": {"owned": listed}}


def package_file(default: str = "", /, **channels: str) -> str:
    """A package file: each channel with its currentCSV."""
    body: dict[str, Any] = {
        "packageName": "op",
        "channels": [{"name": name, "currentCSV": csv} for name, csv in channels.items()],
    }
    return yaml.safe_dump(body | ({"defaultChannel": default} if default else {}))


def tree(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def walks(catalog: Catalog) -> Mapping[tuple[str, str, str, str], tuple[str, ...]]:
    """Return every upgrade path by resolver, package, channel and installed version."""
    found: dict[tuple[str, str, str, str], tuple[str, ...]] = {}
    for package in catalog.packages:
        for graph in PackageGraph(package).channels:
            v0, v1 = olm_v0.next_hops(graph), olm_v1.next_hops(graph)
            found["v0 fails", package.name, graph.name, ""] = (repr(v0.failure),)
            for name in graph.entries:
                found["v0", package.name, graph.name, name] = hops_from(v0.next, name)
                found["v1", package.name, graph.name, name] = hops_from(v1, name)
    return found


def complete(source: Path, target: Path) -> Path:
    """Copy a package's folder, and add the owned CRDs that no file defines."""
    for name, content in tree(source).items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if b"ClusterServiceVersion" in content and path.suffix in (".yaml", ".yml"):
            for number, (owned, text) in enumerate(_missing(content)):
                (path.parent / f"zz-{number}-{owned}.yaml").write_text(text)
    return target


def _missing(content: bytes) -> list[tuple[str, str]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    body = next(iter(yaml.load_all(content, loader)), None)
    spec = body.get("spec") if isinstance(body, dict) else None
    listed = ((spec or {}).get("customresourcedefinitions") or {}).get("owned") or ()
    versions: dict[str, dict[str, str]] = {}
    for item in listed:
        versions.setdefault(item["name"], {})[item["version"]] = item["kind"]
    return [(name, _stub(name, found)) for name, found in versions.items()]


def _stub(name: str, versions: Mapping[str, str]) -> str:
    body = yaml.safe_load(crd(name, "", *versions))
    body["spec"]["names"]["kind"] = next(iter(versions.values()))
    return yaml.safe_dump(body)
