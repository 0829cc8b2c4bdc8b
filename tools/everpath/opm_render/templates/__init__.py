"""Catalog templates: short documents from which opm renders catalogs."""

from __future__ import annotations

__all__ = ["TEMPLATE_SCHEMAS", "CatalogValidator", "ImageRenderer", "is_template", "render_template"]

from everpath.model import OpmError
from everpath.opm_render.blobs import CatalogDocument
from everpath.opm_render.bundles import Blob
from everpath.opm_render.templates.basic import render_basic
from everpath.opm_render.templates.common import CatalogValidator, ImageRenderer, template_schema
from everpath.opm_render.templates.semver import render_semver
from everpath.opm_render.templates.substitutes import render_substitutes

TEMPLATE_SCHEMAS = ("olm.template.basic", "olm.semver", "olm.template.substitutes")


def is_template(document: CatalogDocument) -> bool:
    """Whether a document is a template that everpath can render."""
    return template_schema(document) in TEMPLATE_SCHEMAS


def render_template(
    document: CatalogDocument, render_image: ImageRenderer, validate: CatalogValidator
) -> list[Blob]:
    """Render the catalog of a template. Raises `OpmError`, also if an image cannot be rendered."""
    schema = template_schema(document)
    if schema == "olm.template.basic":
        return render_basic(document, render_image)
    if schema == "olm.semver":
        return render_semver(document, render_image)
    if schema == "olm.template.substitutes":
        return render_substitutes(document, render_image, validate)
    message = f"{schema!r} is not the schema of a template" if schema else "the template has no schema"
    schemas = f"{', '.join(TEMPLATE_SCHEMAS[:-1])} or {TEMPLATE_SCHEMAS[-1]}"
    raise OpmError(message, document.place, f"write schema: {schemas}")
