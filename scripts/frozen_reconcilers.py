"""Compare what released reconcilers create with what they created when they were released.

python scripts/frozen_reconcilers.py              compare; exit code 1 if a released reconciler has changed
python scripts/frozen_reconcilers.py --write      freeze the reconcilers of new releases; changes no other
python scripts/frozen_reconcilers.py --refreeze   freeze all reconcilers again: only before a publication

The file is beside the operator's package, since nothing reads it at run time, and not in operator/config,
from which bundles are generated.
"""

from __future__ import annotations

__all__ = ["FROZEN", "ROOT", "main"]

import json
import sys
from pathlib import Path
from typing import Final

from searchkeeper.releases import releases
from searchkeeper.testing.frozen_reconcilers import ReleaseDigests, drift, release_digests, unfrozen

ROOT: Final = Path(__file__).resolve().parent.parent
FROZEN: Final = ROOT / "operator/frozen-reconcilers.json"
_HINT: Final = (
    "released reconcilers must not change: revert this, or change a new configuration version instead"
)


def main(arguments: list[str], file: Path = FROZEN) -> int:
    """Return 0 if no released reconciler has changed, and all are frozen or were frozen now."""
    frozen: ReleaseDigests = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    actual = release_digests(releases())
    changes = [] if "--refreeze" in arguments else drift(frozen, actual)
    if changes:
        print("\n".join([*changes, _HINT]), file=sys.stderr)
        return 1
    if "--write" in arguments or "--refreeze" in arguments:
        file.write_text(json.dumps(actual, indent=1) + "\n", encoding="utf-8")
        return 0
    missing = unfrozen(frozen, actual)
    for each in missing:
        print(f"{each} is not frozen: run make generate", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
