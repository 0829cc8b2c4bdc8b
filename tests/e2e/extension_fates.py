"""What becomes of a ClusterExtension, by the real operator-controller and by everpath, in the same words."""

from __future__ import annotations

__all__ = ["Fate", "ask", "by_everpath", "by_process", "possible", "staged"]

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Final, NamedTuple

from conformance.v1_questions import PACKAGE, Installation, Question, Shelf
from documents import Document, catalog
from e2e.servers.operator_controller import ExtensionRequest, ExtensionStatus
from everpath.graph import PackageGraph
from everpath.policies.decisions import Decision, FailureKind, Installed
from everpath.policies.extensions import Extension, Source, resolve
from everpath.versions import maybe, parse

_RESOLVED: Final = re.compile(
    r'^terminal error: error parsing image reference "(?P<catalog>[^"]+)": .* '
    r'for resolved bundle "(?P<name>[^"]+)" with version "(?P<version>[^"]+)"$'
)
_UNREADABLE: Final = "error getting resolved bundle version for bundle "


class Fate(NamedTuple):
    """The bundle that is taken, out of which catalog, and what is said to be deprecated; or what fails."""

    name: str = ""
    version: str = ""
    catalog: str = ""
    deprecated: str = ""
    failure: str = ""


def staged(name: str, question: Question) -> Question:
    """The question as it can be put in a cluster that has others, and so that a status tells the catalog.

    Catalogs get names of their own; a bundle's image, which is no reference to an image, is its catalog's
    name, and so is part of the words of a deprecation.
    """

    def on_stage(shelf: Shelf, called: str) -> Shelf:
        return replace(shelf, name=called, documents=tuple(_labelled(d, called) for d in shelf.documents))

    shelves = (on_stage(shelf, f"{name}-{shelf.name[-1]}") for shelf in question.shelves)
    return replace(question, shelves=tuple(shelves))


def _labelled(document: Document, called: str) -> Document:
    match document["schema"]:
        case "olm.bundle":
            return {**document, "image": called}
        case "olm.deprecations":
            entries = [
                {**e, "message": f"{e['reference'].get('name', PACKAGE)} is old in {called}"}
                for e in document["entries"]
            ]
            return {**document, "entries": entries}
        case _:
            return document


def ask(name: str, question: Question, installed: Installation | None) -> ExtensionRequest:
    running = None if installed is None else (installed.name, installed.version)
    return ExtensionRequest(
        name, PACKAGE, question.channels, question.version, question.self_certified, running
    )


def by_process(answer: ExtensionStatus) -> Fate:
    if answer.has_panicked:
        return Fate(failure=FailureKind.PANIC)
    if found := _RESOLVED.search(answer.progressing):
        return Fate(found["name"], found["version"], found["catalog"], answer.deprecated)
    if answer.progressing.startswith(_UNREADABLE):
        return Fate(failure=FailureKind.UNREADABLE_VERSION)
    return Fate(failure=answer.progressing)


def by_everpath(question: Question) -> Fate:
    (installed,) = question.installed
    return _fate(question, installed, _decision(question, installed))


def _decision(question: Question, installed: Installation | None) -> Decision:
    sources = [Source(shelf.name, shelf.priority, _package(shelf)) for shelf in question.shelves]
    running = None if installed is None else Installed(installed.name, maybe(installed.version))
    wanted = Extension(PACKAGE, question.channels, question.version, question.self_certified, running)
    return resolve(sources, wanted)


def _package(shelf: Shelf) -> PackageGraph | None:
    found = catalog(*shelf.documents).by_name.get(PACKAGE)
    return None if found is None else PackageGraph(found)


def _fate(question: Question, installed: Installation | None, decision: Decision) -> Fate:
    if decision.failure is not None:
        kind, words = decision.failure.kind, decision.failure.words
        return Fate(failure=kind if kind in (FailureKind.PANIC, FailureKind.UNREADABLE_VERSION) else words)
    shelves = {shelf.name: shelf for shelf in question.shelves}
    name, source = _taken(installed, decision), decision.catalog or ""
    shown = shelves[decision.deprecations].documents if decision.deprecations else ()
    version = _versions(shelves[source])[name]
    return Fate(name, str(parse(version)), source, _deprecated(shown, question.channels, name))


def _taken(installed: Installation | None, decision: Decision) -> str:
    """The bundle that was chosen, be it only to be refused for its dependencies."""
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


def _deprecated(documents: tuple[Document, ...], channels: tuple[str, ...], bundle: str) -> str:
    """The message of the Deprecated condition: the package, the selected channels, the bundle."""
    stated = [d for d in documents if d["schema"] == "olm.deprecations"]
    entries = stated[-1]["entries"] if stated else []
    wanted = {"olm.package": ("",), "olm.channel": channels, "olm.bundle": (bundle,)}
    return ";".join(
        entry["message"]
        for schema, names in wanted.items()
        for entry in entries
        if entry["reference"]["schema"] == schema and entry["reference"].get("name", "") in names
    )


def possible(question: Question) -> Iterator[Fate]:
    """Everything that operator-controller may answer, where it leaves the answer to chance.

    It lists catalogs, and reads the documents of a package, in no order. Which catalog's deprecations are
    shown, which of two failures comes first, and which of two bundles with the same version is taken, all
    depend on that.
    """
    (installed,) = question.installed
    names = {d["name"] for s in question.shelves for d in s.documents if d["schema"] == "olm.channel"}
    for shelves in permutations(question.shelves):
        for order in permutations(sorted(names)):
            yield from _equals(replace(question, shelves=_in_order(shelves, order)), installed)


def _in_order(shelves: tuple[Shelf, ...], order: tuple[str, ...]) -> tuple[Shelf, ...]:
    def position(document: Document) -> int:
        return order.index(document["name"]) if document["schema"] == "olm.channel" else -1

    return tuple(replace(s, documents=tuple(sorted(s.documents, key=position))) for s in shelves)


def _equals(question: Question, installed: Installation | None) -> Iterator[Fate]:
    """What is answered, and what would be if the bundle that is taken did not stand before its equals."""
    decision = _decision(question, installed)
    yield _fate(question, installed, decision)
    name = _taken(installed, decision)
    for i, shelf in enumerate(question.shelves):
        if twins := _twins(shelf, name):
            rest = tuple(d for d in shelf.documents if d["schema"] != "olm.bundle" or d["name"] != name)
            before, after = question.shelves[:i], question.shelves[i + 1 :]
            less = replace(question, shelves=(*before, replace(shelf, documents=rest), *after))
            if _taken(installed, _decision(less, installed)) in twins:
                yield from _equals(less, installed)


def _twins(shelf: Shelf, name: str) -> set[str]:
    """The other bundles of the same version (build metadata makes no other) and as deprecated as this one."""
    old = {
        entry["reference"].get("name")
        for document in shelf.documents
        if document["schema"] == "olm.deprecations"
        for entry in document["entries"]
        if entry["reference"]["schema"] == "olm.bundle"
    }
    ranks = {bundle: (maybe(version), bundle in old) for bundle, version in _versions(shelf).items()}
    return {twin for twin, rank in ranks.items() if name in ranks and twin != name and rank == ranks[name]}
