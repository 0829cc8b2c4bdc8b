"""Check that the docs have every command, option, output format, configuration key and rule; and links.

Prints one line for each problem; the exit code is 1 if there are any.
"""

from __future__ import annotations

__all__ = [
    "CHECKS",
    "commands",
    "main",
    "missing_commands",
    "missing_formats",
    "missing_keys",
    "missing_links",
    "missing_operator_commands",
    "missing_rules",
]

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from console import ROOT, pages
from everpath.app.config import config
from everpath.cli.group import cli
from everpath.reporters import FORMATS, MACHINE_FORMATS
from everpath.rules.registry import all_rules
from rule_index import indexed
from searchkeeper.cli.app import cli as operator

DOCS: Final = ROOT / "docs"
COMMANDS: Final = ROOT / "docs" / "commands"
OPERATOR: Final = ROOT / "docs" / "operator" / "commands.md"
CONFIGURATION: Final = ROOT / "docs" / "configuration.md"
RULES: Final = ROOT / "docs" / "rules"
_LINK: Final = re.compile(r"\]\((?P<target>[^)\s]+)\)")
_FENCE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command, with the words that a user types after `everpath`."""
    yield from _below(cli, click.Context(cli, info_name="everpath"), "")


def _below(group: click.Group, context: click.Context, words: str) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        path = f"{words} {name}".strip()
        if isinstance(command, click.Group):
            yield from _below(command, click.Context(command, context, name), path)
        else:
            yield path, command


def missing_commands(folder: Path = COMMANDS) -> Iterator[str]:
    """Yield commands without a page, and options that the page does not have."""
    for words, command in commands():
        page = folder / f"{words.split()[0]}.md"
        text = page.read_text(encoding="utf-8") if page.is_file() else ""
        if f"everpath {words}" not in text:
            yield f"docs/commands/{page.name}: does not have the command `everpath {words}`"
            continue
        for option in (p for p in command.params if isinstance(p, click.Option) and not p.hidden):
            flag = max(option.opts, key=len)
            if flag not in text:
                yield f"docs/commands/{page.name}: does not have the option {flag} of `everpath {words}`"


def missing_operator_commands(page: Path = OPERATOR) -> Iterator[str]:
    """Yield commands and options of searchkeeper that its page does not have."""
    text = page.read_text(encoding="utf-8")
    for words, command in _below(operator, click.Context(operator, info_name="searchkeeper"), ""):
        if f"searchkeeper {words}" not in text:
            yield f"{_named(page)}: does not have the command `searchkeeper {words}`"
        for option in (p for p in command.params if isinstance(p, click.Option) and not p.hidden):
            flag = max(option.opts, key=len)
            if flag not in text:
                yield f"{_named(page)}: does not have the option {flag} of `searchkeeper {words}`"


def missing_rules(folder: Path = RULES) -> Iterator[str]:
    """Yield rules without a page, pages without a rule, and an index that is out of date."""
    names = {rule.id: rule.name for rule in all_rules()}
    for rule_id, name in names.items():
        if not (folder / f"{rule_id}.md").is_file():
            yield f"docs/rules/{rule_id}.md: the page of the rule {name} is missing"
    for page in sorted(folder.glob("EP*.md")):
        if page.stem not in names:
            yield f"docs/rules/{page.name}: no rule is called {page.stem}"
    index = (folder / "README.md").read_text(encoding="utf-8")
    if index != indexed(index):
        yield "docs/rules/README.md: the table is out of date; `make docs` writes it"


def missing_keys(page: Path = CONFIGURATION) -> Iterator[str]:
    """Yield keys of the configuration that its page does not have."""
    text = page.read_text(encoding="utf-8")
    for key in (*config._KEYS, *config._WAIVER_KEYS):
        if not re.search(rf"^[ -]*`?{re.escape(key)}\b", text, flags=re.MULTILINE):
            yield f"docs/{page.name}: does not have the key {key}"


def missing_formats(folder: Path = DOCS) -> Iterator[str]:
    """Yield the pages that do not have a format of `validate-graph -o`."""
    schema = json.loads((folder / "schemas/config.schema.json").read_text(encoding="utf-8"))
    patterns = {
        "commands/validate-graph.md": r"^\| `{}` \|",
        "commands/bundle.md": r"^\| `-o`, .*`{}`",
        "configuration.md": r"^output: .*\b{}\b",
        "architecture.md": r"(?i)^\| `reporters` \| .*\b{}\b",
    }
    table = (folder / "commands/validate-graph.md").read_text(encoding="utf-8")
    for name in FORMATS:
        if name in MACHINE_FORMATS and not re.search(rf"^\| `{name}` \|.*every finding", table, re.MULTILINE):
            yield f"docs/commands/validate-graph.md: does not say `every finding` of the output format {name}"
        for page, pattern in patterns.items():
            text = (folder / page).read_text(encoding="utf-8")
            if not re.search(pattern.format(name), text, flags=re.MULTILINE):
                yield f"docs/{page}: does not list the output format {name}"
        if name not in schema["properties"]["output"]["enum"]:
            yield f"docs/schemas/config.schema.json: does not allow the output format {name}"


def missing_links(names: list[Path] | None = None) -> Iterator[str]:
    """Yield relative links to files or headings that do not exist."""
    for page in pages() if names is None else names:
        prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
        for link in _LINK.finditer(prose):
            path, _, heading = link["target"].partition("#")
            if "://" in path or path.startswith("mailto:"):
                continue
            target = page.parent / path if path else page
            if not target.exists():
                yield f"{_named(page)}: links to {path}, which does not exist"
            elif heading and heading not in _anchors(target):
                yield f"{_named(page)}: links to {link['target']}, which has no such heading"


def _named(page: Path) -> str:
    return str(page.relative_to(ROOT)) if page.is_relative_to(ROOT) else page.name


def _anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


CHECKS: Final = (
    missing_commands,
    missing_operator_commands,
    missing_formats,
    missing_keys,
    missing_rules,
    missing_links,
)


def main() -> int:
    """Print what is missing; return the exit code."""
    missing = [line for check in CHECKS for line in check()]
    for line in missing:
        print(line)
    print(f"docs: {len(missing)} things missing" if missing else "docs: nothing missing", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
