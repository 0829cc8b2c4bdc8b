"""States told apart by what matters: not by when, nor by numbers that count births and changes.

The operator remembers nothing from one cycle to the next, so two states with one fingerprint have one future,
but for the moments at which patience ends.
"""

from __future__ import annotations

__all__ = ["Fingerprint", "fingerprint", "uncounted"]

import json
from typing import Any, Final, TypeAlias

from searchkeeper.embedded.world import State
from searchkeeper.kernel.denials import DENIAL
from searchkeeper.kernel.waits import WAIT
from searchkeeper.remembering import of_the_same
from searchkeeper.upgrade.journal import AIMED, AWAY, CROSSED, FLUSHED, GIVEN_UP, REFUSED, WIPED
from searchkeeper.upgrade.sparing import SPARED
from searchkeeper.writes import Manifest

Fingerprint: TypeAlias = int

_COUNTED: Final = frozenset(
    {
        "uid",
        "resourceVersion",
        "generation",
        "observedGeneration",
        "creationTimestamp",
        "lastTransitionTime",
        "ledger",
        SPARED,
    }
)
_GENERATIONS: Final = frozenset({REFUSED, GIVEN_UP})
_NAMED_BY_UID: Final = frozenset({AWAY, CROSSED, FLUSHED, WIPED})


def fingerprint(state: State) -> Fingerprint:
    """Equal for states between which the operator makes no difference."""
    objects = frozenset((key, _content(each)) for key, each in state.cluster.objects.items())
    engine = state.engine
    return hash(
        (
            objects,
            tuple(sorted(_ledgers(state))),
            frozenset(engine.nodes),
            engine.indices,
            tuple(sorted(map(repr, engine.copies))),
            engine.disks,
            engine.voters,
            engine.voting_exclusions,
            engine.allocation,
            engine.excluded,
            state.faults,
        )
    )


@of_the_same(65536)
def _content(manifest: Manifest) -> int:
    return hash(json.dumps(uncounted(manifest), sort_keys=True))


def uncounted(part: Any) -> Any:
    """A manifest without what counts changes, names births, or is a moment."""
    if isinstance(part, dict):
        kept = {name: uncounted(each) for name, each in part.items() if name not in _COUNTED}
        return kept | {"deletionTimestamp": ""} if "deletionTimestamp" in kept else kept
    if isinstance(part, list | tuple):
        return [uncounted(each) for each in part]
    return part


def _ledgers(state: State) -> list[tuple[str, str, str]]:
    """Every line of every ledger. Of a UID it matters only whether its object is still there."""
    found = [
        (key.name, line, text)
        for key, each in state.cluster.objects.items()
        if key.kind in ("SearchCluster", "SearchPool")
        for line, text in ((each.get("status") or {}).get("ledger") or {}).items()
    ]
    there = [each["metadata"] for each in state.cluster.objects.values()] if found else []
    alive = {str(each["uid"]) for each in there} | {str(each["resourceVersion"]) for each in there}
    return [(name, line, _line(line, text, alive)) for name, line, text in found]


def _line(line: str, text: str, alive: set[str]) -> str:
    if line.startswith((WAIT, DENIAL)):
        # A reason and since when it is given; a write, and in which words it was refused.
        return str(json.loads(text)[0])
    if line in _GENERATIONS:
        return ""
    if line == AIMED:
        return str(json.loads(text) in alive)
    return json.dumps(_known(json.loads(text), alive)) if line in _NAMED_BY_UID else text


def _known(entry: Any, alive: set[str]) -> Any:
    if isinstance(entry, list):
        return [_known(each, alive) for each in entry]
    return entry in alive if str(entry).startswith("uid-") else entry
