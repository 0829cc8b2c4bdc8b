"""Equivalent mutants, which no test can detect. `equivalent.txt` has a block for each:

rules.graph.heads _tail
  the statement
  the change
  = the reason
"""

from __future__ import annotations

__all__ = ["read"]

from collections.abc import Mapping
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("equivalent.txt")


def read() -> Mapping[str, str]:
    """Return the reasons by the key of the mutant."""
    blocks = (block for block in _FILE.read_text().split("\n\n") if not block.startswith("#"))
    pairs = (block.strip("\n").partition("\n  = ") for block in blocks if block.strip())
    return {key: reason for key, _, reason in pairs}
