"""The status of an operator as text, and as the JSON of docs/schemas/status.schema.json."""

from __future__ import annotations

__all__ = ["SCHEMA_VERSION", "changes_data", "ref_data", "status_data", "status_text", "waits_text"]

from collections.abc import Iterable, Iterator
from typing import Any, Final

from everpath.olm.changes import ObjectChange
from everpath.olm.objects import ObjectRef
from everpath.olm.status import OperatorStatus, State, Wait
from everpath.reporters.colour import Paint
from everpath.reporters.formatting import columns, one_line

#: Increased when a field is removed or changes its meaning; fields may be added at any time.
SCHEMA_VERSION: Final = 2

_COLOURS: Final = {
    State.FINE: "green",
    State.WORKING: "cyan",
    State.WAITING: "yellow",
    State.FAILED: "red",
    State.ABSENT: "red",
}


def status_text(status: OperatorStatus, paint: Paint) -> Iterator[str]:
    """Yield the chain as a table, then the waits."""
    yield one_line(f"package {status.package} in namespace {status.namespace}: {status.headline}") + "\n\n"
    rows = [(obj.kind, obj.name or "-", obj.state.value, obj.summary) for obj in status.chain]
    for obj, line in zip(status.chain, columns(rows), strict=True):
        word = obj.state.value
        yield f"  {line.replace(f'  {word} ', f'  {paint(_COLOURS[obj.state], word)} ', 1)}"
    yield "\n"
    yield from waits_text(status.waits, paint)


def waits_text(waits: Iterable[Wait], paint: Paint) -> Iterator[str]:
    """Yield each wait on a line, followed by its hint."""
    is_empty = True
    for wait in waits:
        is_empty = False
        yield f"{paint('yellow', 'Waiting for')} {one_line(wait.message)}\n"
        if wait.hint:
            yield f"  {paint('cyan', 'hint')}: {one_line(wait.hint)}\n"
    if is_empty:
        yield "Waiting for nothing.\n"


def status_data(status: OperatorStatus) -> dict[str, Any]:
    """Return the status as JSON."""
    return {
        "package": status.package,
        "namespace": status.namespace,
        "running": status.running_csv or None,
        "next": status.next_csv or None,
        "pending": status.pending_plan or None,
        "chain": [
            {
                "kind": obj.kind,
                "namespace": obj.namespace,
                "name": obj.name,
                "state": obj.state.value,
                "summary": obj.summary,
            }
            for obj in status.chain
        ],
        "waits": [
            {
                "kind": obj.kind,
                "name": obj.name,
                "message": wait.message,
                "hint": wait.hint or None,
                "final": wait.is_final,
            }
            for obj in status.chain
            for wait in obj.waits
        ],
    }


def changes_data(changes: Iterable[ObjectChange]) -> list[dict[str, Any]]:
    """Return the changes as JSON, in order."""
    return [{"type": change.type.value, **ref_data(change.ref)} for change in changes]


def ref_data(ref: ObjectRef) -> dict[str, str | None]:
    """Return a reference as JSON."""
    return {"kind": ref.kind.name, "namespace": ref.namespace or None, "name": ref.name}
