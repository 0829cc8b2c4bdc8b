"""Catalogs as text: to the byte what `opm render` writes of the same blobs."""

from __future__ import annotations

__all__ = ["OUTPUTS", "catalog_text"]

from collections.abc import Iterable, Iterator
from typing import Final

from everpath.opm_render.blobs import sort_blobs
from everpath.opm_render.bundles import Blob
from everpath.opm_render.go_json import json_text
from everpath.parsing.yaml_writer import yaml_text

#: The languages a catalog may be written in.
OUTPUTS: Final = ("yaml", "json")

_INDENT: Final = " " * 4


def catalog_text(blobs: Iterable[Blob], output: str) -> Iterator[str]:
    """The documents in opm's order, each in one piece. Same blobs, same bytes.

    JSON has the fields in the order they come in, YAML by name. Cost: linear in the text.
    """
    for blob in sort_blobs(blobs):
        if output == "json":
            yield json_text(blob, indent=_INDENT) + "\n"
        else:
            yield "---\n" + yaml_text(blob)
