"""everpath.ranges.masterminds and Masterminds agree: which texts parse, what they match, and the errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Final

import pytest

from everpath.ranges.masterminds import Constraint, ConstraintError
from everpath.versions import parse
from tests.everpath.conformance.oracle import Oracle
from tests.everpath.conformance.v1_texts import random_constraint, random_v1_version

pytestmark = pytest.mark.conformance

CONSTRAINTS: Final = 12_000
VERSIONS_A_CONSTRAINT: Final = 10

# One of each form, against every version near the bounds.
OPERANDS: Final = (
    "0", "1", "0.0", "0.1", "1.0", "1.2", "0.0.0", "0.0.1", "0.1.0", "1.0.0", "1.2.3", "x", "X.1", "*", "1.x",
    "0.*", "1.x.2", "1.2.X", "0.0.x", "v1.2", "1.2.3-rc.1", "1.2-rc.1", "1-rc", "x-rc", "0.0.0-0", "0-0",
    "1.2.3+5",
)  # fmt: skip
OPERATORS: Final = ("", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^")
NEIGHBOURS: Final = tuple(
    f"{x}.{y}.{z}{end}"
    for x in (0, 1, 2)
    for y in (0, 1, 2, 3)
    for z in (0, 1, 3, 4)
    for end in ("", "-0", "-rc", "-rc.1", "-rc.2", "+5")
)


def test_random_constraints(oracle_v1: Oracle, record_property: Callable[[str, object], None]) -> None:
    random = Random(1)
    asked = [
        (random_constraint(random), tuple(random_v1_version(random) for _ in range(VERSIONS_A_CONSTRAINT)))
        for _ in range(CONSTRAINTS)
    ]
    counts = compared(oracle_v1, asked)
    record_property("counted", f"{CONSTRAINTS:,} random constraints: {dict(counts)}, 0 disagreements")
    assert counts[True] + counts[False] >= 20_000
    assert (
        min(counts[True], counts[False], counts["improper constraint"], counts["constraint Parser Error"])
        > 300
    )


def test_every_operator_on_every_form(
    oracle_v1: Oracle, record_property: Callable[[str, object], None]
) -> None:
    forms = [f"{operator}{operand}" for operator in OPERATORS for operand in OPERANDS]
    forms += [f"{low} - {high}" for low in OPERANDS for high in OPERANDS]
    counts = compared(oracle_v1, [(form, NEIGHBOURS) for form in forms])
    record_property("counted", f"{len(forms):,} forms of constraints: {dict(counts)}, 0 disagreements")
    assert counts.keys() == {True, False}


def compared(oracle: Oracle, asked: list[tuple[str, tuple[str, ...]]]) -> Counter[object]:
    """Count the results; fail if matches or error messages differ."""
    answers = oracle.ask_many({"ask": "constraint", "constraint": c, "versions": v} for c, v in asked)
    counts: Counter[object] = Counter()
    for (text, versions), answer in zip(asked, answers, strict=True):
        theirs = answer["matches"] if answer["parses"] else answer["error"]
        ours = matches(text, versions)
        assert theirs == ours, f"{text!r} about {versions}: Masterminds says {theirs}"
        counts.update([ours.partition(":")[0]] if isinstance(ours, str) else ours)
    return counts


def matches(text: str, versions: tuple[str, ...]) -> list[bool] | str:
    try:
        constraint = Constraint.parse(text)
    except ConstraintError as error:
        return error.upstream_message
    return [constraint.contains(parse(version)) for version in versions]
