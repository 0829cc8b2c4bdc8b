"""Resolutions of a ClusterExtension by the real operator-controller and by everpath, in one type."""

from __future__ import annotations

__all__ = [
    "ClusterResolution",
    "everpath_resolution",
    "extension_request",
    "possible_resolutions",
    "resolution_from_status",
    "with_unique_catalogs",
]

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Final, NamedTuple

from everpath.graph import PackageGraph
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension, resolve
from everpath.resolvers.resolution import FailureKind, InstalledBundle, Resolution
from everpath.versions import parse, parse_or_none
from tests.e2e.servers.operator_controller import ExtensionRequest, ExtensionStatus
from tests.everpath.conformance.v1_questions import PACKAGE, Installation, Question, Shelf
from tests.support.everpath.documents import Document, catalog

_RESOLVED: Final = re.compile(
    r'^terminal error: error parsing image reference "(?P<catalog>[^"]+)": .* '
    r'for resolved bundle "(?P<name>[^"]+)" with version "(?P<version>[^"]+)"$'
)
_INVALID_VERSION: Final = "error getting resolved bundle version for bundle "


class ClusterResolution(NamedTuple):
    """The resolved bundle, its catalog and the message of the Deprecated condition; or the failure."""

    name: str = ""
    version: str = ""
    catalog: str = ""
    deprecated: str = ""
    failure: str = ""


def with_unique_catalogs(name: str, question: Question) -> Question:
    """Rename the catalogs of a question: names must be unique in a cluster, and a status must show them.

    The name of the catalog is the image of its bundles, and a part of its deprecation messages.
    """

    def rename(shelf: Shelf, new_name: str) -> Shelf:
        return replace(
            shelf, name=new_name, documents=tuple(_with_catalog_name(d, new_name) for d in shelf.documents)
        )

    shelves = (rename(shelf, f"{name}-{shelf.name[-1]}") for shelf in question.shelves)
    return replace(question, shelves=tuple(shelves))


def _with_catalog_name(document: Document, new_name: str) -> Document:
    match document["schema"]:
        case "olm.bundle":
            return {**document, "image": new_name}
        case "olm.deprecations":
            entries = [
                {**e, "message": f"{e['reference'].get('name', PACKAGE)} is old in {new_name}"}
                for e in document["entries"]
            ]
            return {**document, "entries": entries}
        case _:
            return document


def extension_request(name: str, question: Question, installed: Installation | None) -> ExtensionRequest:
    running = None if installed is None else (installed.name, installed.version)
    return ExtensionRequest(
        name, PACKAGE, question.channels, question.version, question.self_certified, running
    )


def resolution_from_status(status: ExtensionStatus) -> ClusterResolution:
    if status.has_panicked:
        return ClusterResolution(failure=FailureKind.PANIC)
    if found := _RESOLVED.search(status.progressing):
        return ClusterResolution(found["name"], found["version"], found["catalog"], status.deprecated)
    if status.progressing.startswith(_INVALID_VERSION):
        return ClusterResolution(failure=FailureKind.UNREADABLE_VERSION)
    return ClusterResolution(failure=status.progressing)


def everpath_resolution(question: Question) -> ClusterResolution:
    (installed,) = question.installed
    return _resolution(question, installed, _decision(question, installed))


def _decision(question: Question, installed: Installation | None) -> Resolution:
    sources = [ClusterCatalog(shelf.name, shelf.priority, _package(shelf)) for shelf in question.shelves]
    running = None if installed is None else InstalledBundle(installed.name, parse_or_none(installed.version))
    wanted = ClusterExtension(PACKAGE, question.channels, question.version, question.self_certified, running)
    return resolve(sources, wanted)


def _package(shelf: Shelf) -> PackageGraph | None:
    found = catalog(*shelf.documents).by_name.get(PACKAGE)
    return None if found is None else PackageGraph(found)


