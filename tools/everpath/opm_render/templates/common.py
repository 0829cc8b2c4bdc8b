"""Functions that all templates use: their fields, and the bundles that they refer to."""

from __future__ import annotations

__all__ = [
    "CatalogValidator",
    "ImageRenderer",
    "list_documents",
    "package_property",
    "render_image_at",
    "template_schema",
]

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from everpath.go_types import field, text_field, type_mismatches
from everpath.go_types.properties import PROPERTY_TYPES
from everpath.model import OpmError, Place
from everpath.opm_render.blobs import CatalogDocument
from everpath.opm_render.bundles import Blob, RenderedBundle

#: Renders the bundle in an image; raises `OpmError` if it cannot.
ImageRenderer: TypeAlias = Callable[[str], RenderedBundle]

#: Returns the first error of `opm validate` about a catalog, or None.
CatalogValidator: TypeAlias = Callable[[Sequence[Blob]], str | None]


def template_schema(document: CatalogDocument) -> str:
    """The schema of a document; "" if it has none."""
    return text_field(document.body, "schema")


def list_documents(document: CatalogDocument, key: str) -> Iterator[CatalogDocument]:
    """The mappings in a list of a template. Raises `OpmError` for anything else."""
    items: Any = field(document.body, key)
    place = document.place.at(key)
    if items is not None and not isinstance(items, list):
        raise OpmError(f"{key} is not a list", place, "write a list")
    for index, item in enumerate(items or ()):
        if not isinstance(item, dict):
            raise OpmError(f"an item of {key} is not a mapping", place.at(index), "write keys and values")
        yield CatalogDocument(place.at(index), item)


def render_image_at(place: Place, image: str, render_image: ImageRenderer) -> RenderedBundle:
    """Render the bundle in an image. A `OpmError` without a file gets the place of the reference."""
    try:
        return render_image(image)
    except OpmError as error:
        place = error.place if error.place.file else place
        raise OpmError(error.message, place, error.fix) from error


def package_property(blob: Blob, place: Place) -> dict[str, str]:
    """The value of a bundle's olm.package property. Raises `OpmError` unless there is exactly one."""
    name = blob.get("name", "")
    values = []
    for item in blob.get("properties") or ():
        type_, value = item.get("type"), item.get("value")
        for mismatch in type_mismatches(value, PROPERTY_TYPES.get(type_, "any")):
            message = f"invalid property {type_} of bundle {name!r}: {mismatch.message}"
            raise OpmError(message, place, "correct it in the bundle")
        if type_ == "olm.package":
            values.append(value)
    if len(values) != 1:
        message = f"bundle {name!r} has {len(values)} olm.package properties instead of 1"
        raise OpmError(message, place, "keep one olm.package property with its package and version")
    return {key: text_field(values[0], key) for key in ("packageName", "version", "release")}
