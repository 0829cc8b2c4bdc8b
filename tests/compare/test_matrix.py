"""Several catalogs in a row."""

from __future__ import annotations

from everpath.compare import PathOutcome, Scope
from everpath.compare.matrix import Matrix, MatrixRow, compare_sequence
from everpath.loaders.notation import parse
from everpath.model import Catalog
from everpath.upgrade_paths.hops import PathEnd

CHAIN = "c: b\nb: a\na"


def _matrix(*drawings: str) -> Matrix:
    return compare_sequence([parse(d) if d else Catalog("empty") for d in drawings], Scope(resolvers=("v0",)))


def _row(found: Matrix, name: str) -> MatrixRow:
    [row] = [row for row in found.rows if row.installed == name]
    return row


def test_each_move_strands_its_own() -> None:
    found = _matrix("b: a\na", "c: b\nb: a\na", "d: c\nc: b")
    assert [move.stranded for move in found.updates] == [0, 1]
    assert _row(found, "a").outcomes == (PathOutcome.FURTHER, PathOutcome.STRANDED)
    assert [change.installed for change in found.updates[1].changes] == [("a",)]


def test_what_a_later_catalog_brings_has_no_path_before_it() -> None:
    found = _matrix("a", "b: a\na")
    assert _row(found, "b").paths[0] is None
    assert _row(found, "b").outcomes == (None,)


def test_whoever_did_not_move_on_is_followed_into_the_catalogs_after_the_next() -> None:
    found = _matrix("b: a\na", "b", "c: b / a\nb")
    assert _row(found, "a").outcomes == (PathOutcome.STRANDED, PathOutcome.FIXED)


def test_a_package_that_is_gone_is_reported_once_for_a_move() -> None:
    found = _matrix("[x]\nb: a\na\n[y]\na", "", "")
    assert [c.kind.value for c in found.updates[0].changes] == ["package-gone"]
    assert not found.updates[1].changes
    road = _row(found, "b").paths[1]
    assert road is not None
    assert road.end is PathEnd.ERROR


def test_rows_that_go_on_as_before_do_not_differ() -> None:
    found = _matrix("b: a\na", "c: b\nb: a\na")
    assert not any(row.is_notable or row.has_regression for row in found.rows)


def test_only_a_package_that_is_new_may_be_the_one_that_is_gone() -> None:
    one, other = parse(CHAIN, "my-op").packages[0], parse(CHAIN, "my-opp").packages[0]
    found = compare_sequence([Catalog("1", (one, other)), Catalog("2", (other,))])
    assert "did you mean" not in found.updates[0].changes[0].message


def test_a_release_without_a_replacement_is_reported() -> None:
    old, new = "e@3.0.0: a\na@2.0.0", "e@3.0.0: a / d\nd@2.5.0: - / c\nc@2.4.0\na@2.0.0"
    found = _matrix(old, old, new, new)
    assert [[(c.kind.value, c.installed) for c in move.changes] for move in found.updates] == [
        [],
        [("no-replacement", ("c",))],
        [],
    ]
    assert (found.stranded, found.errors) == (0, 1)


def test_who_goes_another_way_is_reported_on_request() -> None:
    catalogs = [parse(CHAIN), parse(f"d: b / c\n{CHAIN}")]
    assert not compare_sequence(catalogs).updates[0].changes
    assert [
        c.kind.value for c in compare_sequence(catalogs, report_different_paths=True).updates[0].changes
    ] == ["different-path"]
