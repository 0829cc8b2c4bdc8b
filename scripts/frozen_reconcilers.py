"""Compares what released procedures make with what they made when they were released.

python scripts/frozen_procedures.py              compare; exit code 1 when a released one has changed
python scripts/frozen_procedures.py --write      freeze those of new releases; refuses to touch any other
python scripts/frozen_procedures.py --refreeze   freeze all anew: only before anything is published

The file stands beside the operator's package and not in it, as nothing reads it at run time; and not in
operator/config, which is what bundles are made of.
"""

from __future__ import annotations

__all__ = ["FROZEN", "ROOT", "main"]

import json
import sys
from pathlib import Path
from typing import Final

from searchkeeper.releases import releases
from searchkeeper.testing.frozen_reconcilers import Table, additions, drift, table

ROOT: Final = Path(__file__).resolve().parent.parent
FROZEN: Final = ROOT / "operator/frozen-procedures.json"
_REMEDY: Final = (
    "a released procedure stays as it is: undo the change, or make it in a procedure of a new version"
)


def main(arguments: list[str], file: Path = FROZEN) -> int:
    """0 when nothing that is released has changed, and all of it is frozen, or has been by now."""
    frozen: Table = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    made = table(releases())
    if "--refreeze" in arguments:
        return _write(file, made)
    changes = drift(frozen, made)
    if changes:
        return _refuse(*changes, _REMEDY)
    if "--write" in arguments:
        return _write(file, made)
    missing = additions(frozen, made)
    return _refuse(*(f"{each} is not frozen: make generate" for each in missing)) if missing else 0


def _write(file: Path, made: Table) -> int:
    file.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    return 0


def _refuse(*sentences: str) -> int:
    print("\n".join(sentences), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
