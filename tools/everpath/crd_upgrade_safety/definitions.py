"""A CustomResourceDefinition as far as its objects depend on it."""

from __future__ import annotations

__all__ = ["Definition", "Version", "definition"]

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from everpath.manifest_access import mapping, text
from everpath.model import Place
from everpath.model.bundle_contents import Manifest

Json = Mapping[str, Any]

_NO_CONVERSION: Final = "None"


class Version(NamedTuple):
    """One version of a kind; `place` is where its item of `spec.versions` is written."""

    name: str
    is_served: bool
    is_storage: bool
    schema: Json
    place: Place


class Definition(NamedTuple):
    """A kind and its versions, by name. `conversion` is the strategy between them."""

    name: str
    kind: str
    scope: str
    conversion: str
    versions: Mapping[str, Version]
    place: Place

    @property
    def storage(self) -> str | None:
        """The version that objects are written to disk in."""
        return next((v.name for v in self.versions.values() if v.is_storage), None)


def definition(manifest: Manifest) -> Definition:
    """What a manifest defines, apiextensions v1 or v1beta1. What has a wrong shape counts as absent."""
    spec = manifest.spec
    return Definition(
        manifest.name,
        text(mapping(spec, "names"), "kind"),
        text(spec, "scope"),
        text(mapping(spec, "conversion"), "strategy") or _NO_CONVERSION,
        {version.name: version for version in _versions(spec, manifest.place)},
        manifest.place,
    )


def _versions(spec: Json, place: Place) -> list[Version]:
    items = spec.get("versions")
    if isinstance(items, list) and items:
        return [
            _version(mapping(item), spec, place.at("spec", "versions", i)) for i, item in enumerate(items)
        ]
    # v1beta1 allows a single version to be named beside everything else.
    name = text(spec, "version")
    schema = _schema(mapping(spec, "validation"))
    return [Version(name, True, True, schema, place.at("spec"))] if name else []


def _version(item: Json, spec: Json, place: Place) -> Version:
    schema = _schema(mapping(item, "schema")) or _schema(mapping(spec, "validation"))
    return Version(text(item, "name"), item.get("served") is True, item.get("storage") is True, schema, place)


def _schema(holder: Json) -> Json:
    return mapping(holder, "openAPIV3Schema")
