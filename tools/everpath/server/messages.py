"""Bundles of the model as messages of the registry API, without their manifests."""

from __future__ import annotations

__all__ = ["bundle_message", "provided"]

from collections.abc import Iterator
from typing import Final

from everpath.model import Bundle, Entry, Gvk, Property
from everpath.opm_render.bundles import METADATA, OBJECT
from everpath.opm_render.go_json import json_text, sorted_keys
from everpath.rules._shapes import text_field
from everpath.server import registry_pb2 as api

_GVK, _GVK_REQUIRED, _PACKAGE_REQUIRED = "olm.gvk", "olm.gvk.required", "olm.package.required"

# Manifests: whoever copies properties into annotations would carry them twice.
_WITHHELD: Final = (OBJECT, METADATA)


def bundle_message(channel: str, bundle: Bundle, entry: Entry, deprecation: str | None) -> api.Bundle:
    """A bundle in a channel, all but `csvJson` and `object`."""
    message = api.Bundle(
        csvName=bundle.name,
        packageName=bundle.package,
        channelName=channel,
        bundlePath=bundle.image,
        providedApis=[_api(gvk) for gvk in provided(bundle)],
        requiredApis=[_api(_gvk(stated)) for stated in bundle.properties_of(_GVK_REQUIRED)],
        version=bundle.version or "",
        skipRange=entry.skip_range or "",
        dependencies=list(_dependencies(bundle)),
        properties=[
            api.Property(type=stated.type, value=_text(stated.value))
            for stated in bundle.properties
            if stated.type not in _WITHHELD
        ],
        replaces=entry.replaces or "",
        skips=entry.skips,
    )
    if deprecation is not None:
        message.deprecation.message = deprecation
    return message


def provided(bundle: Bundle) -> Iterator[Gvk]:
    """The APIs that a bundle says it provides."""
    return (_gvk(stated) for stated in bundle.properties_of(_GVK))


def _gvk(stated: Property) -> Gvk:
    return Gvk(*(text_field(stated.value, key) for key in ("group", "version", "kind")))


def _api(gvk: Gvk) -> api.GroupVersionKind:
    return api.GroupVersionKind(group=gvk.group, version=gvk.version, kind=gvk.kind)


def _dependencies(bundle: Bundle) -> Iterator[api.Dependency]:
    """Requirements under the names they had before they were properties."""
    for stated in bundle.properties:
        if stated.type == _GVK_REQUIRED:
            yield api.Dependency(type=_GVK, value=_text(stated.value))
        elif stated.type == _PACKAGE_REQUIRED:
            name, versions = (text_field(stated.value, key) for key in ("packageName", "versionRange"))
            value = json_text({"packageName": name, "version": versions})
            yield api.Dependency(type="olm.package", value=value)


def _text(value: object) -> str:
    """A value as opm holds it: keys in order, numbers that have been float64s."""
    return json_text(sorted_keys(value), floats=True)
