"""How an object that is there differs from one that is wanted."""

from __future__ import annotations

__all__ = ["Difference", "differences", "told"]

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from everpath.olm.objects import Object, dig


class Difference(NamedTuple):
    """A field by its path; None is absent."""

    path: str
    there: Any
    wanted: Any


def differences(there: Object, wanted: Object, *path: str) -> list[Difference]:
    """Fields below a path of what is wanted that are not as wanted.

    What is there beyond what is wanted is its owner's and no difference. Lists are compared as wholes.
    """
    return list(_below(dig(there, *path), dig(wanted, *path), ".".join(path)))


def _below(there: Any, wanted: Any, path: str) -> Iterator[Difference]:
    if isinstance(wanted, Mapping):
        for key, value in wanted.items():
            yield from _below(dig(there, key), value, f"{path}.{key}" if path else key)
    elif there != wanted:
        yield Difference(path, there, wanted)


def told(difference: Difference) -> str:
    """`spec.channel is alpha, not stable`."""
    there = "not set" if difference.there is None else _shown(difference.there)
    return f"{difference.path} is {there}, not {_shown(difference.wanted)}"


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "empty"
    return str(value) if value != "" else "empty"
