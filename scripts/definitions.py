"""Generate the CRDs in operator/config/crd from the operator's types.

python scripts/definitions.py           check; exit code 1 if a file is out of date
python scripts/definitions.py --write   write them
"""

from __future__ import annotations

__all__ = ["FOLDER", "ROOT", "files", "main"]

import sys
from pathlib import Path
from typing import Final

import yaml

from searchkeeper.api.crds import crds

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "operator/config/crd"
_HEAD: Final = "# Made from operator/searchkeeper/api by `make generate`.\n"


class _Plain(yaml.SafeDumper):
    """Write no anchors: readers expect a CRD without them."""

    def ignore_aliases(self, _: object) -> bool:
        return True


def files() -> dict[Path, str]:
    """Return the files with their contents."""
    return {
        FOLDER / f"{plural}.yaml": _HEAD + yaml.dump(definition, Dumper=_Plain, sort_keys=False, width=110)
        for plural, definition in crds().items()
    }


def main(arguments: list[str]) -> int:
    """Check or write the files; return the exit code."""
    stale = [file for file, text in files().items() if not file.exists() or file.read_text("utf-8") != text]
    if "--write" in arguments:
        for file in stale:
            file.write_text(files()[file], encoding="utf-8")
        return 0
    for file in stale:
        print(f"{file.relative_to(ROOT)} is out of date: make generate", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
