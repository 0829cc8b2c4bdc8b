"""The property `olm.csv.metadata`, which replaces the manifests of a bundle, and CSVs made from it.

Mirrors opm's migration `bundle-object-to-csv-metadata`. A bundle without an image keeps its manifests: they
are available nowhere else.
"""

from __future__ import annotations

__all__ = ["csv_from_metadata", "csv_metadata", "migrate_to_csv_metadata"]

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from everpath.go_types import field
from everpath.model.bundle_contents import Manifest
from everpath.opm_render.bundles import BUNDLE_OBJECT, CSV_METADATA, RenderedBundle
from everpath.opm_render.go_json import keep_html_escapes, sort_keys
from everpath.opm_render.manifest_checks import check_type


def migrate_to_csv_metadata(bundle: RenderedBundle) -> RenderedBundle:
    """Replace the manifests of a bundle that has an image with CSV metadata. Raises `OpmError`."""
    blob, csv = bundle.blob, bundle.csv
    properties = blob.get("properties", [])
    if not blob.get("image") or csv is None:
        return bundle
    check_type(csv, "v1alpha1.ClusterServiceVersion", Manifest(bundle.place, csv))
    if any(item["type"] == CSV_METADATA for item in properties):
        return bundle
    others = [item for item in properties if item["type"] != BUNDLE_OBJECT]
    metadata = {"type": CSV_METADATA, "value": csv_metadata(csv)}
    return bundle._replace(blob={**blob, "properties": [*others, metadata]})


def csv_metadata(csv: Mapping[str, Any]) -> dict[str, Any]:
    """The value of the property, with its fields in opm's order."""
    metadata, spec = field(csv, "metadata"), field(csv, "spec")
    return {
        **_decode(metadata, _ANNOTATIONS),
        **_decode(spec, _METADATA_BEFORE_LABELS),
        **_decode(metadata, _LABELS),
        **_decode(spec, _METADATA_AFTER_LABELS),
    }


