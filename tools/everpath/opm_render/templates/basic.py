"""The basic template: a catalog in which bundles are only named, by their images."""

from __future__ import annotations

__all__ = ["render_basic"]

from everpath.opm_render.blobs import Document, blob_of
from everpath.opm_render.bundles import BUNDLE, Blob
from everpath.opm_render.refusals import Refusal
from everpath.opm_render.templates.common import Renderer, bundle_in, items


def render_basic(document: Document, render: Renderer) -> list[Blob]:
    """Every entry as it is, and in place of each bundle what its image holds. Raises `Refusal`."""
    blobs = [(entry, blob_of(entry)) for entry in items(document, "entries")]
    return [_rendered(entry, blob, render) for entry, blob in blobs]


def _rendered(entry: Document, blob: Blob, render: Renderer) -> Blob:
    if blob["schema"] != BUNDLE:
        return blob
    surplus = [key for key in ("package", "properties", "relatedImages") if blob.get(key)]
    if surplus:
        message = f"a bundle of a basic template has only an image, and this one has {', '.join(surplus)}"
        raise Refusal(message, entry.place.at(surplus[0]), "remove what the image says by itself")
    if not blob["image"]:
        raise Refusal("a bundle of a basic template without an image", entry.place, "name its image")
    return bundle_in(blob["image"], render, entry.place.at("image")).blob
