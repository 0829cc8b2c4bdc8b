"""The outcome for each installed version."""

from __future__ import annotations

import pytest

from everpath.comparison import ComparisonScope, compare
from everpath.loaders.notation import parse
from everpath.model import Catalog, Property
from tests.support.everpath.comparisons import changed, outcomes, rows

CHAIN = "c: b\nb: a\na"


def test_release_that_replaces_the_head_continues_every_path() -> None:
    assert outcomes(CHAIN, f"d: c\n{CHAIN}") == {"a": "further", "b": "further", "c": "further"}


def test_unchanged_channel_has_no_changed_paths() -> None:
    assert outcomes(CHAIN, CHAIN) == {"a": "same", "b": "same", "c": "same"}


def test_version_that_no_entry_accepts_any_more_is_stranded() -> None:
    assert outcomes(CHAIN, "d: c\nc: a\na") == {"a": "different-path", "b": "stranded", "c": "further"}


def test_removed_version_may_be_accepted_by_name() -> None:
    assert outcomes("b: a\na", "c: b\nb: a") == {"a": "further", "b": "further"}


def test_removed_version_may_be_accepted_by_range() -> None:
    assert outcomes("b: a\na", "c: - / - / <3.0.0") == {"a": "different-path", "b": "further"}


def test_version_of_the_old_catalog_counts_for_ranges() -> None:
    old, new = "b: a\na@1.0.0", "c: b / - / >=1.0.0 <1.0.5\nb: a\na@1.5.0"
    assert outcomes(old, new, "v0")["a"] == "different-path"
    assert outcomes(old.replace("1.0.0", "1.5.0"), new, "v0")["a"] == "further"


def test_second_head_fails_every_version_under_v0() -> None:
    assert set(outcomes(CHAIN, f"d\n{CHAIN}", "v0").values()) == {"failing"}


def test_second_head_strands_every_other_version_under_v1() -> None:
    assert set(outcomes(CHAIN, f"d\n{CHAIN}", "v1").values()) == {"stranded"}


def test_loop_strands_the_versions_in_it() -> None:
    assert outcomes("b: a\na", "b: a\na: - / - / >=2.0.0", "v0") == {"a": "stranded", "b": "stranded"}


def test_skipped_hop_is_a_different_path() -> None:
    assert outcomes(CHAIN, f"d: b / c\n{CHAIN}") == {
        "a": "different-path",
        "b": "different-path",
        "c": "further",
    }


def test_hop_to_a_lower_version_is_a_downgrade() -> None:
    old, new = "b: a\na", "c: b2@1.5.0\nb2@1.5.0: b\nb: a\na"
    assert outcomes(old, new.replace("c: b2@1.5.0", "c: b2"), "v0") == {"a": "downgraded", "b": "downgraded"}


def test_version_that_was_stranded_before_is_no_regression() -> None:
    assert outcomes("c: - / b\nb: - / a\na", "c: - / b\nb: - / a\na", "v0")["a"] == "before"


def test_version_that_is_no_longer_stranded_is_fixed() -> None:
    assert outcomes("c: - / b\nb: - / a\na", "c: - / b, a\nb: - / a\na", "v0")["a"] == "fixed"


def test_resolver_that_failed_before_is_no_regression() -> None:
    assert set(outcomes("b\na", "c\nb\na", "v0").values()) == {"before"}


def test_skipped_versions_are_compared() -> None:
    assert outcomes("c: a / b\nb: a\na", "c: a\na")["b"] == "stranded"


def test_removed_head_is_stranded_and_the_head_moves_back() -> None:
    assert outcomes(CHAIN, "b: a\na")["c"] == "stranded"
    assert changed(CHAIN, "b: a\na", "head-moved-back") == ["The head moved back from c (3.0.0) to b (2.0.0)"]


def test_v1_failure_has_the_message_of_olm() -> None:
    [row] = [r for r in rows(CHAIN, "d: c\nc: a\na", "v1") if r.installed == "b"]
    assert row.new.failure is not None
    assert row.new.failure.message == (
        'error upgrading from currently installed version "2.0.0": '
        'no bundles found for package "p" in channels [stable]'
    )


def test_bundle_of_the_same_version_replaces_a_removed_one_under_v1() -> None:
    [row] = [r for r in rows("b: a\na", "b: a2\na2@1.0.0", "v1") if r.installed == "a"]
    assert (row.new.next, row.new.last) == ("a2", "b")


