"""everpath.versions and everpath.ranges agree with blang: which texts parse, match or panic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Final

import pytest

from everpath.ranges import Range, RangeError, RangePanic
from everpath.versions import Version, VersionError, parse, parse_tolerant
from tests.everpath.conformance.oracle import Answer, Oracle
from tests.everpath.conformance.random_texts import random_range, random_version, random_version_text

pytestmark = pytest.mark.conformance

Counted = Callable[[str, object], None]

RANGES: Final = 20_000
VERSIONS_A_RANGE: Final = 12
TEXTS: Final = 30_000


def test_random_ranges(oracle: Oracle, record_property: Counted) -> None:
    random = Random(1)
    asked = [
        (random_range(random), [random_version(random) for _ in range(VERSIONS_A_RANGE)])
        for _ in range(RANGES)
    ]
    answers = oracle.ask_many({"ask": "range", "range": r, "versions": v} for r, v in asked)
    counts: Counter[object] = Counter()
    for (text, versions), answer in zip(asked, answers, strict=True):
        theirs = answer["matches"] if answer["parses"] else None
        ours = matches(text, versions)
        assert theirs == ours, f"{text!r} about {versions}: blang says {theirs} ({answer.get('error')})"
        counts.update(["does not parse"] if ours is None else ours)
    record_property("counted", f"{RANGES:,} random ranges: {dict(counts)}, 0 disagreements")
    assert counts[True] + counts[False] + counts["panic"] >= 50_000
    assert min(counts[True], counts[False], counts["panic"], counts["does not parse"]) > 100


def matches(text: str, versions: list[str]) -> list[bool | str] | None:
    try:
        span = Range.parse(text)
    except RangeError:
        return None
    return [match(span, parse(version)) for version in versions]


def match(span: Range, version: Version) -> bool | str:
    """Return the result of `contains`; the intervals must agree."""
    try:
        answer = span.contains(version)
    except RangePanic:
        assert span.panics_on(version), f"{span} about {version}"
        return "panic"
    assert answer == (version in span.intervals), f"{span} about {version}"
    return answer


def test_random_versions(oracle: Oracle, record_property: Counted) -> None:
    random = Random(2)
    texts = [random_version_text(random) for _ in range(TEXTS)]
    answers = oracle.ask_many({"ask": "version", "text": text} for text in texts)
    counts: Counter[str] = Counter()
    for text, answer in zip(texts, answers, strict=True):
        for kind, read in (("strict", parse), ("tolerant", parse_tolerant)):
            theirs, ours = normal(answer[kind]), reading(read, text)
            assert theirs == ours, f"{text!r} read by blang, {kind}: {theirs} ({answer[kind].get('error')})"
            counts[kind] += ours is not None
    record_property("counted", f"{TEXTS:,} random version texts: {dict(counts)} parse, 0 disagreements")
    assert min(counts.values()) > 1_000


def normal(answer: Answer) -> str | None:
    return str(answer["normal"]) if answer["ok"] else None


def reading(read: Callable[[str], Version], text: str) -> str | None:
    try:
        return str(read(text))
    except VersionError:
        return None


def test_random_pairs_have_the_same_order(oracle: Oracle, record_property: Counted) -> None:
    random = Random(3)
    pairs = [(random_version(random), random_version(random)) for _ in range(20_000)]
    answers = oracle.ask_many({"ask": "compare", "a": a, "b": b} for a, b in pairs)
    orders: Counter[int] = Counter()
    for (a, b), answer in zip(pairs, answers, strict=True):
        left, right = parse(a).key, parse(b).key
        ours = (left > right) - (left < right)
        assert answer["order"] == ours, f"{a} and {b}: blang says {answer['order']}"
        orders[ours] += 1
    record_property("counted", f"{len(pairs):,} random pairs of versions: {dict(orders)}, 0 disagreements")
    assert min(orders[-1], orders[0], orders[1]) > 100
