"""The table of docs/rules/README.md, made from the rules themselves.

Run it to write the table; `make docs-check` says when it is stale.
"""

from __future__ import annotations

__all__ = ["README", "indexed"]

import re
from collections.abc import Iterator
from typing import Final

from console import ROOT
from everpath.rules.registry import Rule, all_rules

README: Final = ROOT / "docs" / "rules" / "README.md"
_TABLE: Final = re.compile(r"(<!-- rules: begin -->\n).*?(<!-- rules: end -->)", re.DOTALL)
_HURT: Final = {None: "", "v0": "OLM v0", "v1": "OLM v1"}


def indexed(text: str) -> str:
    """The page with the table as it should be today."""
    rows = "".join(f"{row}\n" for row in _rows())
    return _TABLE.sub(lambda match: f"{match[1]}{rows}{match[2]}", text)


def _rows() -> Iterator[str]:
    yield "| rule | name | severity | hurts only | law |"
    yield "|---|---|---|---|---|"
    yield from map(_row, all_rules())


def _row(rule: Rule) -> str:
    law = rule.summary.replace("|", "\\|")
    return (
        f"| [{rule.id}]({rule.id}.md) | {rule.name} | {rule.severity.word} | {_HURT[rule.policy]} | {law} |"
    )


if __name__ == "__main__":
    README.write_text(indexed(README.read_text(encoding="utf-8")), encoding="utf-8")
