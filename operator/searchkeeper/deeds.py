"""What a plan wants written is carried out, deed by deed, as far as it is let."""

from __future__ import annotations

__all__ = ["Denial", "Stored", "carried_out", "execute"]

from collections.abc import Iterable
from dataclasses import dataclass, replace

from searchkeeper.engine.driver import CallRefused, Driver
from searchkeeper.kernel import Deed, Write
from searchkeeper.kube import Kube, Refused
from searchkeeper.secrets import struck_out, texts_in
from searchkeeper.writes import Create, Delete, Event, Key, Manifest, Patch, Tell


@dataclass(frozen=True, slots=True)
class Denial:
    """A write of an action that was refused, and would be again. The operator condition is no action's."""

    action: str
    write: Write
    error: Refused | CallRefused

    @property
    def words(self) -> str:
        """Those of the API server, or of the engine, without what they quote of a Secret."""
        match self.write:
            case Create(manifest) if manifest["kind"] == "Secret":
                return struck_out(str(self.error), texts_in(manifest))
            case Patch(key, changes) if key.kind == "Secret":
                return struck_out(str(self.error), texts_in(changes))
            case _:
                return str(self.error)

    def __str__(self) -> str:
        return f"{self.write}: {self.words}"


@dataclass(frozen=True, slots=True)
class Stored:
    """The resource that a plan is of: its version when it was seen, and now that its status is stored."""

    key: Key
    seen: str
    now: str


def carried_out(kube: Kube, driver: Driver, deeds: Iterable[Deed], of: Stored) -> tuple[int, list[Denial]]:
    """Every deed, as far as it is let: how many writes were made, and which were refused.

    What was refused has not happened: the world is the one that all other deeds were decided on, and none of
    them relies on this one, or it would require it. The rest of the same deed may rely on it, and is left.
    After a conflict, or without an answer, nobody knows the world any more: raises KubeError, CallFailed.
    """
    made, denied = 0, []
    for deed in deeds:
        for write in deed.writes:
            if isinstance(write, Tell | Create):
                _confirm(kube, of)
            try:
                of = _after(execute(kube, driver, _on(write, of)), of)
            except (Refused, CallRefused) as error:
                denied.append(Denial(deed.action, write, error))
                break
            made += 1
    return made, denied


def _on(write: Write, of: Stored) -> Write:
    """The resource's own version moved when its status was stored."""
    if isinstance(write, Patch) and write.key == of.key and write.resource_version == of.seen:
        return Patch(write.key, write.changes, of.now)
    return write


def _after(written: Manifest | None, of: Stored) -> Stored:
    """The resource's own version moved if it was what was written."""
    if written is None or Key.of(written) != of.key:
        return of
    return replace(of, now=str(written["metadata"]["resourceVersion"]))


def _confirm(kube: Kube, of: Stored) -> None:
    """Neither the engine nor a name that is free takes a precondition: the API server is asked once more
    whether this ledger still counts. Who slept meanwhile would set, or make, what was wanted yesterday.

    By a patch that changes nothing, under the resource version: what is read may be behind. Raises Conflict.
    """
    kube.patch_status(Patch(of.key, {"status": {}}, of.now))


def execute(kube: Kube, driver: Driver, write: Write) -> Manifest | None:
    """What the API server then has of a patched object."""
    match write:
        case Create(manifest):
            kube.create(manifest)
        case Patch():
            return kube.patch(write)
        case Delete():
            kube.delete(write)
        case Tell(call):
            driver.tell(call)
        case Event():
            kube.record(write)
        case _:
            raise TypeError(f"nobody carries out {write!r}")
    return None
