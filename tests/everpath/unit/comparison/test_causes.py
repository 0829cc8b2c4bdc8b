"""The edits that cause a change, and the fix."""

from __future__ import annotations

import pytest

from tests.support.everpath.comparisons import changes

CHAIN = "c: b\nb: a\na"


def _cause(old: str, new: str, kind: str = "stranded", resolver: str = "both") -> list[str]:
    """Return the edits that cause the only change of a kind."""
    [change] = changes(old, new, kind, resolver)
    return [edit.description for edit in change.edits]


def _fix(old: str, new: str, kind: str = "stranded", resolver: str = "both") -> str | None:
    [change] = changes(old, new, kind, resolver)
    return change.fix


@pytest.mark.parametrize(
    ("old", "new", "kind", "resolver", "words"),
    [
        (CHAIN, "c\nb: a\na", "failing", "v0", "c no longer replaces b"),
        ("d: c\nc: b\nb: a\na", "d: b\nc: b\nb: a\na", "failing", "v0", "d now replaces b, no longer c"),
        ("c: a / b\nb: a\na", "c: a\nb: a\na", "failing", "v0", "c no longer skips b"),
        (CHAIN, "c: b\nb: a / c\na", "failing", "v0", "b now skips c"),
        (
            "c: - / b / <2.0.0\nb: - / a\na",
            "c: - / b\nb: - / a\na",
            "stranded",
            "v0",
            "c no longer has the skipRange '<2.0.0'",
        ),
        (
            "c: - / b / <2.0.0\nb: - / a\na",
            "c: - / b / <1.0.0\nb: - / a\na",
            "stranded",
            "v0",
            "the skipRange of c is now '<1.0.0', no longer '<2.0.0'",
        ),
        ("b: a\na", "b: a\na: - / - / >=2.0.0", "stranded", "v0", "a now has the skipRange '>=2.0.0'"),
        (
            "c: - / - / =1.0.0\na@1.0.0: z\nz@0.1.0",
            "c: - / - / =1.0.0\na@1.1.0: z\nz@0.1.0",
            "stranded",
            "v1",
            "the version of a is now 1.1.0, no longer 1.0.0",
        ),
        ("b: a\na", "b?: a\na", "stranded", "v1", "bundle b was removed, but its entry was not"),
        (
            "c?: b / a\nb: a\na",
            "c: b / a\nb: a\na",
            "different-path",
            "v1",
            "bundle c was added for its entry",
        ),
        ("b: a\na", "b: a\na\n%deprecated b: no", "stranded", "v1", "b was deprecated"),
        (
            "c: b / a\nb: a\na\n%deprecated c: no",
            "c: b / a\nb: a\na",
            "different-path",
            "v1",
            "c is no longer deprecated",
        ),
        ("b: a\na", "b: a\na\n%prohibited b", "stranded", "v0", "b now carries olm.deprecated"),
    ],
)
def test_single_edit_is_the_cause(old: str, new: str, kind: str, resolver: str, words: str) -> None:
    assert _cause(old, new, kind, resolver) == [words]


def test_removed_entry_is_the_cause() -> None:
    assert _cause(CHAIN, "b: a\na") == ["c was removed from the catalog"]


def test_new_release_that_replaces_nothing_is_the_cause_and_has_a_fix() -> None:
    assert _cause(CHAIN, f"d\n{CHAIN}", "failing") == ["d was added; it replaces and skips nothing"]
    assert _fix(CHAIN, f"d\n{CHAIN}", "failing") == "set replaces: c on d"


def test_fork_is_fixed_by_a_skip() -> None:
    assert _fix(CHAIN, f"d: b\n{CHAIN}", "failing") == "add c to the skips of d"


def test_order_of_equal_versions_is_the_cause_if_it_decides() -> None:
    old, new = "b@1.0.0: a\nc@1.0.0: a\na@0.1.0", "c@1.0.0: a\nb@1.0.0: a\na@0.1.0"
    [words] = _cause(old, new, "different-path", "v1")
    assert (
        words
        == "the order of entries or bundles changed, which may decide between equal versions under OLM v1"
    )
    [change] = changes(old, new, "different-path", "v1")
    assert change.reasons == ("b and c have the same version; OLM v1 may choose either",)


def test_path_through_equal_versions_has_that_as_a_reason() -> None:
    [change] = changes("b@1.0.0: a\nc@1.0.0: a\na@0.1.0", "b@1.0.0\nc@1.0.0\na@0.1.0", "stranded", "v1")
    assert change.reasons[-1] == "b and c have the same version; OLM v1 may choose either"
    assert change.edits


@pytest.mark.parametrize(
    ("old", "new", "resolver"),
    [
        # OLM v0 ignores versions; no edge leads to c; c is deprecated, and b is not.
        ("d: b / c\nb@1.0.0: a\nc@1.0.0: a\na@0.1.0", "d: b / c\nb@1.0.0\nc@1.0.0\na@0.1.0", "v0"),
        ("d: b\nb@1.0.0: a\nc@1.0.0\na@0.1.0", "d: b\nb@1.0.0\nc@1.0.0\na@0.1.0", "v1"),
        (
            "d: b / c\nb@1.0.0: a\nc@1.0.0: a\na@0.1.0\n%deprecated c: no",
            "d: b / c\nb@1.0.0\nc@1.0.0\na@0.1.0\n%deprecated c: no",
            "v1",
        ),
    ],
)
def test_path_without_a_choice_between_equal_versions_has_no_such_reason(
    old: str, new: str, resolver: str
) -> None:
    found = [c for kind in ("failing", "stranded") for c in changes(old, new, kind, resolver)]
    assert any("a" in change.installed for change in found)
    assert not any("same version" in reason for change in found for reason in change.reasons)


