"""Problems of loaders become findings of the rule of their kind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import everpath.loaders
from everpath.model import Catalog, Place, Problem
from everpath.rules.documents import PROBLEM_KINDS
from everpath.rules.lint import lint
from everpath.rules.registry import all_rules

PLACE = Place("catalog.yaml", 12, ("entries", 0))


def catalog_with(kind: str) -> Catalog:
    problem = Problem(kind, PLACE, "something is wrong", fix="correct it", package="op", entry="op.v1.0.0")
    return Catalog("test", problems=(problem,))


@pytest.mark.parametrize(
    "kind", sorted(rule.name for rule in all_rules() if rule.id < "EP018" and rule.id != "EP012")
)
def test_finding_has_the_message_of_the_loader(kind: str) -> None:
    (finding,) = lint(catalog_with(kind)).findings
    assert finding.name == kind
    assert (finding.place, finding.message, finding.fix) == (PLACE, "something is wrong", "correct it")
    assert (finding.package, finding.entry) == ("op", "op.v1.0.0")
    assert finding.because  # what follows from it for users


def test_problem_without_a_fix_gets_that_of_its_rule() -> None:
    problem = Problem("duplicate-key", PLACE, "something is wrong")
    (finding,) = lint(Catalog("test", problems=(problem,))).findings
    assert finding.fix == "keep one of them"


def test_only_unreadable_documents_are_marked_as_unreadable() -> None:
    assert {kind for kind in PROBLEM_KINDS if lint(catalog_with(kind)).unreadable} == {"unreadable-document"}


def test_unreadable_metadata_file_does_not_reject_the_catalog() -> None:
    (finding,) = lint(catalog_with("unreadable-document")).findings
    assert finding.because[0].endswith("and ignores it in metadata of a bundle")


def test_unknown_update_mode_has_a_consequence() -> None:
    (finding,) = lint(catalog_with("unknown-update-mode")).findings
    assert finding.because[0].startswith("operator-pipelines rejects it")


def test_problem_without_a_rule_fails_an_assertion() -> None:
    with pytest.raises(AssertionError, match="no rule is named mystery"):
        lint(catalog_with("mystery"))


def test_loaders_report_only_problems_with_a_rule() -> None:
    reported = set(_reported_kinds())
    assert reported, "no reader reports anything: this test looks in the wrong place"
    assert reported <= PROBLEM_KINDS


def _reported_kinds() -> Iterator[str]:
    """Kinds spelled out where readers make a Problem or a Note, or add one to a report."""
    for file in sorted(Path(str(everpath.loaders.__file__)).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and _is_report(node):
                kinds = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "kind")]
                yield from (
                    k.value for k in kinds if isinstance(k, ast.Constant) and isinstance(k.value, str)
                )


def _is_report(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id="Problem" | "Note"):
            return True
        case ast.Attribute(attr="add"):  # a set's add has one argument, a report's at least three
            return len(call.args) > 2
    return False
