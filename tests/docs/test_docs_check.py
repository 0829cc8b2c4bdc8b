"""The docs check reports what is missing, and the docs are complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from shutil import copy, copytree

import pytest

import check_docs
from check_docs import (
    CHECKS,
    missing_commands,
    missing_formats,
    missing_keys,
    missing_links,
    missing_operator_commands,
    missing_rules,
)
from console import ROOT
from rule_index import indexed


@pytest.mark.parametrize("missing", CHECKS)
def test_docs_of_the_repository_are_complete(missing: Callable[[], Iterable[str]]) -> None:
    assert list(missing()) == []


def test_commands_of_groups_are_checked() -> None:
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
    """Return the complaints that are new."""
    known = set(before)
    return [complaint for complaint in complaints if complaint not in known]


def test_command_without_a_page_is_reported(docs: Path) -> None:
    (docs / "commands" / "rules.md").unlink()
    assert news(missing_commands(docs / "commands"), missing_commands()) == [
        "docs/commands/rules.md: does not have the command `everpath rules`"
    ]


def test_option_that_is_not_documented_is_reported(docs: Path) -> None:
    edit(docs / "commands" / "validate-graph.md", "--thorough", "--diligent")
    assert news(missing_commands(docs / "commands"), missing_commands()) == [
        "docs/commands/validate-graph.md: does not have the option --thorough of `everpath validate-graph`"
    ]


def test_undocumented_option_of_the_operator_is_reported(docs: Path) -> None:
    page = docs / "operator" / "commands.md"
    edit(page, "--lease-namespace", "--lease-place")
    assert list(missing_operator_commands(page)) == [
        "commands.md: does not have the option --lease-namespace of `searchkeeper run`"
    ]


@pytest.mark.parametrize(
    ("page", "old", "new"),
    [
        ("commands/validate-graph.md", "every finding; a suite", "a suite"),
        ("architecture.md", "JUnit, GitHub annotations", "GitHub annotations"),
        ("commands/bundle.md", "`junit`", "`j`"),
        ("configuration.md", "sarif, junit,", "sarif,"),
        ("schemas/config.schema.json", '"junit"', '"j"'),
    ],
)
def test_format_that_is_not_documented_is_reported(docs: Path, page: str, old: str, new: str) -> None:
    edit(docs / page, old, new)
    [complaint] = news(missing_formats(docs), missing_formats())
    assert complaint.startswith(f"docs/{page}: ")
    assert complaint.endswith("the output format junit")


def test_format_without_a_row_is_reported(docs: Path) -> None:
    edit(docs / "commands/validate-graph.md", "| `markdown` |", "| `m` |")
    assert news(missing_formats(docs), missing_formats()) == [
        "docs/commands/validate-graph.md: does not list the output format markdown"
    ]


def test_key_that_is_not_documented_is_reported(docs: Path) -> None:
    edit(docs / "configuration.md", "fail-on", "fail-at")
    assert news(missing_keys(docs / "configuration.md"), missing_keys()) == [
        "docs/configuration.md: does not have the key fail-on"
    ]


def test_rule_without_a_page_is_reported(docs: Path) -> None:
    (docs / "rules" / "EP203.md").unlink()
    assert news(missing_rules(docs / "rules"), missing_rules()) == [
        "docs/rules/EP203.md: the page of the rule fork is missing"
    ]


def test_page_without_a_rule_is_reported(docs: Path) -> None:
    copy(docs / "rules" / "EP203.md", docs / "rules" / "EP000.md")
    assert news(missing_rules(docs / "rules"), missing_rules()) == [
        "docs/rules/EP000.md: no rule is called EP000"
    ]


def test_outdated_index_of_rules_is_reported(docs: Path) -> None:
    index = docs / "rules" / "README.md"
    index.write_text(indexed(index.read_text(encoding="utf-8")), encoding="utf-8")
    fresh = list(missing_rules(docs / "rules"))
    edit(index, "| fork |", "| spoon |")
    assert news(missing_rules(docs / "rules"), fresh) == [
        "docs/rules/README.md: the table is out of date; `make docs` writes it"
    ]


@pytest.mark.parametrize(
    ("link", "complaint"),
    [
        ("[x](nowhere.md)", "page.md: links to nowhere.md, which does not exist"),
        ("[x](#no-such-part)", "page.md: links to #no-such-part, which has no such heading"),
        ("[x](page.md#elsewhere)", "page.md: links to page.md#elsewhere, which has no such heading"),
    ],
)
def test_dead_link_is_reported(tmp_path: Path, link: str, complaint: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# A `title`, here\n\n{link}\n", encoding="utf-8")
    assert list(missing_links([page])) == [complaint]


@pytest.mark.parametrize("link", ["[x](page.md)", "[x](#a-title-here)", "[x](https://example.com/y)"])
def test_working_link_is_not_reported(tmp_path: Path, link: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# A `title`, here\n\n{link}\n\n```\n[x](nowhere.md)\n```\n", encoding="utf-8")
    assert list(missing_links([page])) == []
