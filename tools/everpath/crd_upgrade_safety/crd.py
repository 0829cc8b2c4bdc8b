"""The parts of a CustomResourceDefinition that its objects depend on."""

from __future__ import annotations

__all__ = ["CrdVersion", "CustomResourceDefinition", "parse_crd"]

from collections.abc import Mapping
from typing import Any, NamedTuple

from everpath.manifest_access import mapping, text
from everpath.model import Place
from everpath.model.bundle_contents import Manifest


class CrdVersion(NamedTuple):
    """An item of `spec.versions`; `place` is where it is written."""

    name: str
    is_served: bool
    is_storage: bool
    schema: Mapping[str, Any]
    place: Place


class CustomResourceDefinition(NamedTuple):
    """A CRD with its versions by name. `conversion` is `spec.conversion.strategy`."""

    name: str
    scope: str
    conversion: str
    versions: Mapping[str, CrdVersion]
    place: Place

    @property
    def storage_version(self) -> str | None:
        """The version in which objects are stored."""
        return next((v.name for v in self.versions.values() if v.is_storage), None)


def parse_crd(manifest: Manifest) -> CustomResourceDefinition:
    """Read a CRD of apiextensions v1 or v1beta1. A value of the wrong type counts as absent."""
    spec, place = manifest.spec, manifest.place
    common_schema = mapping(spec, "validation", "openAPIV3Schema")  # v1beta1 allows one for all versions
    items = spec.get("versions")
    if isinstance(items, list) and items:
        versions = [
            CrdVersion(
                text(item, "name"),
                item.get("served") is True,
                item.get("storage") is True,
                mapping(item, "schema", "openAPIV3Schema") or common_schema,
                place.at("spec", "versions", index),
            )
            for index, item in enumerate(map(mapping, items))
        ]
    elif name := text(spec, "version"):  # v1beta1 allows a single version here
        versions = [CrdVersion(name, True, True, common_schema, place.at("spec"))]
    else:
        versions = []
    return CustomResourceDefinition(
        manifest.name,
        text(spec, "scope"),
        text(mapping(spec, "conversion"), "strategy") or "None",
        {version.name: version for version in versions},
        place,
    )
