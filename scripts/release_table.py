"""Generate the operator's table of releases from catalog/releases.yaml.

python scripts/release_table.py           check; exit code 1 if it is out of date
python scripts/release_table.py --write   write it
"""

from __future__ import annotations

__all__ = ["ROOT", "TABLE", "main", "table"]

import json
import sys
from pathlib import Path
from typing import Any, Final

import yaml

from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS, POOL_RECONCILERS

ROOT: Final = Path(__file__).resolve().parent.parent
TABLE: Final = ROOT / "operator/searchkeeper/releases.json"
# The keys of a release that only the operator uses; everpath keeps them.
_OURS: Final = ("procedures", "engines")


def table() -> str:
    """Return the table as JSON, one line for each release, oldest first."""
    source = yaml.safe_load((ROOT / "catalog/releases.yaml").read_text(encoding="utf-8"))
    lines = [
        json.dumps({key: each[key] for key in ("version", *_OURS)}) for each in _whole(source["releases"])
    ]
    return "[\n  " + ",\n  ".join(lines) + "\n]\n"


def _whole(releases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the releases. Raises SystemExit if keys are missing, which `everpath release` cannot write."""
    for each in releases:
        missing = [key for key in _OURS if key not in each]
        if missing:
            raise SystemExit(
                f"{each['version']} has no {' and no '.join(missing)}: add to catalog/releases.yaml which "
                "configuration versions it ships, and the oldest and the newest engine it runs"
            )
        unknown = [
            str(version)
            for version in each["procedures"]
            if version not in CLUSTER_RECONCILERS.keys() & POOL_RECONCILERS.keys()
        ]
        if unknown:
            raise SystemExit(
                f"{each['version']} ships configuration version {' and '.join(unknown)}, for which there is "
                "no reconciler: add it to operator/searchkeeper/reconcilers/versions.py, or correct "
                "catalog/releases.yaml"
            )
    return releases


def main(arguments: list[str]) -> int:
    """Check or write the table; return the exit code."""
    if "--write" in arguments:
        TABLE.write_text(table(), encoding="utf-8")
    elif not TABLE.exists() or TABLE.read_text(encoding="utf-8") != table():
        print(f"{TABLE.relative_to(ROOT)} is out of date: make generate", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
