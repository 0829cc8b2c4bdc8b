"""Parse rule pages. docs/rules/README.md describes the format."""

from __future__ import annotations

__all__ = ["Example", "Opinion", "RulePage", "read_page"]

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

SECTIONS: Final = ("Bad", "Good", "Fix", "Waive", "opm")
LANGUAGES: Final = ("graph", "yaml", "json", "tree")

_TITLE: Final = re.compile(
    r"# (?P<rule>EP\d{3}) (?P<name>[a-z0-9-]+)\n\n(?P<sentence>\S[^\n]*(?:\n\S[^\n]*)*)\n"
)
_FACT: Final = re.compile(r"^- (?P<key>Severity|OLM v0|OLM v1|Mirror): (?P<value>.+)$", re.MULTILINE)
_BLOCK: Final = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_OPINION: Final = re.compile(
    r"^opm: (?P<word>accepts|rejects|not asked)(?: — `(?P<message>[^`]+)`)?", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Example:
    """A fenced block: a graph in the notation, catalog documents, or a tree of files."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """Whether opm accepts the bad example; its message is a pattern with <…> for the parts that vary."""

    word: str
    message: str | None

    def matches(self, output: str) -> bool:
        """Return whether opm's message matches the pattern; opm escapes quotes in it."""
        if self.message is None:
            return True
        pattern = ".+?".join(re.escape(part) for part in re.split(r"<[^>]*>", self.message))
        return re.search(pattern, output.replace('\\"', '"')) is not None


@dataclass(frozen=True, slots=True)
class RulePage:
    """One docs/rules/EPnnn.md."""

    rule: str
    name: str
    facts: Mapping[str, str]
    bad: Example
    good: Example
    waiver: Mapping[str, Any] | None
    opinion: Opinion


def read_page(file: Path) -> RulePage:
    """Parse a page. Raises AssertionError with the part that is missing."""
    text = file.read_text(encoding="utf-8")
    title = _TITLE.match(text)
    assert title, f"{file.name} should begin with `# EPnnn name`, a blank line and one sentence"
    head, sections = _sections(text)
    assert tuple(sections) == SECTIONS, f"{file.name} has the sections {tuple(sections)}, not {SECTIONS}"
    facts = {fact["key"]: fact["value"] for fact in _FACT.finditer(head)}
    return RulePage(
        rule=title["rule"],
        name=title["name"],
        facts=facts,
        bad=_example(file, sections["Bad"]),
        good=_example(file, sections["Good"]),
        waiver=_waiver(sections["Waive"]),
        opinion=_opinion(file, sections["opm"]),
    )


def _sections(text: str) -> tuple[str, dict[str, str]]:
    head, *parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return head, dict(zip(parts[::2], parts[1::2], strict=True))


def _example(file: Path, section: str) -> Example:
    blocks = [b for b in _BLOCK.finditer(section) if b["language"] in LANGUAGES]
    assert len(blocks) == 1, f"{file.name} should have one {'/'.join(LANGUAGES)} block in Bad and in Good"
    return Example(blocks[0]["language"], blocks[0]["text"])


def _waiver(section: str) -> Mapping[str, Any] | None:
    """Return the waiver of the page; rules about waivers have none."""
    block = _BLOCK.search(section)
    if block is None:
        return None
    [waiver] = yaml.safe_load(block["text"])["waivers"]
    assert isinstance(waiver, dict)
    return waiver


def _opinion(file: Path, section: str) -> Opinion:
    match = _OPINION.search(section)
    assert match, f"{file.name} should say `opm: accepts`, `opm: rejects — …` or `opm: not asked`"
    return Opinion(match["word"], match["message"])
