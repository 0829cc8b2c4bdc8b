"""Problems of loaders become findings of the rule of their kind."""

from __future__ import annotations

import pytest

from everpath.model import Catalog, Place, Problem, ProblemKind
from everpath.rules.lint import lint
from everpath.rules.registry import all_rules

PLACE = Place("catalog.yaml", 12, ("entries", 0))


def catalog_with(kind: ProblemKind) -> Catalog:
    problem = Problem(kind, PLACE, "something is wrong", fix="correct it", package="op", entry="op.v1.0.0")
    return Catalog("test", problems=(problem,))


@pytest.mark.parametrize("kind", ProblemKind)
def test_finding_has_the_message_of_the_loader(kind: ProblemKind) -> None:
    (finding,) = lint(catalog_with(kind)).findings
    assert finding.name == kind
    assert (finding.place, finding.message, finding.fix) == (PLACE, "something is wrong", "correct it")
    assert (finding.package, finding.entry) == ("op", "op.v1.0.0")
    assert finding.because  # what follows from it for users


def test_problem_without_a_fix_gets_that_of_its_rule() -> None:
    problem = Problem(ProblemKind.DUPLICATE_KEY, PLACE, "something is wrong")
    (finding,) = lint(Catalog("test", problems=(problem,))).findings
    assert finding.fix == "keep one of them"


def test_only_unreadable_documents_are_marked_as_unreadable() -> None:
    assert [kind for kind in ProblemKind if lint(catalog_with(kind)).unreadable] == [
        ProblemKind.UNREADABLE_DOCUMENT
    ]


def test_unreadable_metadata_file_does_not_reject_the_catalog() -> None:
    (finding,) = lint(catalog_with(ProblemKind.UNREADABLE_DOCUMENT)).findings
    assert finding.because[0].endswith("and ignores it in metadata of a bundle")


def test_unknown_update_mode_has_a_consequence() -> None:
    (finding,) = lint(catalog_with(ProblemKind.UNKNOWN_UPDATE_MODE)).findings
    assert finding.because[0].startswith("operator-pipelines rejects it")


def test_every_kind_of_problem_has_a_rule() -> None:
    assert {*ProblemKind} <= {rule.name for rule in all_rules()}
