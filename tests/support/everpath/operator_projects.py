"""Minimal manifests of an operator."""

from __future__ import annotations

from typing import Any

from everpath.bundlegen import OperatorManifests, ReleaseMetadata, bundle_files, classify_manifests
from everpath.model import Place
from everpath.model.bundle_contents import Manifest

CSV = "manifests/acme.clusterserviceversion.yaml"
RELEASE = ReleaseMetadata("acme", "acme.v1.2.0", "1.2.0", ("stable",), "stable")


def manifest(kind: str, name: str, api_version: str = "v1", file: str = "", **body: Any) -> Manifest:
    """An object. `file` only matters for messages."""
    body = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **body}
    return Manifest(Place(file or f"{kind}-{name}.yaml"), body)


def base(annotations: dict[str, str] | None = None, **spec: Any) -> Manifest:
    """A base ClusterServiceVersion."""
    made = manifest("ClusterServiceVersion", "acme", "operators.coreos.com/v1alpha1", spec=spec)
    made.body["metadata"]["annotations"] = annotations or {}
    return made


def deployment(name: str = "acme", account: str = "acme", **container: Any) -> Manifest:
    """A deployment with one container."""
    pod = {"serviceAccountName": account, "containers": [{"name": "manager", "image": "acme", **container}]}
    return manifest("Deployment", name, "apps/v1", spec={"template": {"spec": pod}})


def crd(kind: str = "Widget", **fields: Any) -> Manifest:
    """A CRD whose spec has these fields."""
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


def files(*manifests: Manifest, release: ReleaseMetadata = RELEASE) -> dict[str, dict[str, Any]]:
    """The bundle of an operator with these manifests; a base CSV is added if there is none."""
    return bundle_files(operator(*manifests), release)


def csv(*manifests: Manifest, release: ReleaseMetadata = RELEASE) -> dict[str, Any]:
    """The ClusterServiceVersion of that bundle."""
    return files(*manifests, release=release)[CSV]


def operator(*manifests: Manifest) -> OperatorManifests:
    has_base = any(m.kind == "ClusterServiceVersion" for m in manifests)
    return classify_manifests([*manifests, *(() if has_base else (base(),))])
