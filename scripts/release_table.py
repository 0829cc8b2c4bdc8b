"""Writes the table of releases that the operator carries, from catalog/releases.yaml.

python scripts/release_table.py           compare; exit code 1 when it is out of date
python scripts/release_table.py --write   write it
"""

from __future__ import annotations

__all__ = ["ROOT", "TABLE", "main", "table"]

import json
import sys
from pathlib import Path
from typing import Final

import yaml

ROOT: Final = Path(__file__).resolve().parent.parent
TABLE: Final = ROOT / "operator/searchkeeper/releases.json"


def table() -> str:
    """One line a release, oldest first, with what decides what it can do."""
    source = yaml.safe_load((ROOT / "catalog/releases.yaml").read_text(encoding="utf-8"))
    lines = [
        json.dumps({key: each[key] for key in ("version", "procedures", "engines")})
        for each in source["releases"]
    ]
    return "[\n  " + ",\n  ".join(lines) + "\n]\n"


def main(arguments: list[str]) -> int:
    """0 when the table is what it should be, or has been made so."""
    if "--write" in arguments:
        TABLE.write_text(table(), encoding="utf-8")
    elif not TABLE.exists() or TABLE.read_text(encoding="utf-8") != table():
        print(f"{TABLE.relative_to(ROOT)} is out of date: make generate", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
