"""Rules about documents: all findings of a kind, with their positions."""

from __future__ import annotations

from everpath.model import Catalog, Place, Problem, ProblemKind
from everpath.rules import documents
from tests.support.everpath.documents import catalog, package
from tests.support.everpath.graphs import parse_report


def test_every_problem_of_a_kind_is_reported() -> None:
    problems = tuple(Problem(ProblemKind.DUPLICATE_KEY, Place(f"{n}.yaml"), "twice") for n in range(2))
    found = parse_report(Catalog("test", problems=problems), "duplicate-key")
    assert [finding.place.file for finding in found] == ["0.yaml", "1.yaml"]


def test_consequence_of_a_problem_is_a_function() -> None:
    assert documents.no_csv() == "opm and OLM reject a bundle without a ClusterServiceVersion"


def test_every_unserved_name_of_custom_documents_is_reported() -> None:
    customs = ({"schema": "a/b", "package": "c/d"}, {"schema": "e/f", "package": "op"})
    found = parse_report(catalog(package(), *customs), "EP012")
    assert [(f.place.file, f.place.pointer) for f in found] == [
        ("1.yaml", ("schema",)),
        ("1.yaml", ("package",)),
        ("2.yaml", ("schema",)),
    ]
    for finding in found:
        assert finding.because[0].startswith("opm validate accepts the catalog, but opm serve fails")
        assert finding.fix is not None
