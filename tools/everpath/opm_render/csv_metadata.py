"""`olm.csv.metadata`: what a catalog needs of a CSV, in place of all manifests.

opm's migration `bundle-object-to-csv-metadata`. Bundles without an image keep their manifests: nobody could
get them from anywhere else.
"""

from __future__ import annotations

__all__ = ["csv_metadata", "csv_of_metadata", "migrated"]

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from everpath.model.bundle_contents import Manifest
from everpath.opm_render.bundles import METADATA, OBJECT, Rendered
from everpath.opm_render.go_json import escaped, sorted_keys
from everpath.opm_render.manifest_checks import fitted
from everpath.rules._shapes import field


def migrated(rendered: Rendered) -> Rendered:
    """The bundle with metadata instead of manifests, if it may have it so. Raises `Refusal`."""
    blob, csv = rendered.blob, rendered.csv
    properties = blob.get("properties", [])
    if not blob.get("image") or csv is None:
        return rendered
    fitted(csv, "v1alpha1.ClusterServiceVersion", Manifest(rendered.place, csv))
    if any(p["type"] == METADATA for p in properties):
        return rendered
    kept = [p for p in properties if p["type"] != OBJECT]
    metadata = {"type": METADATA, "value": csv_metadata(csv)}
    return rendered._replace(blob={**blob, "properties": [*kept, metadata]})


def csv_metadata(csv: Mapping[str, Any]) -> dict[str, Any]:
    """The value of the property, fields in opm's order, empty ones left out as Go leaves them out."""
    metadata, spec = field(csv, "metadata"), field(csv, "spec")
    return {
        **_struct(metadata, _ANNOTATIONS),
        **_struct(spec, _BEFORE_LABELS),
        **_struct(metadata, _LABELS),
        **_struct(spec, _AFTER_LABELS),
    }


class _Field(NamedTuple):
    """A field of a struct: how its value is read, and whether it is left out when it is empty.

    `key` is what the CSV calls it, where that differs.
    """

    name: str
    read: Callable[[Any], Any]
    is_optional: bool = True
    key: str = ""


def _struct(value: Any, fields: tuple[_Field, ...]) -> dict[str, Any]:
    found = {f.name: (f.read(field(value, f.key or f.name)), f.is_optional) for f in fields}
    return {name: item for name, (item, is_optional) in found.items() if item or not is_optional}


