"""Lists of names and suggestions for misspelled names."""

from __future__ import annotations

import pytest

from everpath.wording import NameSuggestions, count, join_names, shorten_names, skip_clause


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("", ""),
        ("a", "a"),
        ("ab", "a and b"),
        ("abc", "a, b and c"),
        ("abcdefgh", "a, b, c, d, e, f, g and h"),
        ("abcdefghi", "a, b, c, d, e, f, g, h and 1 more"),
        ("abcdefghijk", "a, b, c, d, e, f, g, h and 3 more"),
    ],
)
def test_names_are_joined_and_limited_to_eight(names: str, text: str) -> None:
    assert join_names(names) == text


def test_empty_name_is_shown_in_quotes() -> None:
    assert join_names(["", "a"]) == '"" and a'


def test_limit_of_names_can_be_lower_or_none() -> None:
    assert join_names("abc", limit=2) == "a, b and 1 more"
    assert join_names("abcdefghij", limit=None) == "a, b, c, d, e, f, g, h, i and j"


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (1, "head", "1 head"),
        (2, "head", "2 heads"),
        (0, "head", "0 heads"),
        (1, "entry", "1 entry"),
        (2, "entry", "2 entries"),
    ],
)
def test_plural_depends_on_the_count(number: int, noun: str, text: str) -> None:
    assert count(number, noun) == text


def test_verb_depends_on_the_number_of_skippers() -> None:
    assert (skip_clause(["b"]), skip_clause(["b", "c"])) == ("b skips", "b and c skip")


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("op.v1.1.0 replaces op.v1.0.0", "v1.1.0 replaces v1.0.0"),
        (
            "OLM v0 downgrades op.v0.2.0 to op.v0.1.0: it replaces it",
            "OLM v0 downgrades v0.2.0 to v0.1.0: it replaces it",
        ),
        ("the end is op.v1.0.0.", "the end is v1.0.0."),
        ("'op.v1.0.0' is quoted", "'op.v1.0.0' is quoted"),
        ("bundles/op.v1.0.0/manifests", "bundles/op.v1.0.0/manifests"),
        ("op.v1.0.0:12 and op.v1.0.0.yaml", "op.v1.0.0:12 and op.v1.0.0.yaml"),
        ("my-op.v1.0.0", "my-op.v1.0.0"),
    ],
)
def test_package_is_left_out_of_entry_names(text: str, short: str) -> None:
    assert shorten_names(text, "op") == short


def test_names_that_users_copy_are_not_shortened() -> None:
    text = "set replaces: op.v1.0.0 on op.v1.1.0"
    assert shorten_names(text, "op", keep=("op.v1.0.0",)) == "set replaces: op.v1.0.0 on v1.1.0"
    assert shorten_names(text, "op") == "set replaces: v1.0.0 on v1.1.0"


NAMES = ("op.v1.0.0", "op.v1.1.0", "tool-box.v1.2.0", "stable", "candidate")


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("OP.v1.0.0", "op.v1.0.0"),
        ("op.1.0.0", "op.v1.0.0"),
        ("op.vv1.0.0", "op.v1.0.0"),
        ("op-v1.0.0", "op.v1.0.0"),
        ("tool.box.v1.2.0", "tool-box.v1.2.0"),
        ("v1.1.0", "op.v1.1.0"),
        ("1.1.0", "op.v1.1.0"),
        ("other.v1.1.0", "op.v1.1.0"),
        ("op.v1.1", "op.v1.1.0"),
        ("op.v1.1.O", "op.v1.1.0"),
        ("op.vl.0.o", "op.v1.0.0"),
        ("stabel", "stable"),
        ("candidat", "candidate"),
    ],
)
def test_misspelled_name_has_a_suggestion(wrong: str, meant: str) -> None:
    assert NameSuggestions(NAMES).suggest(wrong) == meant


@pytest.mark.parametrize("wrong", ["op.v1.0.1", "fast", "st", "op.v2.0.0-stable", "op.v1.0.0-1"])
def test_another_version_or_word_has_no_suggestion(wrong: str) -> None:
    assert NameSuggestions(NAMES).suggest(wrong) is None


def test_existing_name_has_no_suggestion() -> None:
    assert NameSuggestions(NAMES).suggest("op.v1.0.0") is None


def test_excluded_name_is_not_suggested() -> None:
    assert NameSuggestions(NAMES).suggest("op.1.0.0", exclude=("op.v1.0.0",)) is None
    assert NameSuggestions(NAMES).suggest("op.1.0.0", exclude=("op.v1.1.0",)) == "op.v1.0.0"


@pytest.mark.parametrize(("wrong", "meant"), [("my-opp-500", "my-op-500"), ("x-tail-7", "yy-tail-7")])
def test_a_similar_name_is_found_by_its_beginning_or_its_end(wrong: str, meant: str) -> None:
    names = [f"my-op-{n}" for n in range(1000)] + [f"yy-tail-{n}" for n in range(10)]
    assert NameSuggestions(names).most_similar(wrong) == meant


@pytest.mark.parametrize(("between", "is_found"), [(11, True), (12, False)])
@pytest.mark.parametrize(("wrong", "name"), [("xcandidatex", "ycandidatey"), ("ycandidatey", "xcandidatex")])
def test_only_the_nearest_names_on_either_side_are_compared(
    between: int, is_found: bool, wrong: str, name: str
) -> None:
    others = [f"xz{n:02}zx" for n in range(between)]
    assert NameSuggestions([*others, name]).most_similar(wrong) == (name if is_found else None)


@pytest.mark.parametrize(("wrong", "meant"), [("abcdefwxyz", "abcdefghij"), ("abcdevwxyz", None)])
def test_six_letters_of_ten_make_a_similar_name(wrong: str, meant: str | None) -> None:
    assert NameSuggestions(["abcdefghij"]).most_similar(wrong) == meant


def test_a_name_with_a_version_is_never_compared_by_its_letters() -> None:
    assert NameSuggestions(["operator.v1.2.3"]).suggest("operator.v1.2.4") is None


@pytest.mark.parametrize(("wrong", "meant"), [("abcdefgxyz", None), ("abcdefghyz", "abcdefghij")])
def test_suggestion_needs_80_percent_of_equal_letters(wrong: str, meant: str | None) -> None:
    assert NameSuggestions(["abcdefghij"]).suggest(wrong) == meant


@pytest.mark.parametrize("wrong", ["OP.v1.0.0", "op.1.0.0", "op.vv1.0.0", "op-v1.0.0", "op.v1-0.0"])
def test_similar_spelling_is_preferred_to_an_equal_version(wrong: str) -> None:
    assert NameSuggestions(["op.v1.0.0", "tool.v1.0.0"]).suggest(wrong) == "op.v1.0.0"


def test_equal_spelling_is_preferred_to_lookalikes() -> None:
    assert NameSuggestions(["STABLE", "stables"]).suggest("stable") == "STABLE"


def test_total_can_exceed_the_given_names() -> None:
    assert join_names("ab", total=2) == "a and b"
    assert join_names("ab", total=5) == "a, b and 3 more"