@pytest.mark.parametrize("resolver", ["v0", "v1"])
def test_removed_channel_fails_every_version(resolver: str) -> None:
    assert set(outcomes(f"[alpha]\n{CHAIN}", f"[beta]\n{CHAIN}", resolver).values()) == {"failing"}


def test_bundle_that_v1_rejects_fails_the_versions_below() -> None:
    old = parse("b: a\na")
    new = _with_property(old, "b", "olm.gvk.required")
    found = compare(old, new)
    assert {(row.installed, row.resolver): row.outcome.value for row in found.rows} == {
        ("a", "v0"): "same",
        ("b", "v0"): "same",
        ("a", "v1"): "failing",
        ("b", "v1"): "failing",
    }
    [change] = [change for change in found.changes if change.kind.value == "failing"]
    assert [edit.description for edit in change.edits] == ["b now declares olm.gvk.required"]
    assert change.fix == "restore bundle b"


def test_bundle_that_v1_no_longer_rejects_is_fixed() -> None:
    new = parse("b: a\na")
    found = compare(_with_property(new, "b", "olm.constraint"), new, ComparisonScope(resolvers=("v1",)))
    assert {row.outcome.value for row in found.rows} == {"fixed"}


def test_range_that_makes_olm_panic_fails_both_resolvers() -> None:
    assert set(outcomes("b: a\na", "b: a / - / <0.9.0 || || <0.5.0\na").values()) == {"failing"}
    [words] = changed("b: a\na", "b: a / - / <0.9.0 || || <0.5.0\na", "failing")
    assert words.endswith("OLM v0 and v1 cannot resolve the namespace and the ClusterExtension")


def test_v1_path_may_use_the_last_of_two_channels_with_the_same_name() -> None:
    old = parse("b: a\na")
    [first], [last] = (parse(drawing).packages[0].channels for drawing in ("b\nc: b", "d: a\na"))
    bundles = parse("d\nc\nb\na").packages[0].bundles
    twice = old.packages[0]._replace(channels=(first, last), bundles=bundles)
    [row] = [
        row
        for row in compare(old, old._replace(packages=(twice,)), ComparisonScope(resolvers=("v1",))).rows
        if row.installed == "a"
    ]
    assert (row.new.next, row.new.last) == ("d", "d")


def test_channel_that_is_declared_twice_fails_under_v1() -> None:
    old, [other] = parse("a"), parse("z").packages
    [package] = old.packages
    twice = package._replace(channels=(*package.channels, *other.channels))
    found = compare(old, old._replace(packages=(twice,)))
    assert [row.outcome.value for row in found.rows] == ["same", "failing"]
    [failing] = [change for change in found.changes if change.kind.value == "failing"]
    assert failing.fix == f"declare channel {package.channels[0].name} once"
    assert "rejected-by-opm" in {change.kind.value for change in found.changes}


def test_withdrawn_newest_version_is_no_goal_under_v1() -> None:
    old, new = "b@1.1.0: a\na@1.0.0", "c@1.0.1: a / b\nb@1.1.0: a\na@1.0.0"
    assert outcomes(old, new, "v1") == {"b": "stranded", "a": "stranded"}


@pytest.mark.parametrize("head", ["b: a\na\n%deprecated b: no", "b?: a\na"])
def test_path_that_loses_all_hops_is_stranded(head: str) -> None:
    assert outcomes("b: a\na", head, "v1")["a"] == "stranded"


def _with_property(catalog: Catalog, name: str, kind: str) -> Catalog:
    [package] = catalog.packages
    more = Property(kind, {"group": "g", "version": "v1", "kind": "K"}, package.place)
    bundles = (b._replace(properties=(*b.properties, more)) if b.name == name else b for b in package.bundles)
    return catalog._replace(packages=(package._replace(bundles=tuple(bundles)),))


def test_path_that_ends_above_the_head_reaches_its_goal() -> None:
    """A new installation under v1 gets a, and the head is lower: a is a goal, as in `simulate`."""
    old = "c@1.1.1: a@1.1.0\na@1.1.0: - / a\nh@1.0.1: - / - / =1.1.1".replace("a@1.1.0\n", "a\n", 1)
    new = "a@1.1.0: - / a\nh@1.0.1: - / - / =1.1.1"
    [row] = [row for row in rows(old, new, "v1") if row.installed == "a"]
    assert (row.outcome.value, row.new.end.value) == ("different-path", "head")
