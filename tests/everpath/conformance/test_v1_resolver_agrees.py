"""`everpath.resolvers.cluster_extension` and operator-controller's own resolver agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import replace
from random import Random
from typing import Final

import pytest

from tests.everpath.conformance.oracle import Oracle
from tests.everpath.conformance.v1_questions import Installation, Question, Shelf, random_question, smaller
from tests.everpath.conformance.v1_verdicts import Fate, by_everpath, by_oracle, kind_of, put, reordered
from tests.support.everpath.documents import Document, bundle, channel, package

pytestmark = pytest.mark.conformance

Counted = Callable[[str, object], None]

SHARDS: Final = 4
QUESTIONS_A_SHARD: Final = 600
KINDS: Final = (
    "moves",
    "stays",
    "no bundles",
    "several catalogs",
    "dependencies",
    "panic",
    "unreadable version",
    "unreadable range",
    "deprecations elsewhere",
)


def test_oracle_has_the_versions_that_everpath_mirrors(oracle_v1: Oracle) -> None:
    modules = oracle_v1.ask({"ask": "about"})["modules"]
    mirrored = {
        "main": "github.com/operator-framework/operator-controller",
        "github.com/Masterminds/semver/v3": "v3.3.1",
        "github.com/blang/semver/v4": "v4.0.0",
    }
    assert {path: modules[path] for path in mirrored} == mirrored


@pytest.mark.parametrize("seed", range(SHARDS))
def test_random_questions(oracle_v1: Oracle, seed: int, record_property: Counted) -> None:
    random = Random(seed)
    counts = compared(oracle_v1, [random_question(random) for _ in range(QUESTIONS_A_SHARD)])
    record_property("counted", f"OLM v1, random questions, seed {seed}: {shown(counts)}")
    # The random questions must include valid ones.
    assert min(counts[kind] for kind in KINDS) > 5, counts
    assert counts["questions"] > 1_500


def compared(oracle: Oracle, questions: Iterable[Question]) -> Counter[str]:
    counts: Counter[str] = Counter()
    asked = list(questions)
    for question, answer in zip(asked, oracle.ask_many(map(put, asked)), strict=True):
        theirs, ours = by_oracle(answer), by_everpath(question)
        if theirs != ours:
            counts["by chance"] += sum(t != o for t, o in zip(theirs, ours, strict=True))
            if (said := disagreement(oracle, question)) is not None:
                pytest.fail(explained(oracle, question, said))
        count(counts, question, ours)
    return counts


def disagreement(oracle: Oracle, question: Question) -> str | None:
    """Return the results of everpath that operator-controller has in no order of the bundles."""
    orders = [question, *reordered(question)]
    answers = [by_oracle(answer) for answer in oracle.ask_many(map(put, orders))]
    for place, ours in enumerate(by_everpath(question)):
        theirs = {answer[place] for answer in answers}
        if ours not in theirs:
            return f"{question.installed[place]}\noperator-controller: {theirs}\neverpath: {ours}"
    return None


def explained(oracle: Oracle, question: Question, said: str) -> str:
    for less in smaller(question):
        if found := disagreement(oracle, less):
            return explained(oracle, less, found)
    return f"{question}\n{said}"


def count(counts: Counter[str], question: Question, fates: list[Fate]) -> None:
    for installed, fate in zip(question.installed, fates, strict=True):
        counts["questions"] += 1
        counts[kind_of(fate.name, fate.failure, installed.name if installed else None)] += 1
        counts["deprecations elsewhere"] += fate.deprecations not in ("", fate.catalog)


def shown(counts: Counter[str]) -> str:
    return ", ".join(f"{number:,} {what}" for what, number in counts.items()) + ", 0 disagreements"


@pytest.mark.parametrize("version", ["v1.0.0", "1.0", "", "1.0.0-01"])
def test_an_installed_version_that_does_not_parse(oracle_v1: Oracle, version: str) -> None:
    documents = (package("p"), channel("b1", "b2", package="p"), bundle("b2", "2.0.0", package="p"))
    question = Question((Shelf("c", 0, documents),), (Installation("b1", version),))
    for asked in (question, replace(question, self_certified=True)):
        assert by_oracle(oracle_v1.ask(put(asked))) == by_everpath(asked)


def test_last_document_counts_if_a_catalog_has_duplicates(
    oracle_v1: Oracle, record_property: Counted
) -> None:
    """With the cache of operator-controller, in which a second document with a name replaces the first."""
    random = Random(7)
    asked = [without_chance(random, doubled(random, random_question(random))) for _ in range(150)]
    counts: Counter[str] = Counter()
    for question in asked:
        theirs = by_oracle(oracle_v1.ask(put(question, cached=True)))
        ours = by_everpath(question)
        assert theirs == ours, f"{question}\noperator-controller: {theirs}\neverpath: {ours}"
        count(counts, question, ours)
        counts["would differ without the repetition"] += ours != by_everpath(first_said(question))
    record_property("counted", f"OLM v1, catalogs that repeat themselves: {shown(counts)}")
    assert counts["would differ without the repetition"] > 10


def doubled(random: Random, question: Question) -> Question:
    """Return each catalog with some documents of another one added under the same names."""
    other = random_question(random).shelves[0]
    shelves = []
    for shelf in question.shelves:
        more = random.sample(other.documents, len(other.documents) // 2)
        shelves.append(replace(shelf, documents=(*shelf.documents, *more)))
    return replace(question, shelves=tuple(shelves))


def first_said(question: Question) -> Question:
    def firsts(shelf: Shelf) -> Shelf:
        found: dict[tuple[str, str], Document] = {}
        for document in shelf.documents:
            found.setdefault((document["schema"], document.get("name", "")), document)
        return replace(shelf, documents=tuple(found.values()))

    return replace(question, shelves=tuple(map(firsts, question.shelves)))


def without_chance(random: Random, question: Question) -> Question:
    """Leave out duplicate versions and ranges that panic: the cache is read in parallel, in random order."""
    versions = random.sample([f"{x}.{y}.{z}" for x in range(4) for y in range(4) for z in range(4)], 64)

    def settled(document: Document) -> Document:
        copy = deepcopy(document)
        for stated in copy.get("properties", ()):
            if stated["type"] == "olm.package":
                stated["value"]["version"] = versions.pop()
        for entry in copy["entries"] if copy["schema"] == "olm.channel" else ():
            if "||" in entry.get("skipRange", ""):
                del entry["skipRange"]
        return copy

    shelves = [replace(s, documents=tuple(map(settled, s.documents))) for s in question.shelves]
    return replace(question, shelves=tuple(shelves))