def _structs(value: Any, fields: tuple[_Field, ...]) -> list[dict[str, Any]]:
    return [_struct(item, fields) for item in _items(value)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    return [_text(item) for item in _items(value)]


def _texts_by_key(value: Any) -> dict[str, str]:
    return {key: _text(value[key]) for key in sorted(value)} if isinstance(value, dict) else {}


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _whole(value: Any) -> int:
    return int(value or 0)


def _descriptors(value: Any) -> list[dict[str, Any]]:
    """Descriptors of fields; their values are kept as the text they were, escapes included."""
    return [_descriptor(item) for item in _items(value)]


def _descriptor(value: Any) -> dict[str, Any]:
    found = _struct(value, _DESCRIPTOR)
    spelled = [key for key in value or () if key.casefold() == "value"]
    return {**found, "value": escaped(sorted_keys(field(value, "value")))} if spelled else found


_DESCRIPTOR: Final = (
    _Field("path", _text, is_optional=False),
    _Field("displayName", _text),
    _Field("description", _text),
    _Field("x-descriptors", _texts),
)
_RESOURCE: Final = tuple(_Field(name, _text, is_optional=False) for name in ("name", "kind", "version"))
_DESCRIBED: Final = (
    _Field("displayName", _text),
    _Field("description", _text),
    _Field("resources", partial(_structs, fields=_RESOURCE)),
    _Field("statusDescriptors", _descriptors),
    _Field("specDescriptors", _descriptors),
    _Field("actionDescriptors", _descriptors),
)
_CRD: Final = (
    *(_Field(name, _text, is_optional=False) for name in ("name", "version", "kind")),
    *_DESCRIBED,
)
_SERVICE: Final = (
    *(_Field(name, _text, is_optional=False) for name in ("name", "group", "version", "kind")),
    _Field("deploymentName", _text),
    _Field("containerPort", _whole),
    *_DESCRIBED,
)
_LINK: Final = (_Field("name", _text), _Field("url", _text))
_MAINTAINER: Final = (_Field("name", _text), _Field("email", _text))
_MODE: Final = (_Field("type", _text, is_optional=False), _Field("supported", bool, is_optional=False))
_NATIVE: Final = tuple(_Field(name, _text, is_optional=False) for name in ("group", "version", "kind"))


def _definitions(value: Any, fields: tuple[_Field, ...]) -> dict[str, Any]:
    which = (_Field(name, partial(_structs, fields=fields)) for name in ("owned", "required"))
    return _struct(value, tuple(which))


# Go never leaves out a struct for being empty.
_ANNOTATIONS: Final = (_Field("annotations", _texts_by_key),)
_BEFORE_LABELS: Final = (
    _Field("apiServiceDefinitions", partial(_definitions, fields=_SERVICE), False, "apiservicedefinitions"),
    _Field("crdDescriptions", partial(_definitions, fields=_CRD), False, "customresourcedefinitions"),
    _Field("description", _text),
    _Field("displayName", _text),
    _Field("installModes", partial(_structs, fields=_MODE)),
    _Field("keywords", _texts),
)
_LABELS: Final = (_Field("labels", _texts_by_key),)
_AFTER_LABELS: Final = (
    _Field("links", partial(_structs, fields=_LINK)),
    _Field("maintainers", partial(_structs, fields=_MAINTAINER)),
    _Field("maturity", _text),
    _Field("minKubeVersion", _text),
    _Field("nativeAPIs", partial(_structs, fields=_NATIVE)),
    _Field("provider", partial(_struct, fields=_LINK), is_optional=False),
)

_NAMED_TEXTS: Final = (_Field("name", _text, is_optional=False), _Field("image", _text, is_optional=False))
_ICON: Final = (_Field("base64data", _text, is_optional=False), _Field("mediatype", _text, is_optional=False))

# In the order of a CSV's own struct, read under the names that the property has for them.
_FIRST: Final = (
    _Field("maturity", _text),
    _Field("customresourcedefinitions", partial(_definitions, fields=_CRD), False, "crdDescriptions"),
    _Field("apiservicedefinitions", partial(_definitions, fields=_SERVICE), False, "apiServiceDefinitions"),
    _Field("nativeAPIs", partial(_structs, fields=_NATIVE)),
    _Field("minKubeVersion", _text),
    _Field("displayName", _text, is_optional=False),
)
_SECOND: Final = (
    _Field("keywords", _texts),
    _Field("maintainers", partial(_structs, fields=_MAINTAINER)),
    _Field("provider", partial(_struct, fields=_LINK), is_optional=False),
    _Field("links", partial(_structs, fields=_LINK)),
)
_MODES: Final = (_Field("installModes", partial(_structs, fields=_MODE)),)


def csv_of_metadata(
    name: str,
    metadata: Any,
    version: str,
    *,
    icon: Mapping[str, Any] | None = None,
    description: str = "",
    images: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The CSV that a registry makes of a bundle's metadata for those who ask for one, fields in Go's order.

    Icon and description are the package's: the one is never in the metadata, the other may be missing there.
    """
    description = _text(field(metadata, "description")) or description
    spec = {
        "install": {"strategy": "deployment", "spec": {"deployments": None}},
        "version": version,
        **_struct(metadata, _FIRST),
        **({"description": description} if description else {}),
        **_struct(metadata, _SECOND),
        **({"icon": [_struct(icon, _ICON)]} if icon is not None else {}),
        **_struct(metadata, _MODES),
        "cleanup": {"enabled": False},
        **({"relatedImages": _structs(list(images), _NAMED_TEXTS)} if images else {}),
    }
    return {
        "kind": "ClusterServiceVersion",
        "apiVersion": "operators.coreos.com/v1alpha1",
        "metadata": {"name": name, **_struct(metadata, _LABELS), **_struct(metadata, _ANNOTATIONS)},
        "spec": spec,
        "status": {"cleanup": {}},
    }
