"""Write the table of rules in docs/rules/README.md. `make docs-check` checks that it is up to date."""

from __future__ import annotations

__all__ = ["README", "indexed"]

import re
from collections.abc import Iterator
from typing import Final

from console import ROOT
from everpath.rules.registry import Rule, all_rules

README: Final = ROOT / "docs" / "rules" / "README.md"
_TABLE: Final = re.compile(r"(<!-- rules: begin -->\n).*?(<!-- rules: end -->)", re.DOTALL)
_AFFECTED: Final = {None: "", "v0": "OLM v0", "v1": "OLM v1"}


def indexed(text: str) -> str:
    """Return the page with an up-to-date table."""
    rows = "".join(f"{row}\n" for row in _rows())
    return _TABLE.sub(lambda match: f"{match[1]}{rows}{match[2]}", text)


def _rows() -> Iterator[str]:
    yield "| rule | name | severity | affects only | requirement |"
    yield "|---|---|---|---|---|"
    yield from map(_row, all_rules())


def _row(rule: Rule) -> str:
    requirement = rule.summary.replace("|", "\\|")
    cells = f"[{rule.id}]({rule.id}.md)", rule.name, rule.severity.word, _AFFECTED[rule.resolver], requirement
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    README.write_text(indexed(README.read_text(encoding="utf-8")), encoding="utf-8")
