"""The Go types of property values: what opm, or in the case of labels OLM v0, decodes each type into.

The value of olm.bundle.object is not among them: loaders decode it.
"""

from __future__ import annotations

__all__ = ["PROPERTY_TYPES", "has_only_strings"]

from collections.abc import Mapping
from typing import Final

from everpath.go_types.decoding import GoType
from everpath.go_types.structs import STRUCTS

PROPERTY_TYPES: Final[Mapping[str, GoType]] = {
    "olm.package": {"packageName": "string", "version": "string", "release": "string"},
    "olm.package.required": {"packageName": "string", "versionRange": "string"},
    "olm.gvk": "meta.GroupVersionKind",
    "olm.gvk.required": "meta.GroupVersionKind",
    "olm.label.required": {"label": "string"},
    "olm.channel": {"channelName": "string", "priority": "int64"},
    "olm.csv.metadata": {
        "annotations": "map string",
        "apiServiceDefinitions": "v1alpha1.APIServiceDefinitions",
        "crdDescriptions": "v1alpha1.CustomResourceDefinitions",
        "description": "string",
        "displayName": "string",
        "installModes": "[]v1alpha1.InstallMode",
        "keywords": "[]string",
        "labels": "map string",
        "links": "[]v1alpha1.AppLink",
        "maintainers": "[]v1alpha1.Maintainer",
        "maturity": "string",
        "minKubeVersion": "string",
        "nativeAPIs": "[]meta.GroupVersionKind",
        "provider": "v1alpha1.AppLink",
    },
}

_STRING_STRUCTS: Final = {
    property_type: fields.keys()
    for property_type, fields in (
        (name, STRUCTS[type_] if isinstance(type_, str) else type_) for name, type_ in PROPERTY_TYPES.items()
    )
    if isinstance(fields, Mapping) and all(type_ == "string" for type_ in fields.values())
}


def has_only_strings(value: object, property_type: str) -> bool:
    """Whether a value has only known keys in their exact case, and only strings, so that it fits its type.

    Nearly all values do, and this test is several times as fast as `type_mismatches`, which decides about
    the rest: joining is the quickest test for strings.
    """
    known = _STRING_STRUCTS.get(property_type)
    if known is None or type(value) is not dict or not value.keys() <= known:
        return False
    try:
        "".join(value.values())
    except TypeError:
        return False
    return True
