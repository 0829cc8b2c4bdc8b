"""Catalog templates: short documents from which opm makes whole catalogs."""

from __future__ import annotations

__all__ = ["SCHEMAS", "Renderer", "Validator", "is_template", "render_template"]

from everpath.opm_render.blobs import Document
from everpath.opm_render.bundles import Blob
from everpath.opm_render.refusals import Refusal
from everpath.opm_render.templates.basic import render_basic
from everpath.opm_render.templates.common import Renderer, Validator, template_schema
from everpath.opm_render.templates.semver import render_semver
from everpath.opm_render.templates.substitutes import render_substitutes

#: The schemas of templates, in the order people meet them.
SCHEMAS = ("olm.template.basic", "olm.semver", "olm.template.substitutes")


def is_template(document: Document) -> bool:
    """Whether a document is a template of a kind that is known."""
    return template_schema(document) in SCHEMAS


def render_template(document: Document, render: Renderer, validate: Validator) -> list[Blob]:
    """The catalog a template stands for. Raises `Refusal`.

    `render` gives the bundle in an image, and raises `Refusal` if it cannot; `validate` says in opm's words
    what is wrong with a catalog, or None.
    """
    schema = template_schema(document)
    if schema == SCHEMAS[0]:
        return render_basic(document, render)
    if schema == SCHEMAS[1]:
        return render_semver(document, render)
    if schema == SCHEMAS[2]:
        return render_substitutes(document, render, validate)
    message = f"{schema!r} is no schema of a template" if schema else "the template has no schema"
    raise Refusal(message, document.place, f"write schema: {', '.join(SCHEMAS[:-1])} or {SCHEMAS[-1]}")
