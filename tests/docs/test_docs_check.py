"""The check of the docs finds what is missing, and finds nothing missing now."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from shutil import copy, copytree

import pytest

import check_docs
from check_docs import (
    missing_commands,
    missing_keys,
    missing_links,
    missing_operator_commands,
    missing_rules,
)
from console import ROOT
from rule_index import indexed


@pytest.mark.parametrize(
    "missing", [missing_commands, missing_operator_commands, missing_keys, missing_rules, missing_links]
)
def test_the_docs_miss_nothing(missing: object) -> None:
    assert callable(missing)
    assert list(missing()) == []


def test_every_command_is_walked() -> None:
    assert {"validate-graph", "range explain", "list packages", "rules", "completion"} <= dict(
        check_docs.commands()
    ).keys()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return Path(copytree(ROOT / "docs", tmp_path / "docs"))


def edit(page: Path, old: str, new: str) -> None:
    text = page.read_text(encoding="utf-8")
    assert old in text
    page.write_text(text.replace(old, new), encoding="utf-8")


def news(complaints: Iterable[str], before: Iterable[str]) -> list[str]:
    """What is missing now and was not before."""
    known = set(before)
    return [complaint for complaint in complaints if complaint not in known]


def test_a_command_without_a_page_is_named(docs: Path) -> None:
    (docs / "commands" / "rules.md").unlink()
    assert news(missing_commands(docs / "commands"), missing_commands()) == [
        "docs/commands/rules.md: does not say what `everpath rules` does"
    ]


def test_an_option_without_a_word_is_named(docs: Path) -> None:
    edit(docs / "commands" / "validate-graph.md", "--thorough", "--diligent")
    assert news(missing_commands(docs / "commands"), missing_commands()) == [
        "docs/commands/validate-graph.md: does not name --thorough of `everpath validate-graph`"
    ]


def test_an_option_of_the_operator_without_a_word_is_named(docs: Path) -> None:
    page = docs / "operator" / "commands.md"
    edit(page, "--lease-namespace", "--lease-place")
    assert list(missing_operator_commands(page)) == [
        "commands.md: does not name --lease-namespace of `searchkeeper run`"
    ]


def test_a_key_without_a_word_is_named(docs: Path) -> None:
    edit(docs / "configuration.md", "fail-on", "fail-at")
    assert news(missing_keys(docs / "configuration.md"), missing_keys()) == [
        "docs/configuration.md: does not show the key fail-on"
    ]


def test_a_rule_without_a_page_is_named(docs: Path) -> None:
    (docs / "rules" / "EP203.md").unlink()
    assert news(missing_rules(docs / "rules"), missing_rules()) == [
        "docs/rules/EP203.md: is missing, the page of fork"
    ]


def test_a_page_without_a_rule_is_named(docs: Path) -> None:
    copy(docs / "rules" / "EP203.md", docs / "rules" / "EP000.md")
    assert news(missing_rules(docs / "rules"), missing_rules()) == [
        "docs/rules/EP000.md: no rule is called EP000"
    ]


def test_a_stale_index_of_rules_is_named(docs: Path) -> None:
    index = docs / "rules" / "README.md"
    index.write_text(indexed(index.read_text(encoding="utf-8")), encoding="utf-8")
    fresh = list(missing_rules(docs / "rules"))
    edit(index, "| fork |", "| spoon |")
    assert news(missing_rules(docs / "rules"), fresh) == [
        "docs/rules/README.md: its table is not what the rules say; `make docs` writes it"
    ]


@pytest.mark.parametrize(
    ("link", "complaint"),
    [
        ("[x](nowhere.md)", "page.md: links to nowhere.md, which does not exist"),
        ("[x](#no-such-part)", "page.md: links to #no-such-part, which has no such heading"),
        ("[x](page.md#elsewhere)", "page.md: links to page.md#elsewhere, which has no such heading"),
    ],
)
def test_a_link_that_leads_nowhere_is_named(tmp_path: Path, link: str, complaint: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# A `title`, here\n\n{link}\n", encoding="utf-8")
    assert list(missing_links([page])) == [complaint]


@pytest.mark.parametrize("link", ["[x](page.md)", "[x](#a-title-here)", "[x](https://example.com/y)"])
def test_a_link_that_leads_somewhere_is_not_named(tmp_path: Path, link: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# A `title`, here\n\n{link}\n\n```\n[x](nowhere.md)\n```\n", encoding="utf-8")
    assert list(missing_links([page])) == []
