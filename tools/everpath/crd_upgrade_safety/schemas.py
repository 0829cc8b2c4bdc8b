"""What of a schema's change an object of before may fail under.

Only what can hurt is told: a new optional field, a wider range, one more value of an enumeration never
does. A default that changes alters what the next write of an untouched object means, so it is told too.
"""

from __future__ import annotations

__all__ = ["Change", "Kind", "changes"]

from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

from everpath.crd_upgrade_safety.constraints import (
    Json,
    canonical,
    is_same,
    kind_of_value,
    narrowings,
    takes_anything,
)

Kind = Literal["field-removed", "field-retyped", "validation-tightened", "default-changed"]

#: Every value of the one is a value of the other.
_WIDER: Final = {
    ("integer", "number"),
    ("integer", "integer or string"),
    ("string", "integer or string"),
}


class Change(NamedTuple):
    """One narrowing: `path` is the field as people write it, with [] for the items of a list.

    `is_validated` where a validator of schemas refuses objects for it: it sees no rules in CEL, and what is
    pruned it has never seen.
    """

    kind: Kind
    path: str
    sentence: str
    is_validated: bool


def changes(old: Json, new: Json, path: str = "") -> Iterator[Change]:
    """Every narrowing from one schema to another, in order of path. Cost: the size of the smaller one."""
    if is_same(old, new):
        return
    yield from _retyped(old, new, path)
    for told in narrowings(old, new):
        yield Change("validation-tightened", path, f"{_named(path)} {told.sentence}", told.is_validated)
    yield from _defaults(old, new, path)
    yield from _fields(old, new, path)
    was, now = _schema(old.get("items")), _schema(new.get("items"))
    if was is not None and now is not None:
        yield from changes(was, now, f"{path}[]")
    yield from _entries(old, new, path)


def _fields(old: Json, new: Json, path: str) -> Iterator[Change]:
    before, after = _properties(old), _properties(new)
    entries = _schema(new.get("additionalProperties"))
    for name in sorted(before):
        below = _below(path, name)
        if name in after:
            yield from changes(before[name], after[name], below)
        elif entries is not None:
            yield from changes(before[name], entries, below)
        elif not takes_anything(new):
            sentence = f"the field {below} is gone: what objects hold there is lost"
            yield Change("field-removed", below, sentence, False)
    was = _others(old)
    if was is not None:
        for name in sorted(after.keys() - before.keys()):
            yield from changes(was, after[name], _below(path, name))


def _entries(old: Json, new: Json, path: str) -> Iterator[Change]:
    """What becomes of a map's entries."""
    was, now = _others(old), _schema(new.get("additionalProperties"))
    if was is not None and now is not None:
        yield from changes(was, now, f"{path}.*")
    elif _schema(old.get("additionalProperties")) is not None and not takes_anything(new):
        sentence = f"the entries of {_named(path)} are gone: what objects hold there is lost"
        yield Change("field-removed", f"{path}.*", sentence, False)


def _others(schema: Json) -> Json | None:
    """What a field must be that the schema does not name; None where there may be no such field."""
    found = _schema(schema.get("additionalProperties"))
    return {} if found is None and takes_anything(schema) else found


def _retyped(old: Json, new: Json, path: str) -> Iterator[Change]:
    was, now = kind_of_value(old), kind_of_value(new)
    if was and now and was != now and (was, now) not in _WIDER:
        told = f"{_named(path)} was of type {was} and is of type {now}"
        yield Change("field-retyped", path, f"{told}: objects that hold the one are refused", True)
    elif now and not was and path:  # what is no object has never been stored
        sentence = f"{_named(path)} took any value and takes only what is of type {now}"
        yield Change("validation-tightened", path, sentence, True)
    if was and takes_anything(old) and not _takes_entries(new) and now in ("", "object"):
        sentence = f"{_named(path)} took any field and takes only those it names: others are lost"
        yield Change("validation-tightened", path, sentence, False)


def _takes_entries(schema: Json) -> bool:
    return takes_anything(schema) or _schema(schema.get("additionalProperties")) is not None


def _defaults(old: Json, new: Json, path: str) -> Iterator[Change]:
    was, now = old.get("default"), new.get("default")
    if was is not None and canonical(was) != canonical(now):
        told = f"is {now!r}" if now is not None else "is gone"
        sentence = f"{_named(path)} was {was!r} where nobody wrote it; that default {told}"
        yield Change("default-changed", path, sentence, False)


def _properties(schema: Json) -> dict[str, Json]:
    found = schema.get("properties")
    return {k: v for k, v in found.items() if isinstance(v, Mapping)} if isinstance(found, Mapping) else {}


def _schema(value: object) -> Json | None:
    return value if isinstance(value, Mapping) else None


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _named(path: str) -> str:
    return path or "the object"
