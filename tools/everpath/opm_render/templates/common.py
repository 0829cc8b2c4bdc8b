"""What the templates have in common: their fields, and where the bundles they name come from."""

from __future__ import annotations

__all__ = ["Renderer", "Validator", "bundle_in", "items", "package_property", "template_schema"]

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from everpath.model import Place
from everpath.opm_render.blobs import Document
from everpath.opm_render.bundles import Blob, Rendered
from everpath.opm_render.refusals import Refusal
from everpath.rules._shapes import SHAPES, field, misfits

#: Gives the bundle in an image.
Renderer: TypeAlias = Callable[[str], Rendered]

#: Says in opm's words what is wrong with a catalog, or None.
Validator: TypeAlias = Callable[[Sequence[Blob]], str | None]


def template_schema(document: Document) -> str:
    """The schema of a document, empty if it has none."""
    schema = field(document.body, "schema")
    return schema if isinstance(schema, str) else ""


def items(document: Document, key: str) -> Iterator[Document]:
    """The items of one of the template's lists. Raises `Refusal` for what is no mapping."""
    listed: Any = field(document.body, key)
    place = document.place.at(key)
    if listed is not None and not isinstance(listed, list):
        raise Refusal(f"{key} is not a list", place, "write a list")
    for index, item in enumerate(listed or ()):
        if not isinstance(item, dict):
            raise Refusal(
                f"an item of {key} is not a mapping", place.at(index), "write it as keys and values"
            )
        yield Document(place.at(index), item)


def bundle_in(image: str, render: Renderer, place: Place) -> Rendered:
    """The bundle in an image that is named at a place. Raises `Refusal`, there if nowhere else."""
    try:
        return render(image)
    except Refusal as refusal:
        raise Refusal(
            refusal.message, refusal.place if refusal.place.file else place, refusal.fix
        ) from refusal


def package_property(blob: Blob, place: Place) -> dict[str, str]:
    """Package, version and release of a bundle. Raises `Refusal` unless it states them exactly once."""
    name = blob.get("name", "")
    stated = []
    for item in blob.get("properties") or ():
        kind, value = item.get("type"), item.get("value")
        for misfit in misfits(value, SHAPES.get(kind, object)):
            message = f"a property {kind} of bundle {name!r} cannot be read: {misfit.message}"
            raise Refusal(message, place, "mend it in the bundle")
        if kind == "olm.package":
            stated.append(value)
    if len(stated) != 1:
        message = f"bundle {name!r} has {len(stated) or 'no'} olm.package properties, and one is needed"
        raise Refusal(message, place, "let it state its package and version once")
    keys = ("packageName", "version", "release")
    return {key: text if isinstance(text := field(stated[0], key), str) else "" for key in keys}