def _resolution(
    question: Question, installed: Installation | None, decision: Resolution
) -> ClusterResolution:
    if decision.failure is not None:
        kind, words = decision.failure.kind, decision.failure.message
        return ClusterResolution(
            failure=kind if kind in (FailureKind.PANIC, FailureKind.UNREADABLE_VERSION) else words
        )
    shelves = {shelf.name: shelf for shelf in question.shelves}
    name, source = _chosen_bundle(installed, decision), decision.catalog or ""
    shown = shelves[decision.deprecations].documents if decision.deprecations else ()
    version = _versions(shelves[source])[name]
    return ClusterResolution(
        name, str(parse(version)), source, _deprecation_message(shown, question.channels, name)
    )


def _chosen_bundle(installed: Installation | None, decision: Resolution) -> str:
    """Return the chosen bundle, even if it is rejected for its dependencies."""
    if decision.failure is not None:
        return decision.failure.names[0] if decision.failure.kind is FailureKind.HAS_DEPENDENCIES else ""
    return decision.next or (installed.name if installed else "")


def _versions(shelf: Shelf) -> dict[str, str]:
    return {
        document["name"]: stated["value"]["version"]
        for document in shelf.documents
        if document["schema"] == "olm.bundle"
        for stated in document["properties"]
        if stated["type"] == "olm.package"
    }


def _deprecation_message(documents: tuple[Document, ...], channels: tuple[str, ...], bundle: str) -> str:
    """Return the message of the Deprecated condition, of package, selected channels and bundle."""
    stated = [d for d in documents if d["schema"] == "olm.deprecations"]
    entries = stated[-1]["entries"] if stated else []
    wanted = {"olm.package": ("",), "olm.channel": channels, "olm.bundle": (bundle,)}
    return ";".join(
        entry["message"]
        for schema, names in wanted.items()
        for entry in entries
        if entry["reference"]["schema"] == schema and entry["reference"].get("name", "") in names
    )


def possible_resolutions(question: Question) -> Iterator[ClusterResolution]:
    """Yield all resolutions that operator-controller may choose at random.

    It lists catalogs and the documents of a package in random order. This decides which catalog's
    deprecations are shown, which of two failures is reported, and which of two bundles with the same version
    is chosen.
    """
    (installed,) = question.installed
    names = {d["name"] for s in question.shelves for d in s.documents if d["schema"] == "olm.channel"}
    for shelves in permutations(question.shelves):
        for order in permutations(sorted(names)):
            yield from _equivalent_resolutions(replace(question, shelves=_reorder(shelves, order)), installed)


def _reorder(shelves: tuple[Shelf, ...], order: tuple[str, ...]) -> tuple[Shelf, ...]:
    def position(document: Document) -> int:
        return order.index(document["name"]) if document["schema"] == "olm.channel" else -1

    return tuple(replace(s, documents=tuple(sorted(s.documents, key=position))) for s in shelves)


def _equivalent_resolutions(
    question: Question, installed: Installation | None
) -> Iterator[ClusterResolution]:
    """Yield the resolution, and those with an equivalent bundle instead of the chosen one."""
    decision = _decision(question, installed)
    yield _resolution(question, installed, decision)
    name = _chosen_bundle(installed, decision)
    for i, shelf in enumerate(question.shelves):
        if equivalents := _equivalent_bundles(shelf, name):
            documents = tuple(d for d in shelf.documents if d["schema"] != "olm.bundle" or d["name"] != name)
            before, after = question.shelves[:i], question.shelves[i + 1 :]
            reduced = replace(question, shelves=(*before, replace(shelf, documents=documents), *after))
            if _chosen_bundle(installed, _decision(reduced, installed)) in equivalents:
                yield from _equivalent_resolutions(reduced, installed)


def _equivalent_bundles(shelf: Shelf, name: str) -> set[str]:
    """Return the other bundles of the same version, without build metadata, that are equally deprecated."""
    deprecated = {
        entry["reference"].get("name")
        for document in shelf.documents
        if document["schema"] == "olm.deprecations"
        for entry in document["entries"]
        if entry["reference"]["schema"] == "olm.bundle"
    }
    ranks = {
        bundle: (parse_or_none(version), bundle in deprecated) for bundle, version in _versions(shelf).items()
    }
    return {
        equivalent
        for equivalent, rank in ranks.items()
        if name in ranks and equivalent != name and rank == ranks[name]
    }
