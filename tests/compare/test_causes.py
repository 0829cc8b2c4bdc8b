"""Which edit did it, and what mends it."""

from __future__ import annotations

import pytest

from comparisons import changes

CHAIN = "c: b\nb: a\na"


def _cause(old: str, new: str, kind: str = "stranded", policy: str = "both") -> list[str]:
    """The edits that are named for the one change of a kind."""
    [change] = changes(old, new, kind, policy)
    return [edit.description for edit in change.edits]


def _fix(old: str, new: str, kind: str = "stranded", policy: str = "both") -> str | None:
    [change] = changes(old, new, kind, policy)
    return change.fix


@pytest.mark.parametrize(
    ("old", "new", "kind", "policy", "words"),
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
def test_a_single_edit_is_named(old: str, new: str, kind: str, policy: str, words: str) -> None:
    assert _cause(old, new, kind, policy) == [words]


def test_a_removed_entry_is_named() -> None:
    assert _cause(CHAIN, "b: a\na") == ["c was removed from the catalog"]


def test_a_new_release_that_replaces_nothing_is_named_and_told_what_to_replace() -> None:
    assert _cause(CHAIN, f"d\n{CHAIN}", "failing") == ["d was added; it replaces and skips nothing"]
    assert _fix(CHAIN, f"d\n{CHAIN}", "failing") == "set replaces: c on d"


def test_a_fork_is_fixed_by_a_skip() -> None:
    assert _fix(CHAIN, f"d: b\n{CHAIN}", "failing") == "add c to the skips of d"


def test_the_order_of_equal_versions_is_named_where_it_decides() -> None:
    old, new = "b@1.0.0: a\nc@1.0.0: a\na@0.1.0", "c@1.0.0: a\nb@1.0.0: a\na@0.1.0"
    [words] = _cause(old, new, "different-path", "v1")
    assert (
        words
        == "the order of entries or bundles changed, which may decide between equal versions under OLM v1"
    )
    [change] = changes(old, new, "different-path", "v1")
    assert change.reasons == ("b and c have the same version; OLM v1 may choose either",)


def test_a_path_that_chance_decides_is_said_to_be_one() -> None:
    [change] = changes("b@1.0.0: a\nc@1.0.0: a\na@0.1.0", "b@1.0.0\nc@1.0.0\na@0.1.0", "stranded", "v1")
    assert change.reasons[-1] == "b and c have the same version; OLM v1 may choose either"
    assert change.edits


@pytest.mark.parametrize(
    ("old", "new", "policy"),
    [
        # OLM v0 leaves nothing to chance; nothing leads to c; c is deprecated, and b is not.
        ("d: b / c\nb@1.0.0: a\nc@1.0.0: a\na@0.1.0", "d: b / c\nb@1.0.0\nc@1.0.0\na@0.1.0", "v0"),
        ("d: b\nb@1.0.0: a\nc@1.0.0\na@0.1.0", "d: b\nb@1.0.0\nc@1.0.0\na@0.1.0", "v1"),
        (
            "d: b / c\nb@1.0.0: a\nc@1.0.0: a\na@0.1.0\n%deprecated c: no",
            "d: b / c\nb@1.0.0\nc@1.0.0\na@0.1.0\n%deprecated c: no",
            "v1",
        ),
    ],
)
def test_where_nothing_is_left_to_chance_none_is_spoken_of(old: str, new: str, policy: str) -> None:
    found = [c for kind in ("failing", "stranded") for c in changes(old, new, kind, policy)]
    assert any("a" in change.installed for change in found)
    assert not any("chance" in reason for change in found for reason in change.reasons)


def test_edits_that_hurt_only_together_are_named_together() -> None:
    assert _cause(CHAIN, "c\nb\na", "failing", "v0") == ["c no longer replaces b", "b no longer replaces a"]


def test_what_has_nothing_to_do_with_it_is_not_named() -> None:
    old = f"{CHAIN}\n"
    new = "d: c / - / <0.1.0\nc: b / - / <0.2.0\nb\na"
    assert _cause(old, new, "failing", "v0") == ["b no longer replaces a"]


def test_different_edits_have_different_victims() -> None:
    old = "d: c\nc: b\nb: a\na"
    new = "e: d\nd: b\nb: a"
    found = changes(old, new, "stranded", "v0")
    assert [(c.installed, [e.description for e in c.edits]) for c in found] == [
        (("c",), ["d now replaces b, no longer c", "c was removed from the catalog"])
    ]


def test_one_cause_under_both_policies_is_reported_once() -> None:
    [change] = changes(CHAIN, "d: c\nc: a\na", "stranded")
    assert change.resolvers == ("v0", "v1")
    assert change.installed == ("b",)
    assert change.fix == "add b to the skips of d"


def test_a_channel_cut_short_is_fixed_by_one_range() -> None:
    old = "\n".join(f"b{n}: b{n - 1}" for n in range(9, 1, -1)) + "\nb1"
    new = "\n".join(f"b{n}: b{n - 1}" for n in range(10, 6, -1))
    fixes = {change.fix for change in changes(old, new, "stranded")}
    assert "give b10 the skipRange '>=1.0.0 <10.0.0'" in fixes


def test_the_path_before_and_now_are_spelled_out() -> None:
    [change] = changes(CHAIN, "d: c\nc: a\na", "stranded", "v0")
    assert (change.old_path, change.new_path) == ("b → c (head)", "b (no further update)")
    assert change.reasons == ("nothing in the new channel replaces b, skips it or covers 2.0.0",)


def test_an_edge_that_olm_does_not_follow_is_given_as_the_reason() -> None:
    [change] = changes("c: b\nb: a\na", "d: c / b\nc: - / - / -\nb: a\na", "stranded", "v0")
    assert change.installed == ("a",)
    assert change.reasons[0].startswith("b replaces a, but it")


@pytest.mark.parametrize(
    ("old", "new", "kind", "fix"),
    [
        # To OLM a range would do as well; but a channel in which nothing leads to a is refused by opm.
        (CHAIN, "d: c / b\nc\nb: a\na", "stranded", "add a to the skips of d"),
        (CHAIN, "c: b\nb: a / c\na", "failing", "remove c from the skips of b"),
        ("b: a\na", "b: a\na: - / - / >=2.0.0", "stranded", "remove the skipRange of a"),
        (CHAIN, f"d: c\n{CHAIN}\n%prohibited d", "stranded", "remove d"),
        (CHAIN, "b: a\na", "stranded", "add c to the skips of b"),
    ],
)
def test_a_fix_is_an_edit_that_was_tried_or_takes_back_what_did_it(
    old: str, new: str, kind: str, fix: str
) -> None:
    assert _fix(old, new, kind, "v0") == fix


def test_what_one_removed_entry_did_under_both_policies_has_one_fix() -> None:
    old, new = f"d: c\n{CHAIN}", "d: c\nb: a\na"
    [failing], [stranded] = changes(old, new, "failing"), changes(old, new, "stranded")
    assert (failing.resolvers, stranded.resolvers) == (("v0",), ("v1",))
    assert failing.fix == stranded.fix == "restore c"


def test_causes_that_share_an_edit_are_fixed_together() -> None:
    old = "d: c\nc: b / a\nb: a / a\na"
    new = "d: a\nb: a\na"
    found = [change for kind in ("failing", "stranded") for change in changes(old, new, kind)]
    assert {change.fix for change in found} == {"set replaces: c on d and restore c"}


def test_a_fix_that_one_policy_cannot_live_with_is_not_advised_for_the_other() -> None:
    [change] = changes(f"d: c\n{CHAIN}", "d: c\nb: a\na", "stranded", "v1")
    assert change.fix == "restore c"


def test_an_edge_that_v1_does_not_follow_is_explained() -> None:
    [deprecated] = changes("b: a\na", "b: a\na\n%deprecated b: no", "stranded", "v1")
    assert deprecated.reasons == ("b replaces a, but b is deprecated and a is not",)
    assert deprecated.new_path == "a (newest)"
    [bundleless] = changes("b: a\na", "b?: a\na", "stranded", "v1")
    assert bundleless.reasons[0] == "b replaces a, but the catalog has no bundle b"


def test_what_was_the_only_edit_is_taken_back_although_somebody_gained_by_it() -> None:
    """Under v1 a arrives without b, and did not before: that is no reason to leave b out."""
    old, new = "b\na: - / a", "a: - / a"
    assert {change.fix for kind in ("failing", "stranded") for change in changes(old, new, kind)} == {
        "restore b"
    }
