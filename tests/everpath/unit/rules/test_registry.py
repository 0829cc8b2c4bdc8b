"""The registry of rules, and how rules are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from everpath import rules as rule_modules
from everpath.errors import UsageError
from everpath.graph import ChannelGraph
from everpath.rules import CONTENTS_MODULES, registry
from everpath.rules.findings import Flaw, Severity
from everpath.rules.graph.successors import fork
from everpath.rules.registry import (
    Rule,
    all_rules,
    bundle_folder_rule,
    bundle_rule,
    catalog_rule,
    channel_rule,
    find_rules,
    package_file_rule,
    package_rule,
    rules_for_subjects,
    upgrade_rule,
)
from rule_index import README, indexed


def test_rules_are_those_of_the_published_index() -> None:
    published = README.read_text(encoding="utf-8")
    assert indexed(published) == published


def test_only_an_unreadable_document_is_marked_as_unreadable() -> None:
    assert [rule.name for rule in all_rules() if rule.unreadable] == ["unreadable-document"]


def test_rules_are_sorted_by_id() -> None:
    ids = [rule.id for rule in all_rules()]
    assert ids == sorted(ids)


def test_rules_about_folders_are_in_modules_that_a_catalog_does_not_import() -> None:
    about_folders = rules_for_subjects(registry.FOLDER_SUBJECTS)
    assert about_folders
    for rule in all_rules():
        is_apart = rule.check.__module__.removeprefix("everpath.rules.") in CONTENTS_MODULES
        assert is_apart == (rule.subject in registry.FOLDER_SUBJECTS) == (rule in about_folders)


def test_the_summary_is_the_first_paragraph_on_one_line() -> None:
    [rule] = [rule for rule in all_rules() if rule.name == "fork"]
    assert rule.summary == (
        "No two entries replace the same entry, unless one is on the replaces chain of the other."
    )
    assert rule.description[0] == rule.summary
    assert rule.description[1].startswith("A registry that is queried")


def test_a_summary_that_is_wrapped_is_joined() -> None:
    rule = next(rule for rule in all_rules() if rule.name == "fork")
    law = "One law\nin two lines.\n\nMore."
    assert type(rule)("EP000", "x", Severity.NOTE, "channel", law, check=rule.check).summary == (
        "One law in two lines."
    )


@pytest.mark.parametrize(("id", "name"), [("EP203", "another-fork"), ("EP999", "fork")])
def test_ids_and_names_are_unique(id: str, name: str) -> None:  # noqa: A002 - the word users know
    def check(_: ChannelGraph) -> Iterator[Flaw]:
        return iter(())

    with pytest.raises(AssertionError, match="is taken by"):
        channel_rule(id, name, Severity.NOTE)(check)


def test_decorator_returns_the_function() -> None:
    [rule] = [rule for rule in all_rules() if rule.name == "fork"]
    assert rule.check is fork


@pytest.mark.parametrize("decorate", [catalog_rule, package_rule, channel_rule, bundle_rule, upgrade_rule])
def test_rule_of_any_subject_can_have_a_resolver(
    monkeypatch: pytest.MonkeyPatch, decorate: Callable[..., Callable[[object], object]]
) -> None:
    kept: dict[str, Rule] = {}
    monkeypatch.setattr(registry, "_RULES", kept)
    decorate("EP000", "invented", Severity.NOTE, resolver="v1")(lambda _: iter(()))
    assert kept["EP000"].resolver == "v1"
    assert kept["EP000"].subject == decorate.__name__.removesuffix("_rule")
    assert kept["EP000"].description == ()


@pytest.mark.parametrize(
    ("decorate", "subject"), [(bundle_folder_rule, "bundle folder"), (package_file_rule, "package file")]
)
def test_rule_about_folders_has_validators(
    monkeypatch: pytest.MonkeyPatch, decorate: Callable[..., Callable[[object], object]], subject: str
) -> None:
    kept: dict[str, Rule] = {}
    monkeypatch.setattr(registry, "_RULES", kept)
    decorate("EP000", "invented", Severity.NOTE, "csv", "crd")(lambda _: iter(()))
    assert (kept["EP000"].subject, kept["EP000"].validators) == (subject, ("csv", "crd"))


def invented(id: str, name: str = "", **more: Any) -> Rule:  # noqa: A002 - the word users know
    return Rule(id, name or id, Severity.NOTE, "channel", "A law.", check=lambda _: iter(()), **more)


@pytest.mark.parametrize(
    ("validators", "is_optional"),
    [
        ((), False),
        (("csv",), False),
        (("crd",), False),
        (("bundle",), False),
        (("opm",), False),
        (("multiarch",), True),
        (("multiarch", "csv"), False),
    ],
)
def test_rule_is_optional_if_all_its_validators_are(validators: tuple[str, ...], is_optional: bool) -> None:
    assert invented("EP000", validators=validators).is_optional is is_optional


def test_rules_are_sorted_by_id_in_any_order_of_imports(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rule_modules, "load_rules", lambda **_: None)
    monkeypatch.setattr(registry, "_RULES", {word: invented(word) for word in ("EP2", "EP1", "EP3")})
    assert [rule.id for rule in rules_for_subjects({"channel"})] == ["EP1", "EP2", "EP3"]


@pytest.mark.parametrize(
    ("subject", "is_imported"),
    [("channel", False), ("bundle", False), *((subject, True) for subject in registry.FOLDER_SUBJECTS)],
)
def test_rules_about_folders_are_imported_only_if_needed(
    monkeypatch: pytest.MonkeyPatch, subject: str, is_imported: bool
) -> None:
    imported: list[dict[str, bool]] = []
    monkeypatch.setattr(rule_modules, "load_rules", lambda **what: imported.append(what))
    rules_for_subjects({subject})
    assert imported == [{"contents": is_imported}]


@pytest.mark.parametrize("word", ["fork", "EP203", "ep203"])
def test_a_rule_is_found_by_its_name_and_by_its_id_in_either_case(word: str) -> None:
    assert find_rules([word]) == {"EP203"}


def test_prefix_of_ids_finds_all_of_them() -> None:
    assert find_rules(["EP90"]) == {"EP901", "EP902"}
    assert find_rules(["EP"]) == {rule.id for rule in all_rules()}


def test_several_words_find_all_their_rules() -> None:
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
def test_misspelled_rule_has_a_suggestion(word: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_rules([word])
    assert caught.value.message == f"no rule is called {word!r}"
    assert caught.value.hint == f"did you mean {meant!r}?"


@pytest.mark.parametrize("word", ["stranded", "STRANDED"])
def test_word_of_several_names_suggests_all_of_them(word: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_rules([word])
    assert caught.value.hint == "did you mean 'stranded-v0' or 'stranded-v1' or 'stranded-opm'?"


@pytest.mark.parametrize(("count", "is_enough"), [(5, True), (6, False)])
def test_word_of_more_than_five_names_has_no_suggestion(
    monkeypatch: pytest.MonkeyPatch, count: int, is_enough: bool
) -> None:
    rules = [invented(f"EP{n}", f"shared-{n}") for n in range(count)]
    monkeypatch.setattr(registry, "all_rules", lambda: rules)
    with pytest.raises(UsageError) as caught:
        find_rules(["shared"])
    assert (caught.value.hint or "").startswith("did you mean 'shared-0' or ") is is_enough


@pytest.mark.parametrize("word", ["EP299", "ep2999"])
def test_unknown_id_suggests_rules_with_the_same_prefix(word: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_rules([word])
    assert caught.value.hint == (
        "`everpath rules EP2` lists the rules of that family, `everpath rules` all of them"
    )


@pytest.mark.parametrize("word", ["zzz", "EP877", "XEP299"])
def test_unknown_word_suggests_the_list_of_rules(word: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_rules([word])
    assert caught.value.hint == "`everpath rules` lists them all"
