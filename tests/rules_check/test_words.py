"""Lists that stay short, and the names that were probably meant."""

from __future__ import annotations

import pytest

from everpath.wording import NameSuggestions, join_names, plural, skip_clause


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
def test_a_list_reads_like_a_sentence_and_is_cut_after_eight(names: str, text: str) -> None:
    assert join_names(names) == text


def test_a_name_that_is_empty_is_seen_in_a_list() -> None:
    assert join_names(["", "a"]) == '"" and a'


def test_a_list_may_be_cut_earlier() -> None:
    assert join_names("abc", limit=2) == "a, b and 1 more"


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (1, "head", "1 head"),
        (2, "head", "2 heads"),
        (0, "head", "0 heads"),
        (1, "entry", "1 entry"),
        (2, "entry", "2 entries"),
    ],
)
def test_nouns_agree_with_their_count(count: int, noun: str, text: str) -> None:
    assert plural(count, noun) == text


def test_a_verb_agrees_with_who_skips() -> None:
    assert (skip_clause(["b"]), skip_clause(["b", "c"])) == ("b skips", "b and c skip")


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
def test_a_slip_of_the_pen_is_recognised(wrong: str, meant: str) -> None:
    assert NameSuggestions(NAMES).suggest(wrong) == meant


@pytest.mark.parametrize("wrong", ["op.v1.0.1", "fast", "st", "op.v2.0.0-stable", "op.v1.0.0-1"])
def test_another_version_or_another_word_is_no_slip(wrong: str) -> None:
    assert NameSuggestions(NAMES).suggest(wrong) is None


def test_a_right_name_is_not_corrected() -> None:
    assert NameSuggestions(NAMES).suggest("op.v1.0.0") is None


def test_a_name_that_is_ruled_out_was_not_meant() -> None:
    assert NameSuggestions(NAMES).suggest("op.1.0.0", exclude=("op.v1.0.0",)) is None
    assert NameSuggestions(NAMES).suggest("op.1.0.0", exclude=("op.v1.1.0",)) == "op.v1.0.0"


@pytest.mark.parametrize(("place", "meant"), [(499, "candidate"), (500, None)])
def test_letters_are_compared_with_the_first_five_hundred_names_only(place: int, meant: str | None) -> None:
    names = [f"{n:04}" for n in range(600)]
    names[place] = "candidate"
    assert NameSuggestions(names).suggest("candidat") == meant


def test_a_name_with_a_version_is_never_compared_by_its_letters() -> None:
    assert NameSuggestions(["operator.v1.2.3"]).suggest("operator.v1.2.4") is None


@pytest.mark.parametrize(("wrong", "meant"), [("abcdefgxyz", None), ("abcdefghyz", "abcdefghij")])
def test_eight_letters_of_ten_make_a_likely_name(wrong: str, meant: str | None) -> None:
    assert NameSuggestions(["abcdefghij"]).suggest(wrong) == meant


@pytest.mark.parametrize("wrong", ["OP.v1.0.0", "op.1.0.0", "op.vv1.0.0", "op-v1.0.0", "op.v1-0.0"])
def test_of_two_names_with_one_version_the_one_spelled_alike_was_meant(wrong: str) -> None:
    assert NameSuggestions(["op.v1.0.0", "tool.v1.0.0"]).suggest(wrong) == "op.v1.0.0"


def test_a_name_spelled_alike_is_meant_rather_than_one_that_looks_alike() -> None:
    assert NameSuggestions(["STABLE", "stables"]).suggest("stable") == "STABLE"


def test_a_list_may_stand_for_more_than_it_names() -> None:
    assert join_names("ab", total=2) == "a and b"
    assert join_names("ab", total=5) == "a, b and 3 more"
