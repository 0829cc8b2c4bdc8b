"""Several catalogs in sequence."""

from __future__ import annotations

from everpath.comparison import ComparisonScope, PathOutcome
from everpath.comparison.matrix import Matrix, MatrixRow, compare_sequence
from everpath.loaders.notation import parse
from everpath.model import Catalog
from everpath.upgrade_path.hops import PathEnd

CHAIN = "c: b\nb: a\na"


def _matrix(*drawings: str) -> Matrix:
    return compare_sequence(
        [parse(d) if d else Catalog("empty") for d in drawings], ComparisonScope(resolvers=("v0",))
    )


def _row(found: Matrix, name: str) -> MatrixRow:
    [row] = [row for row in found.rows if row.installed == name]
    return row


def test_each_catalog_update_counts_its_own_stranded_versions() -> None:
    found = _matrix("b: a\na", "c: b\nb: a\na", "d: c\nc: b")
    assert [update.regression_count for update in found.updates] == [0, 1]
    assert _row(found, "a").outcomes == (PathOutcome.FURTHER, PathOutcome.STRANDED)
    assert [change.installed for change in found.updates[1].changes] == [("a",)]


def test_version_of_a_later_catalog_has_no_path_before() -> None:
    found = _matrix("a", "b: a\na")
    assert _row(found, "b").paths[0] is None
    assert _row(found, "b").outcomes == (None,)


def test_stranded_version_is_compared_in_later_catalogs() -> None:
    found = _matrix("b: a\na", "b", "c: b / a\nb")
    assert _row(found, "a").outcomes == (PathOutcome.STRANDED, PathOutcome.FIXED)


def test_removed_package_is_reported_once_for_a_catalog_update() -> None:
    found = _matrix("[x]\nb: a\na\n[y]\na", "", "")
    assert [c.kind.value for c in found.updates[0].changes] == ["package-gone"]
    assert not found.updates[1].changes
    path = _row(found, "b").paths[1]
    assert path is not None
    assert path.end is PathEnd.ERROR


def test_row_whose_path_continues_is_not_notable() -> None:
    found = _matrix("b: a\na", "c: b\nb: a\na")
    assert not any(row.is_notable for row in found.rows)


def test_only_a_new_package_is_suggested_for_a_removed_one() -> None:
    one, other = parse(CHAIN, "my-op").packages[0], parse(CHAIN, "my-opp").packages[0]
    found = compare_sequence([Catalog("1", (one, other)), Catalog("2", (other,))])
    assert "renamed" not in found.updates[0].changes[0].message


def test_release_without_a_replacement_is_reported() -> None:
    old, new = "e@3.0.0: a\na@2.0.0", "e@3.0.0: a / d\nd@2.5.0: - / c\nc@2.4.0\na@2.0.0"
    found = _matrix(old, old, new, new)
    assert [[(c.kind.value, c.installed) for c in update.changes] for update in found.updates] == [
        [],
        [("no-replacement", ("c",))],
        [],
    ]
    assert (found.regression_count, found.errors) == (0, 1)


def test_different_path_is_reported_on_request() -> None:
    catalogs = [parse(CHAIN), parse(f"d: b / c\n{CHAIN}")]
    assert not compare_sequence(catalogs).updates[0].changes
    assert [
        c.kind.value for c in compare_sequence(catalogs, report_different_paths=True).updates[0].changes
    ] == ["different-path"]
