"""The basic template: a catalog in which a bundle consists of its image reference."""

from __future__ import annotations

__all__ = ["render_basic"]

from everpath.model import OpmError
from everpath.opm_render.blobs import CatalogDocument, decode_blob
from everpath.opm_render.bundles import BUNDLE, Blob
from everpath.opm_render.templates.common import ImageRenderer, list_documents, render_image_at


def render_basic(document: CatalogDocument, render_image: ImageRenderer) -> list[Blob]:
    """Render every bundle from its image; other entries are unchanged. Raises `OpmError`."""
    blobs = [(entry, decode_blob(entry)) for entry in list_documents(document, "entries")]
    return [
        _render_bundle(entry, blob, render_image) if blob["schema"] == BUNDLE else blob
        for entry, blob in blobs
    ]


def _render_bundle(entry: CatalogDocument, blob: Blob, render_image: ImageRenderer) -> Blob:
    surplus = [key for key in ("package", "properties", "relatedImages") if blob.get(key)]
    if surplus:
        message = (
            f"a bundle of a basic template must have only an image, and this one has {', '.join(surplus)}"
        )
        raise OpmError(
            message, entry.place.at(surplus[0]), "remove these keys: their values are in the image"
        )
    if not blob["image"]:
        raise OpmError("a bundle of a basic template has no image", entry.place, "add its image")
    return render_image_at(entry.place.at("image"), blob["image"], render_image).blob
