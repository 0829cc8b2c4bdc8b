"""An operator's manifests, as small as tests need them."""

from __future__ import annotations

from typing import Any

from everpath.bundlegen import Operator, ReleaseFacts, bundle_files, sorted_out
from everpath.model import Place
from everpath.model.bundle_contents import Manifest

CSV = "manifests/acme.clusterserviceversion.yaml"
RELEASE = ReleaseFacts("acme", "acme.v1.2.0", "1.2.0", ("stable",), "stable")


def manifest(kind: str, name: str, api_version: str = "v1", file: str = "", **body: Any) -> Manifest:
    """One object; `file` only matters where a message names it."""
    written = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **body}
    return Manifest(Place(file or f"{kind}-{name}.yaml"), written)


def base(annotations: dict[str, str] | None = None, **spec: Any) -> Manifest:
    """The ClusterServiceVersion that people write."""
    made = manifest("ClusterServiceVersion", "acme", "operators.coreos.com/v1alpha1", spec=spec)
    made.body["metadata"]["annotations"] = annotations or {}
    return made


def deployment(name: str = "acme", account: str = "acme", **container: Any) -> Manifest:
    """A deployment with one container."""
    pod = {"serviceAccountName": account, "containers": [{"name": "manager", "image": "acme", **container}]}
    return manifest("Deployment", name, "apps/v1", spec={"template": {"spec": pod}})


def crd(kind: str = "Widget", **fields: Any) -> Manifest:
    """The definition of a kind whose spec has these fields."""
    plural = f"{kind.lower()}s"
    schema = {"description": f"A {kind}.", "properties": {"spec": {"properties": fields}}}
    return manifest(
        "CustomResourceDefinition",
        f"{plural}.acme.io",
        spec={
            "group": "acme.io",
            "names": {"kind": kind, "plural": plural},
            "versions": [{"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}}],
        },
    )


def files(*manifests: Manifest, release: ReleaseFacts = RELEASE) -> dict[str, dict[str, Any]]:
    """The bundle of an operator with these manifests; a base is added where none is given."""
    return bundle_files(operator(*manifests), release)


def csv(*manifests: Manifest, release: ReleaseFacts = RELEASE) -> dict[str, Any]:
    """Its ClusterServiceVersion."""
    return files(*manifests, release=release)[CSV]


def operator(*manifests: Manifest) -> Operator:
    has_base = any(m.kind == "ClusterServiceVersion" for m in manifests)
    return sorted_out([*manifests, *(() if has_base else (base(),))])
