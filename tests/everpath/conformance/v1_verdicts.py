"""The results of operator-controller and everpath in the same type, so that `==` compares them."""

from __future__ import annotations

__all__ = ["Fate", "by_everpath", "by_oracle", "kind_of", "put", "reordered"]

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import NamedTuple

from everpath.graph import PackageGraph
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension, resolve
from everpath.resolvers.resolution import FailureKind, InstalledBundle, Resolution
from everpath.versions import parse_or_none
from tests.everpath.conformance.oracle import Answer
from tests.everpath.conformance.oracle import Question as Asked
from tests.everpath.conformance.v1_questions import PACKAGE, Installation, Question
from tests.support.everpath.documents import Document, catalog, text


class Fate(NamedTuple):
    """The chosen bundle, its catalog and the reported deprecations; or the failure."""

    name: str = ""
    catalog: str = ""
    deprecations: str = ""
    failure: str = ""


def put(question: Question, *, cached: bool = False) -> Asked:
    return {
        "ask": "extension",
        "catalogs": [
            {"name": shelf.name, "priority": shelf.priority, "text": text(shelf.documents)}
            for shelf in question.shelves
        ],
        "package": PACKAGE,
        "channels": question.channels,
        "version": question.version,
        "selfCertified": question.self_certified,
        "installed": [i and {"name": i.name, "version": i.version} for i in question.installed],
        "cached": cached,
    }


def by_oracle(answer: Answer) -> list[Fate]:
    return [_their_fate(pick) for pick in answer["picks"]]


def _their_fate(pick: Answer) -> Fate:
    if pick.get("panicked"):
        return Fate(failure=FailureKind.PANIC)
    error = pick.get("error", "")
    for beginning in (
        "error walking catalogs: error finding upgrade edges: ",
        "error getting resolved bundle version for bundle ",
    ):
        if error.startswith(beginning):
            return Fate(failure=FailureKind.UNREADABLE_VERSION)
    return Fate(pick.get("name", ""), pick.get("catalog", ""), pick.get("deprecations", ""), error)


def by_everpath(question: Question) -> list[Fate]:
    sources = [ClusterCatalog(s.name, s.priority, _package(s.documents)) for s in question.shelves]
    return [
        _our_fate(installed, resolve(sources, _extension(question, installed)))
        for installed in question.installed
    ]


def _package(documents: tuple[Document, ...]) -> PackageGraph | None:
    found = catalog(*documents).by_name.get(PACKAGE)
    return None if found is None else PackageGraph(found)


def _extension(q: Question, installed: Installation | None) -> ClusterExtension:
    running = None if installed is None else InstalledBundle(installed.name, parse_or_none(installed.version))
    return ClusterExtension(PACKAGE, q.channels, q.version, q.self_certified, running)


def _our_fate(installed: Installation | None, decision: Resolution) -> Fate:
    if decision.failure is not None:
        kind, words = decision.failure.kind, decision.failure.message
        wordless = kind in (FailureKind.PANIC, FailureKind.UNREADABLE_VERSION)
        return Fate(failure=kind if wordless else words)
    name = decision.next or (installed.name if installed else "")
    return Fate(name, decision.catalog or "", decision.deprecations or "")


def reordered(question: Question) -> Iterator[Question]:
    """Yield the question with its bundles in other orders: each of them first once, and a few random ones.

    operator-controller reads the files of its cache in parallel, so of two equal versions it chooses the one
    that is read first. The results of all orders are correct.
    """
    names = {d["name"]: None for s in question.shelves for d in s.documents if d["schema"] == "olm.bundle"}
    for name in names:
        yield _sorted(question, lambda d, name=name: d.get("name") != name)  # type: ignore[misc]
    for seed in range(8):
        random = Random(seed)
        yield _sorted(question, lambda _, random=random: random.random())  # type: ignore[misc]


def _sorted(question: Question, key: Callable[[Document], float]) -> Question:
    shelves = []
    for shelf in question.shelves:
        bundles = [d for d in shelf.documents if d["schema"] == "olm.bundle"]
        others = [d for d in shelf.documents if d["schema"] != "olm.bundle"]
        shelves.append(replace(shelf, documents=(*others, *sorted(bundles, key=key))))
    return replace(question, shelves=tuple(shelves))


def kind_of(taken: str, failure: str, installed: str | None) -> str:
    """Return the kind of a result, for counting."""
    if not failure:
        return "stays" if taken == installed else "moves"
    kinds = {
        "no bundles found": "no bundles",
        "multiple catalogs": "several catalogs",
        "dependency": "dependencies",
        "desired version range": "unreadable range",
    }
    return next((kind for part, kind in kinds.items() if part in failure), failure)
