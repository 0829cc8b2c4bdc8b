"""Loads a catalog and builds its index, or rejects it as opm does.

opm parses every byte before it serves. Values of `olm.csv.metadata`, most of a catalog, are needed only by
calls for single bundles, so they are parsed here only if the catalog is small or the caller wants it
(`loaders.fbc.catalog`).
"""

from __future__ import annotations

__all__ = ["load_index"]

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.fbc.loader import load_fbc
from everpath.loaders.sources import Sources
from everpath.model import Catalog, Package, Place, ProblemKind
from everpath.model.builder import CatalogBuilder
from everpath.opm_render.bundles import CSV_METADATA
from everpath.resolvers import olm_v0
from everpath.rules.opm_errors import opm_errors
from everpath.server.errors import CatalogRejected
from everpath.server.index.messages import bundle_message, provided_apis
from everpath.server.index.model import (
    VALID_NAME,
    CustomDocument,
    DocumentRange,
    Index,
    IndexedChannel,
    IndexedEntry,
    IndexedPackage,
)

# Problems that opm does not report.
_ACCEPTED_PROBLEMS: Final = (ProblemKind.DUPLICATE_KEY, ProblemKind.LOSSY_NUMBER)

# Larger than any file: the last document of a file ends where the file does.
_END_OF_FILE: Final = 2**62

#: The sorted offsets of all documents of each file.
_DocumentStarts: TypeAlias = Mapping[str, list[int]]


def load_index(name: str, inputs: str | list[str], sources: Sources, *, thorough: bool) -> Index:
    """Load a catalog and build its index.

    Raises `UnreadableInput`, and `CatalogRejected` for the first problem that makes opm reject the catalog.
    """
    builder = CatalogBuilder()
    load_fbc(inputs, builder, sources, thorough=thorough)
    catalog = builder.build(name)
    for place, message, fix in _serve_errors(catalog):
        location = f"{place.file}: " if place.file else ""
        hint = fix or "`everpath validate-graph` lists all problems with their lines"
        raise CatalogRejected(
            f"opm would not serve this catalog: {location}{message}", hint=hint, file=place.file
        )
    starts = _document_starts(catalog)
    return Index(
        {package.name: _index_package(package, starts) for package in catalog.packages},
        tuple(
            CustomDocument(other.schema, other.package, _document_range(other.place, starts))
            for other in catalog.others
        ),
    )


def _serve_errors(catalog: Catalog) -> Iterator[tuple[Place, str, str | None]]:
    """Yield place, message and fix of everything that makes `opm serve` reject the catalog."""
    for problem in catalog.problems:
        if problem.kind not in _ACCEPTED_PROBLEMS:
            yield problem.place, problem.message, problem.fix
    for package in catalog.packages:
        for error in opm_errors(package):
            channel = f"channel {error.channel}: " if error.channel else ""
            yield error.place, f"package {error.package}: {channel}{error.message}", error.fix
        for bundle in package.bundles:
            if len(list(bundle.properties_of(CSV_METADATA))) > 1:
                yield (
                    bundle.place,
                    f"bundle {bundle.name} has more than one {CSV_METADATA}",
                    "keep one of them",
                )
    for other in catalog.others:
        for field, name in (("schema", other.schema), ("package", other.package)):
            if name and VALID_NAME.fullmatch(name) is None:
                message = f"opm does not serve a document with the {field} {name!r}"
                yield other.place, message, "use letters, digits, . _ and -"


def _index_package(package: Package, starts: _DocumentStarts) -> IndexedPackage:
    deprecation = package.deprecations_by_name("olm.package").get("")
    channel_deprecations = {
        name: deprecated.message for name, deprecated in package.deprecations_by_name("olm.channel").items()
    }
    bundle_deprecations = {
        name: deprecated.message for name, deprecated in package.deprecations_by_name("olm.bundle").items()
    }
    graphs = sorted(PackageGraph(package).channels, key=lambda graph: graph.name)
    return IndexedPackage(
        package.name,
        package.default_channel,
        deprecation.message if deprecation else None,
        _document_range(package.declarations[0].place, starts),
        {
            graph.name: _index_channel(graph, channel_deprecations.get(graph.name), bundle_deprecations)
            for graph in graphs
        },
        {bundle.name: _document_range(bundle.place, starts) for bundle in package.bundles},
    )


def _index_channel(
    graph: ChannelGraph, deprecation: str | None, bundle_deprecations: Mapping[str, str]
) -> IndexedChannel:
    names = sorted(graph.entries)
    entries = {}
    for name in names:
        entry, bundle = graph.entries[name], graph.package.by_name[name]
        message = bundle_message(graph.name, bundle, entry, bundle_deprecations.get(name))
        entries[name] = IndexedEntry(
            name,
            entry.replaces or "",
            entry.skips,
            bool(bundle.image),
            message.SerializeToString(deterministic=True),
            tuple(provided_apis(bundle)),
        )
    chain = olm_v0.sort_channel(graph).chain
    in_chain = set(chain)
    olm_order = (*chain, *(name for name in names if name not in in_chain))
    return IndexedChannel(graph.name, graph.heads[0], deprecation, entries, olm_order)


def _document_starts(catalog: Catalog) -> _DocumentStarts:
    offsets: dict[str, set[int]] = {}

    def add(place: Place) -> None:
        offsets.setdefault(place.file, set()).add(place.offset)

    for package in catalog.packages:
        for group in (package.declarations, package.channels, package.bundles, package.deprecations):
            for document in group:
                add(document.place)
    for other in catalog.others:
        add(other.place)
    return {file: sorted(found) for file, found in offsets.items()}


def _document_range(place: Place, starts: _DocumentStarts) -> DocumentRange:
    """A document ends where the next one in its file starts."""
    offsets = starts[place.file]
    following = bisect_right(offsets, place.offset)
    end = offsets[following] if following < len(offsets) else _END_OF_FILE
    return DocumentRange(place.file, place.offset, end)
