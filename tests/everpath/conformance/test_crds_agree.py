"""Everpath predicts what OLM v0's catalog operator and OLM v1's preflight do with changed CRDs.

Each OLM upgrades, refuses, or refuses because of invalid objects.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

import pytest

from everpath.crd_upgrade_safety import UnsafeChange, find_unsafe_changes
from everpath.crd_upgrade_safety.crd import parse_crd
from everpath.crd_upgrade_safety.preflight import refused_changes, served_version_differences
from everpath.crd_upgrade_safety.unsafe_changes import OlmResponse
from everpath.model import Place
from everpath.model.bundle_contents import Manifest
from tests.everpath.conformance.oracle import Answer, Oracle
from tests.everpath.conformance.random_definitions import Definition, Pair, edited, random_object, random_pair
from tests.support.everpath.crd_changes import CHANGES, FieldChange, crd_with

pytestmark = pytest.mark.conformance

Record = Callable[[str, object], None]

PAIRS: Final = 3_000
REAL_PAIRS: Final = 100
OBJECTS: Final = 5
#: The CRD of ClusterServiceVersion is larger than all others together.
BIG: Final = "clusterserviceversions.operators.coreos.com"

_SECTION: Final = re.compile(r'"(\w+)" validation failed: ')
_GONE: Final = re.compile(r"version/(\S+) field/\^(\S*) may not be removed")
_CHANGED: Final = re.compile(r'version "([^"]+)", field "\^([^"]*)"')
_UPGRADED: Final = re.compile(r'version upgrade "([^"]+)" to "([^"]+)"')


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    random = Random(1)
    return [random_pair(random) for _ in range(PAIRS)]


@pytest.fixture(scope="module")
def real_pairs(oracle: Oracle) -> list[Pair]:
    """Return OLM's own CRDs, and the same with one or two edits."""
    random = Random(2)
    found = oracle.ask({"ask": "olmDefinitions"})["definitions"]
    assert len(found) == 8
    small = [installed(d) for d in found if d["metadata"]["name"] != BIG]
    big = [installed(d) for d in found if d["metadata"]["name"] == BIG]
    return [edited(random, random.choice(small)) for _ in range(REAL_PAIRS)] + [
        edited(random, d) for d in big
    ]


def installed(found: Definition) -> Definition:
    """Return an installed CRD with stored objects in one version."""
    stored = [v["name"] for v in found["spec"]["versions"] if v["storage"]]
    return {
        **found,
        "status": {"storedVersions": stored, "conditions": [{"type": "Established", "status": "True"}]},
    }


def test_v1_refuses_the_predicted_changes(
    oracle_v1: Oracle, pairs: list[Pair], record_property: Record
) -> None:
    counts = asked_of_v1(oracle_v1, pairs)
    record_property("counted", f"{PAIRS:,} pairs of CRDs, asked of OLM v1: {dict(counts)}, 0 disagreements")
    assert min(counts["refused"], counts["carried out"], counts["panics"]) > 5


def test_v1_refuses_the_predicted_changes_of_real_crds(
    oracle_v1: Oracle, real_pairs: list[Pair], record_property: Record
) -> None:
    counts = asked_of_v1(oracle_v1, real_pairs)
    record_property("counted", f"{len(real_pairs)} edits of OLM's CRDs, asked of OLM v1: {dict(counts)}")
    assert min(counts["refused"], counts["carried out"]) > 10


def asked_of_v1(oracle: Oracle, pairs: list[Pair]) -> Counter[str]:
    """Count the results of OLM v1; fail if everpath's result or the refused fields differ."""
    answers = oracle.ask_many(
        {"ask": "definition", "old": pair.old, "manifest": json.dumps(pair.new)} for pair in pairs
    )
    counts: Counter[str] = Counter()
    for pair, answer in zip(pairs, answers, strict=True):
        responses = {change.responses.v1 for change in our_changes(pair)}
        is_refused = "refusal" in answer or "panicked" in answer
        assert is_refused == (OlmResponse.REFUSES in responses), (pair, answer)
        counts["panics" if "panicked" in answer else "refused" if is_refused else "carried out"] += 1
        if "panicked" not in answer:
            assert refused_by_v1(answer) == refused_by_us(pair), (pair, answer)
    return counts


def refused_by_v1(answer: Answer) -> set[tuple[str, ...]]:
    """Parse the message: the refused fields, and the versions that differ too much."""
    _, *parts = _SECTION.split(answer.get("refusal", ""))
    said = dict(zip(parts[::2], parts[1::2], strict=True))
    gone = set(_GONE.findall(said.get("NoExistingFieldRemoved", "")))
    changed = set(_CHANGED.findall(said.get("ChangeValidator", "")))
    served = said.get("ServedVersionValidator", "")
    return (
        {("gone", *g) for g in gone} | {("changed", *c) for c in changed} | {("served",) for _ in served[:1]}
    )