def test_edits_that_strand_only_together_are_one_cause() -> None:
    assert _cause(CHAIN, "c\nb\na", "failing", "v0") == ["c no longer replaces b", "b no longer replaces a"]


def test_unrelated_edit_is_not_a_cause() -> None:
    old = f"{CHAIN}\n"
    new = "d: c / - / <0.1.0\nc: b / - / <0.2.0\nb\na"
    assert _cause(old, new, "failing", "v0") == ["b no longer replaces a"]


def test_cause_has_only_the_versions_that_it_strands() -> None:
    old = "d: c\nc: b\nb: a\na"
    new = "e: d\nd: b\nb: a"
    found = changes(old, new, "stranded", "v0")
    assert [(c.installed, [e.description for e in c.edits]) for c in found] == [
        (("c",), ["d now replaces b, no longer c", "c was removed from the catalog"])
    ]


def test_one_cause_under_both_resolvers_is_reported_once() -> None:
    [change] = changes(CHAIN, "d: c\nc: a\na", "stranded")
    assert change.resolvers == ("v0", "v1")
    assert change.installed == ("b",)
    assert change.fix == "add b to the skips of d"


def test_pruned_channel_is_fixed_by_one_skip_range() -> None:
    old = "\n".join(f"b{n}: b{n - 1}" for n in range(9, 1, -1)) + "\nb1"
    new = "\n".join(f"b{n}: b{n - 1}" for n in range(10, 6, -1))
    fixes = {change.fix for change in changes(old, new, "stranded")}
    assert "give b10 the skipRange '>=1.0.0 <10.0.0'" in fixes


def test_change_shows_the_path_before_and_now() -> None:
    [change] = changes(CHAIN, "d: c\nc: a\na", "stranded", "v0")
    assert (change.old_path, change.new_path) == ("b → c (head)", "b (no further update)")
    assert change.reasons == ("nothing in the new channel replaces b, skips it or covers 2.0.0",)


def test_edge_that_v0_does_not_follow_is_the_reason() -> None:
    [change] = changes("c: b\nb: a\na", "d: c / b\nc: - / - / -\nb: a\na", "stranded", "v0")
    assert change.installed == ("a",)
    assert change.reasons[0].startswith("b replaces a, but it")


@pytest.mark.parametrize(
    ("old", "new", "kind", "fix"),
    [
        # A range is enough for OLM, but opm rejects a channel in which no edge names a.
        (CHAIN, "d: c / b\nc\nb: a\na", "stranded", "add a to the skips of d"),
        (CHAIN, "c: b\nb: a / c\na", "failing", "remove c from the skips of b"),
        ("b: a\na", "b: a\na: - / - / >=2.0.0", "stranded", "remove the skipRange of a"),
        (CHAIN, f"d: c\n{CHAIN}\n%prohibited d", "stranded", "remove d"),
        (CHAIN, "b: a\na", "stranded", "add c to the skips of b"),
    ],
)
def test_fix_is_a_tried_edit_or_undoes_the_cause(old: str, new: str, kind: str, fix: str) -> None:
    assert _fix(old, new, kind, "v0") == fix


def test_removed_entry_has_one_fix_for_both_resolvers() -> None:
    old, new = f"d: c\n{CHAIN}", "d: c\nb: a\na"
    [failing], [stranded] = changes(old, new, "failing"), changes(old, new, "stranded")
    assert (failing.resolvers, stranded.resolvers) == (("v0",), ("v1",))
    assert failing.fix == stranded.fix == "restore c"


def test_causes_that_share_an_edit_have_one_fix() -> None:
    old = "d: c\nc: b / a\nb: a / a\na"
    new = "d: a\nb: a\na"
    found = [change for kind in ("failing", "stranded") for change in changes(old, new, kind)]
    assert {change.fix for change in found} == {"set replaces: c on d and restore c"}


def test_fix_that_breaks_the_other_resolver_is_not_proposed() -> None:
    [change] = changes(f"d: c\n{CHAIN}", "d: c\nb: a\na", "stranded", "v1")
    assert change.fix == "restore c"


def test_edge_that_v1_does_not_follow_is_the_reason() -> None:
    [deprecated] = changes("b: a\na", "b: a\na\n%deprecated b: no", "stranded", "v1")
    assert deprecated.reasons == ("b replaces a, but b is deprecated and a is not",)
    assert deprecated.new_path == "a (newest)"
    [bundleless] = changes("b: a\na", "b?: a\na", "stranded", "v1")
    assert bundleless.reasons[0] == "b replaces a, but the catalog has no bundle b"


def test_only_edit_is_undone_even_if_a_version_gained_by_it() -> None:
    """Under v1, a reaches its goal only without b. That is no reason to leave b out."""
    old, new = "b\na: - / a", "a: - / a"
    assert {change.fix for kind in ("failing", "stranded") for change in changes(old, new, kind)} == {
        "restore b"
    }
