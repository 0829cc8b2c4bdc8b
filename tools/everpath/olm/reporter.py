"""How things stand, for people and as the JSON of docs/schemas/status.schema.json."""

from __future__ import annotations

__all__ = ["VERSION", "chain_data", "changes_data", "status_text", "waits_text"]

from collections.abc import Iterable, Iterator
from typing import Any, Final

from everpath.olm.chain import Chain
from everpath.olm.changes import Change
from everpath.olm.status import State, Wait
from everpath.reporters.colour import Paint
from everpath.reporters.plain import columns, one_line

#: Raised when a field changes its meaning or goes away; new fields may come at any time.
VERSION: Final = 1

_COLOURS: Final = {
    State.FINE: "green",
    State.WORKING: "cyan",
    State.WAITING: "yellow",
    State.FAILED: "red",
    State.ABSENT: "red",
}


def status_text(seen: Chain, paint: Paint) -> Iterator[str]:
    """The chain as a table, and what it waits for."""
    yield one_line(f"package {seen.package} in namespace {seen.namespace}: {seen.headline}") + "\n\n"
    rows = [(link.kind, link.name or "-", link.state.value, link.summary) for link in seen.links]
    for link, line in zip(seen.links, columns(rows), strict=True):
        word = link.state.value
        yield f"  {line.replace(f'  {word} ', f'  {paint(_COLOURS[link.state], word)} ', 1)}"
    yield "\n"
    yield from waits_text(seen.waits, paint)


def waits_text(waits: Iterable[Wait], paint: Paint) -> Iterator[str]:
    """What it waits for, a line each, with the remedy below."""
    told = False
    for wait in waits:
        told = True
        yield f"{paint('yellow', 'Waits for')} {one_line(wait.sentence)}\n"
        if wait.remedy:
            yield f"  {paint('cyan', 'to go on')}: {one_line(wait.remedy)}\n"
    if not told:
        yield "Waits for nothing.\n"


def chain_data(seen: Chain) -> dict[str, Any]:
    """The chain as the contract has it."""
    return {
        "package": seen.package,
        "namespace": seen.namespace,
        "running": seen.running or None,
        "goingTo": seen.going_to or None,
        "pending": seen.pending or None,
        "chain": [
            {
                "kind": link.kind,
                "namespace": link.namespace,
                "name": link.name,
                "state": link.state.value,
                "summary": link.summary,
            }
            for link in seen.links
        ],
        "waits": [
            {
                "kind": link.kind,
                "name": link.name,
                "sentence": wait.sentence,
                "remedy": wait.remedy or None,
                "final": wait.is_final,
            }
            for link in seen.links
            for wait in link.waits
        ],
    }


def changes_data(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """What was done, in its order."""
    return [
        {
            "did": did.value,
            "kind": ref.kind.name,
            "namespace": ref.namespace or None,
            "name": ref.name,
        }
        for did, ref in changes
    ]
