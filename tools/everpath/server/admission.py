"""Whether a catalog may be served at all, and the index of one that may.

opm reads every byte before it serves the first. Here the values of `olm.csv.metadata`, which are most of a
catalog and part of no answer but those about single bundles, are looked into at once only in catalogs of up
to some megabytes (`loaders.fbc.catalog`), or if one asks for it.
"""

from __future__ import annotations

__all__ = ["admitted"]

import re
from collections.abc import Iterator
from typing import Final

from everpath.loaders.fbc.catalog import read_fbc
from everpath.loaders.sources import Sources
from everpath.model import Catalog, Place
from everpath.model.builder import CatalogBuilder
from everpath.opm_render.bundles import METADATA
from everpath.rules.refusals import refusals
from everpath.server.index import Index
from everpath.server.indexing import index_of
from everpath.server.refused import Refused

# What opm takes in silence.
_ACCEPTED: Final = ("duplicate-key", "lossy-number")

_KEY: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")


def admitted(name: str, inputs: str | list[str], sources: Sources, *, thorough: bool) -> Index:
    """The index of a catalog. Raises `UnreadableInput`, and `Refused` for the first thing opm refuses."""
    builder = CatalogBuilder()
    read_fbc(inputs, builder, sources, thorough=thorough)
    catalog = builder.build(name)
    for place, words, fix in _faults(catalog):
        where = f"{place.file}: " if place.file else ""
        hint = fix or "`everpath validate-graph` shows everything that is wrong, with lines"
        raise Refused(f"opm would not serve this catalog: {where}{words}", hint=hint, file=place.file)
    return index_of(catalog)


def _faults(catalog: Catalog) -> Iterator[tuple[Place, str, str | None]]:
    for problem in catalog.problems:
        if problem.kind not in _ACCEPTED:
            yield problem.place, problem.message, problem.fix
    for package in catalog.packages:
        for refusal in refusals(package):
            channel = f"channel {refusal.channel}: " if refusal.channel else ""
            yield refusal.place, f"package {refusal.package}: {channel}{refusal.words}", refusal.fix
        for bundle in package.bundles:
            if len(list(bundle.properties_of(METADATA))) > 1:
                yield bundle.place, f"bundle {bundle.name} has more than one {METADATA}", "keep one of them"
    for other in catalog.others:
        for what, text in (("schema", other.schema), ("package", other.package)):
            if text and _KEY.fullmatch(text) is None:
                yield other.place, f"{text!r} is no {what} that opm serves", "use letters, digits, . _ and -"