def csv_from_metadata(
    name: str,
    metadata: Any,
    version: str,
    *,
    icon: Mapping[str, Any] | None = None,
    description: str = "",
    images: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The CSV that a registry server makes of a bundle's metadata, with its fields in Go's order.

    Icon and description are those of the package. The description is used if the metadata has none.
    """
    description = _string(field(metadata, "description")) or description
    spec = {
        "install": {"strategy": "deployment", "spec": {"deployments": None}},
        "version": version,
        **_decode(metadata, _CSV_BEFORE_DESCRIPTION),
        **({"description": description} if description else {}),
        **_decode(metadata, _CSV_AFTER_DESCRIPTION),
        **({"icon": [_decode(icon, _ICON)]} if icon is not None else {}),
        **_decode(metadata, _CSV_INSTALL_MODES),
        "cleanup": {"enabled": False},
        **({"relatedImages": _structs(list(images), _RELATED_IMAGE)} if images else {}),
    }
    return {
        "kind": "ClusterServiceVersion",
        "apiVersion": "operators.coreos.com/v1alpha1",
        "metadata": {"name": name, **_decode(metadata, _LABELS), **_decode(metadata, _ANNOTATIONS)},
        "spec": spec,
        "status": {"cleanup": {}},
    }


class _Field(NamedTuple):
    """A field of a struct. An optional one is omitted if it is empty; `key` is its name in the input."""

    name: str
    decode: Callable[[Any], Any]
    is_optional: bool = True
    key: str = ""


def _decode(value: Any, fields: tuple[_Field, ...]) -> dict[str, Any]:
    decoded = {f.name: (f.decode(field(value, f.key or f.name)), f.is_optional) for f in fields}
    return {name: item for name, (item, is_optional) in decoded.items() if item or not is_optional}


def _structs(value: Any, fields: tuple[_Field, ...]) -> list[dict[str, Any]]:
    return [_decode(item, fields) for item in _list(value)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _strings(value: Any) -> list[str]:
    return [_string(item) for item in _list(value)]


def _string_map(value: Any) -> dict[str, str]:
    return {key: _string(value[key]) for key in sorted(value)} if isinstance(value, dict) else {}


def _required_strings(*names: str) -> tuple[_Field, ...]:
    return tuple(_Field(name, _string, is_optional=False) for name in names)


def _descriptors(value: Any) -> list[dict[str, Any]]:
    descriptors = []
    for item in _list(value):
        descriptor = _decode(item, _DESCRIPTOR)
        if any(key.casefold() == "value" for key in item or ()):
            # Go passes the value on as raw JSON, in which HTML characters are escaped.
            descriptor["value"] = keep_html_escapes(sort_keys(field(item, "value")))
        descriptors.append(descriptor)
    return descriptors


def _owned_and_required(value: Any, fields: tuple[_Field, ...]) -> dict[str, Any]:
    decode = partial(_structs, fields=fields)
    return _decode(value, (_Field("owned", decode), _Field("required", decode)))


_DESCRIPTOR: Final = (
    *_required_strings("path"),
    _Field("displayName", _string),
    _Field("description", _string),
    _Field("x-descriptors", _strings),
)
_DESCRIPTION: Final = (
    _Field("displayName", _string),
    _Field("description", _string),
    _Field("resources", partial(_structs, fields=_required_strings("name", "kind", "version"))),
    _Field("statusDescriptors", _descriptors),
    _Field("specDescriptors", _descriptors),
    _Field("actionDescriptors", _descriptors),
)
_CRDS: Final = partial(
    _owned_and_required, fields=(*_required_strings("name", "version", "kind"), *_DESCRIPTION)
)
_API_SERVICES: Final = partial(
    _owned_and_required,
    fields=(
        *_required_strings("name", "group", "version", "kind"),
        _Field("deploymentName", _string),
        _Field("containerPort", lambda value: int(value or 0)),
        *_DESCRIPTION,
    ),
)
_LINK: Final = (_Field("name", _string), _Field("url", _string))
_ICON: Final = _required_strings("base64data", "mediatype")
_RELATED_IMAGE: Final = _required_strings("name", "image")

_ANNOTATIONS: Final = (_Field("annotations", _string_map),)
_LABELS: Final = (_Field("labels", _string_map),)
_DISPLAY_NAME: Final = _Field("displayName", _string)
_INSTALL_MODES: Final = _Field(
    "installModes",
    partial(_structs, fields=(*_required_strings("type"), _Field("supported", bool, is_optional=False))),
)
_KEYWORDS: Final = _Field("keywords", _strings)
_LINKS: Final = _Field("links", partial(_structs, fields=_LINK))
_MAINTAINERS: Final = _Field(
    "maintainers", partial(_structs, fields=(_Field("name", _string), _Field("email", _string)))
)
_MATURITY: Final = _Field("maturity", _string)
_MIN_KUBE_VERSION: Final = _Field("minKubeVersion", _string)
_NATIVE_APIS: Final = _Field(
    "nativeAPIs", partial(_structs, fields=_required_strings("group", "version", "kind"))
)
_PROVIDER: Final = _Field("provider", partial(_decode, fields=_LINK), is_optional=False)

# In the order of opm's struct CSVMetadata. Go never omits an empty struct.
_METADATA_BEFORE_LABELS: Final = (
    _Field("apiServiceDefinitions", _API_SERVICES, is_optional=False, key="apiservicedefinitions"),
    _Field("crdDescriptions", _CRDS, is_optional=False, key="customresourcedefinitions"),
    _Field("description", _string),
    _DISPLAY_NAME,
    _INSTALL_MODES,
    _KEYWORDS,
)
_METADATA_AFTER_LABELS: Final = (
    _LINKS,
    _MAINTAINERS,
    _MATURITY,
    _MIN_KUBE_VERSION,
    _NATIVE_APIS,
    _PROVIDER,
)

# In the order of the struct ClusterServiceVersionSpec; keys are those of the metadata.
_CSV_BEFORE_DESCRIPTION: Final = (
    _MATURITY,
    _Field("customresourcedefinitions", _CRDS, is_optional=False, key="crdDescriptions"),
    _Field("apiservicedefinitions", _API_SERVICES, is_optional=False, key="apiServiceDefinitions"),
    _NATIVE_APIS,
    _MIN_KUBE_VERSION,
    _DISPLAY_NAME._replace(is_optional=False),
)
_CSV_AFTER_DESCRIPTION: Final = (_KEYWORDS, _MAINTAINERS, _PROVIDER, _LINKS)
_CSV_INSTALL_MODES: Final = (_INSTALL_MODES,)
