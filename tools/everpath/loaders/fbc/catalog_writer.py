"""Write a catalog byte for byte as `opm render` does."""

from __future__ import annotations

__all__ = ["OUTPUT_FORMATS", "catalog_text"]

from collections.abc import Iterable, Iterator
from typing import Final

from everpath.opm_render.blobs import sort_blobs
from everpath.opm_render.bundles import Blob
from everpath.opm_render.go_json import json_text
from everpath.parsing.yaml_writer import yaml_text

OUTPUT_FORMATS: Final = ("yaml", "json")

_INDENT: Final = " " * 4


def catalog_text(blobs: Iterable[Blob], output: str) -> Iterator[str]:
    """Yield the text of each blob, in opm's order. JSON keeps the order of fields, YAML sorts them."""
    for blob in sort_blobs(blobs):
        if output == "json":
            yield json_text(blob, indent=_INDENT) + "\n"
        else:
            yield "---\n" + yaml_text(blob)
