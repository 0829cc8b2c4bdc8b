"""`everpath rules`."""

from __future__ import annotations

import pytest

from everpath.rules.registry import all_rules
from tests.support.commandline import Everpath


def test_all_rules_are_listed_in_order(everpath: Everpath) -> None:
    answer = everpath("rules")
    assert answer.code == 0
    assert [line.split()[0] for line in answer.out.splitlines()] == [rule.id for rule in all_rules()]
    assert "EP203  error    fork " in answer.out


def test_prefix_lists_the_matching_rules(everpath: Everpath) -> None:
    shown = everpath("rules", "EP90").out.splitlines()
    assert [line.split()[2] for line in shown] == ["unused-waiver", "expired-waiver"]


def test_a_rule_is_explained_by_name_or_id(everpath: Everpath) -> None:
    page = everpath("rules", "fork").out
    assert page == everpath("rules", "EP203").out == everpath("rules", "ep203").out
    assert page.startswith("EP203 fork (error)\n\nNo two entries replace the same entry")
    assert "    waivers:\n      - rule: fork\n        package: NAME\n        reason: ...\n" in page
    assert page.rstrip().endswith("/docs/rules/EP203.md")


def test_description_has_the_affected_resolver(everpath: Everpath) -> None:
    assert "Protects users of OLM v0;" in everpath("rules", "stranded-v0").out
    assert "Protects users of OLM v1;" in everpath("rules", "stranded-v1").out
    assert "Protects users of OLM v0 and v1;" in everpath("rules", "fork").out


def test_description_of_an_optional_rule_has_its_option(everpath: Everpath) -> None:
    optional = "Optional: asked with --select-optional operatorhub/v2, or --select no-icon.\n"
    assert optional in everpath("rules", "no-icon").out
    assert "Optional" not in everpath("rules", "csv-name").out


def test_a_rule_about_waivers_cannot_be_waived(everpath: Everpath) -> None:
    assert "waivers:" not in everpath("rules", "EP901").out


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("EP999", "`everpath rules EP9` lists the rules of that family, `everpath rules` all of them"),
        ("ep250", "`everpath rules EP2` lists the rules of that family, `everpath rules` all of them"),
        ("ep2033", "did you mean 'EP203'?"),
        ("EP899", "`everpath rules` lists them all"),
        ("Frok", "did you mean 'fork'?"),
        ("zzz", "`everpath rules` lists them all"),
    ],
)
def test_unknown_rule_has_a_hint(everpath: Everpath, word: str, hint: str) -> None:
    answer = everpath("rules", word)
    assert (answer.code, answer.err) == (2, f"error: no rule is called {word!r}\nhint: {hint}\n")


def test_word_in_several_names_lists_these_rules(
    everpath: Everpath,
) -> None:
    hint = everpath("rules", "stranded").err.splitlines()[1]
    assert hint == "hint: did you mean 'stranded-v0' or 'stranded-v1' or 'stranded-opm'?"
    assert everpath("rules", "bundle").err.endswith("hint: `everpath rules` lists them all\n")
