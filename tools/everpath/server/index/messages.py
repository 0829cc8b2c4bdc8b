"""Bundles as messages of the registry API, without manifests."""

from __future__ import annotations

__all__ = ["bundle_message", "provided_apis"]

from collections.abc import Iterator
from typing import Final

from everpath.go_types import text_field
from everpath.model import Bundle, Entry, Gvk, Property
from everpath.opm_render.bundles import BUNDLE_OBJECT, CSV_METADATA
from everpath.opm_render.go_json import json_text, sort_keys
from everpath.server import registry_pb2 as api

_GVK, _GVK_REQUIRED, _PACKAGE_REQUIRED = "olm.gvk", "olm.gvk.required", "olm.package.required"

# opm omits properties with manifests: OLM v0 copies properties into an annotation of the CSV.
_OMITTED_PROPERTIES: Final = (BUNDLE_OBJECT, CSV_METADATA)


def bundle_message(channel: str, bundle: Bundle, entry: Entry, deprecation: str | None) -> api.Bundle:
    """Build the message of a bundle in a channel, without `csvJson` and `object`."""
    message = api.Bundle(
        csvName=bundle.name,
        packageName=bundle.package,
        channelName=channel,
        bundlePath=bundle.image,
        providedApis=[_gvk_message(gvk) for gvk in provided_apis(bundle)],
        requiredApis=[_gvk_message(_parse_gvk(item)) for item in bundle.properties_of(_GVK_REQUIRED)],
        version=bundle.version or "",
        skipRange=entry.skip_range or "",
        dependencies=list(_dependencies(bundle)),
        properties=[
            api.Property(type=item.type, value=_property_json(item.value))
            for item in bundle.properties
            if item.type not in _OMITTED_PROPERTIES
        ],
        replaces=entry.replaces or "",
        skips=entry.skips,
    )
    if deprecation is not None:
        message.deprecation.message = deprecation
    return message


def provided_apis(bundle: Bundle) -> Iterator[Gvk]:
    """Yield the APIs in the bundle's `olm.gvk` properties."""
    return (_parse_gvk(item) for item in bundle.properties_of(_GVK))


def _parse_gvk(item: Property) -> Gvk:
    return Gvk(*(text_field(item.value, key) for key in ("group", "version", "kind")))


def _gvk_message(gvk: Gvk) -> api.GroupVersionKind:
    return api.GroupVersionKind(group=gvk.group, version=gvk.version, kind=gvk.kind)


def _dependencies(bundle: Bundle) -> Iterator[api.Dependency]:
    """Yield required APIs and packages in the form of dependencies.yaml, which properties replaced."""
    for item in bundle.properties:
        if item.type == _GVK_REQUIRED:
            yield api.Dependency(type=_GVK, value=_property_json(item.value))
        elif item.type == _PACKAGE_REQUIRED:
            name, versions = (text_field(item.value, key) for key in ("packageName", "versionRange"))
            value = json_text({"packageName": name, "version": versions})
            yield api.Dependency(type="olm.package", value=value)


def _property_json(value: object) -> str:
    """Render a value as opm does: sorted keys, numbers as float64."""
    return json_text(sort_keys(value), floats=True)