def refused_by_us(pair: Pair) -> set[tuple[str, ...]]:
    old, new = (parse_crd(Manifest(Place(""), body)) for body in (pair.old, pair.new))
    found = list(refused_changes(old, new))
    torn = {r.version for r in found if r.is_removal}  # it stops before it compares the schemas
    made = {("gone", r.version, dotted(r.location)) for r in found if r.is_removal}
    made |= {("changed", r.version, dotted(r.location)) for r in found if r.version not in torn}
    return made | {("served",) for _ in [*served_version_differences(new)][:1]}


def dotted(location: str) -> str:
    return location if not location or location.startswith("[") else f".{location}"


def our_changes(pair: Pair) -> list[UnsafeChange]:
    old, new = (parse_crd(Manifest(Place(""), body)) for body in (pair.old, pair.new))
    return list(
        find_unsafe_changes([old], [new], {old.name: frozenset(pair.old["status"]["storedVersions"])})
    )


def test_v0_refuses_the_predicted_changes(oracle: Oracle, pairs: list[Pair], record_property: Record) -> None:
    counts = asked_of_v0(oracle, pairs)
    record_property("counted", f"{PAIRS:,} pairs of CRDs, asked of OLM v0: {dict(counts)}, 0 disagreements")
    assert min(counts[key] for key in ("stored version gone", "scope changed", "objects refused")) > 20
    assert counts["claims seen"] > 0.5 * counts["claims"]


def test_v0_refuses_the_predicted_changes_of_real_crds(
    oracle: Oracle, real_pairs: list[Pair], record_property: Record
) -> None:
    counts = asked_of_v0(oracle, real_pairs)
    record_property("counted", f"{len(real_pairs)} edits of OLM's CRDs, asked of OLM v0: {dict(counts)}")
    assert counts["objects"] > 0


def asked_of_v0(oracle: Oracle, pairs: list[Pair]) -> Counter[str]:
    """Count the results of OLM v0; fail if a refusal was not predicted, or a certain one is missing."""
    random = Random(3)
    objects = [list(some_objects(random, pair)) for pair in pairs]
    answers = oracle.ask_many(
        {"ask": "definition", "old": pair.old, "new": pair.new, "objects": held}
        for pair, held in zip(pairs, objects, strict=True)
    )
    counts: Counter[str] = Counter()
    for pair, held, answer in zip(pairs, objects, answers, strict=True):
        found = our_changes(pair)
        kinds = {change.kind for change in found}
        assert ("stored" in answer) == ("stored-removed" in kinds), (pair, answer)
        assert is_immutable(answer) == ("scope-changed" in kinds), (pair, answer)
        counts["stored version gone"] += "stored" in answer
        counts["scope changed"] += "scope-changed" in kinds
        counts += objects_refused(pair, found, list(zip(held, answer["objects"], strict=True)))
    return counts


def objects_refused(pair: Pair, found: list[UnsafeChange], asked: list[tuple[Any, Any]]) -> Counter[str]:
    """Check that everpath predicts every existing object that prevents the upgrade."""
    claimed = {
        change.version for change in found if change.responses.v0 == OlmResponse.REFUSES_INVALID_OBJECTS
    }
    trusts = pair.new["spec"].get("conversion", {}).get("strategy") == "Webhook"
    were = [(held, answer) for held, answer in asked if answer["was"]]
    refused = {held["version"] for held, answer in were if "refusal" in answer and not trusts}
    assert refused <= claimed, (pair, found, asked)
    return Counter(
        {
            "objects": len(were),
            "objects refused": sum("refusal" in answer for _, answer in were),
            "claims": len(claimed),
            "claims seen": len(refused),
        }
    )


def some_objects(random: Random, pair: Pair) -> Iterator[dict[str, Any]]:
    for version in pair.old["spec"]["versions"]:
        if version["served"]:
            for _ in range(OBJECTS):
                yield {"version": version["name"], "content": random_object(random, version)}


def is_immutable(answer: Answer) -> bool:
    return any(said.startswith("spec.scope: ") and "immutable" in said for said in answer["server"])


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.title)
def test_each_kind_of_change_has_the_result_of_the_table(
    oracle: Oracle, oracle_v1: Oracle, change: FieldChange
) -> None:
    old, new = crd_with(change.old), crd_with(change.new)
    head = {"apiVersion": "acme.io/v1", "kind": "Widget", "metadata": {"name": "w"}}
    held = [{"version": "v1", "content": {**head, "spec": {"a": change.value}}}]
    [v0] = oracle.ask({"ask": "definition", "old": old, "new": new, "objects": held})["objects"]
    v1 = oracle_v1.ask({"ask": "definition", "old": old, "manifest": json.dumps(new)})
    assert v0["was"]
    assert ("refusal" in v0, "refusal" in v1) == (change.is_refused_by_v0, change.is_refused_by_v1)


def test_v1_accepts_a_release_without_the_crd(oracle_v1: Oracle) -> None:
    old = crd_with({"type": "string"})
    assert oracle_v1.ask({"ask": "definition", "old": old, "manifest": ""}) == {}
