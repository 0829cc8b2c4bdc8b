"""Which rules there are, and how they are called up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from everpath.errors import UsageError
from everpath.graph import ChannelGraph
from everpath.rules import CONTENTS_MODULES, registry
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import (
    Rule,
    all_rules,
    bundle_rule,
    catalog_rule,
    channel_rule,
    find_rules,
    package_rule,
    rules_about,
)
from everpath.rules.successors import fork
from rule_index import README, indexed


def test_ids_names_severities_and_laws_are_those_of_the_published_index() -> None:
    published = README.read_text(encoding="utf-8")
    assert indexed(published) == published


def test_only_a_document_that_cannot_be_read_leaves_input_unjudged() -> None:
    assert [rule.name for rule in all_rules() if rule.unreadable] == ["unreadable-document"]


def test_rules_come_in_the_order_of_their_ids() -> None:
    ids = [rule.id for rule in all_rules()]
    assert ids == sorted(ids)


def test_rules_about_folders_are_in_modules_that_a_catalog_does_not_import() -> None:
    about_folders = rules_about(registry.FOLDER_SUBJECTS)
    assert about_folders
    for rule in all_rules():
        is_apart = rule.check.__module__.removeprefix("everpath.rules.") in CONTENTS_MODULES
        assert is_apart == (rule.subject in registry.FOLDER_SUBJECTS) == (rule in about_folders)


def test_the_summary_is_the_first_paragraph_on_one_line() -> None:
    [rule] = [rule for rule in all_rules() if rule.name == "fork"]
    assert rule.summary == (
        "No two entries replace the same one, unless one of them stands in the other's line."
    )
    assert rule.law.startswith(f"{rule.summary}\n\nA registry asked")


def test_a_summary_that_is_wrapped_is_joined() -> None:
    rule = next(rule for rule in all_rules() if rule.name == "fork")
    law = "One law\nin two lines.\n\nMore."
    assert type(rule)("EP000", "x", Severity.NOTE, "channel", law, check=rule.check).summary == (
        "One law in two lines."
    )


@pytest.mark.parametrize(("id", "name"), [("EP203", "another-fork"), ("EP999", "fork")])
def test_an_id_and_a_name_stand_for_one_rule(id: str, name: str) -> None:  # noqa: A002 - the word users know
    def check(_: ChannelGraph) -> Iterator[Flaw]:
        return iter(())

    with pytest.raises(AssertionError, match="is taken by"):
        channel_rule(id, name, Severity.NOTE)(check)


def test_a_rule_is_still_the_function_it_was() -> None:
    [rule] = [rule for rule in all_rules() if rule.name == "fork"]
    assert rule.check is fork


@pytest.mark.parametrize("decorate", [catalog_rule, package_rule, channel_rule, bundle_rule])
def test_a_rule_of_any_subject_may_hurt_one_generation_only(
    monkeypatch: pytest.MonkeyPatch, decorate: Callable[..., Callable[[object], object]]
) -> None:
    kept: dict[str, Rule] = {}
    monkeypatch.setattr(registry, "_RULES", kept)
    decorate("EP000", "invented", Severity.NOTE, policy="v1")(lambda _: iter(()))
    assert kept["EP000"].policy == "v1"
    assert kept["EP000"].subject == decorate.__name__.removesuffix("_rule")
    assert kept["EP000"].law == ""


@pytest.mark.parametrize("word", ["fork", "EP203", "ep203"])
def test_a_rule_is_found_by_its_name_and_by_its_id_in_either_case(word: str) -> None:
    assert find_rules([word]) == {"EP203"}


def test_the_beginning_of_ids_finds_all_of_them() -> None:
    assert find_rules(["EP90"]) == {"EP901", "EP902"}
    assert find_rules(["EP"]) == {rule.id for rule in all_rules()}


def test_several_words_find_the_rules_of_each() -> None:
    assert find_rules(["fork", "EP90"]) == {"EP203", "EP901", "EP902"}


def test_no_words_find_nothing() -> None:
    assert find_rules([]) == set()


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("forc", "fork"),
        ("FORC", "fork"),
        ("EP203x", "EP203"),
        ("ep203x", "EP203"),
        ("strandedv0", "stranded-v0"),
    ],
)
def test_a_misspelled_rule_is_answered_with_the_one_that_was_meant(word: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_rules([word])
    assert caught.value.message == f"no rule is called {word!r}"
    assert caught.value.hint == f"did you mean {meant!r}?"


@pytest.mark.parametrize("word", ["stranded", "STRANDED"])
def test_a_word_of_several_names_is_answered_with_all_of_them(word: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_rules([word])
    assert caught.value.hint == "did you mean 'stranded-v0' or 'stranded-v1' or 'stranded-opm'?"


def test_a_word_of_more_than_five_names_says_too_little() -> None:
    names = [rule.name for rule in all_rules()]
    counts = Counter(word for name in names for word in set(name.split("-")) if word not in names)
    assert min(counts.values()) <= 5 < max(counts.values())
    for word, count in counts.items():
        with pytest.raises(UsageError) as caught:
            find_rules([word])
        assert (caught.value.hint or "").startswith("did you mean") == (count <= 5)


@pytest.mark.parametrize("word", ["EP299", "ep2999"])
def test_a_wrong_number_is_answered_with_its_family(word: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_rules([word])
    assert caught.value.hint == (
        "`everpath rules EP2` lists the rules of that family, `everpath rules` all of them"
    )


@pytest.mark.parametrize("word", ["zzz", "EP877", "XEP299"])
def test_a_word_like_no_rule_is_answered_with_where_to_look(word: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_rules([word])
    assert caught.value.hint == "`everpath rules` lists them all"
