"""The catalogs of one cluster, as a command line names them: `community=catalog/@-100`."""

from __future__ import annotations

__all__ = ["Served", "served"]

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from everpath.errors import UsageError
from everpath.loaders.sources import STANDARD_INPUT

_NAMED: Final = re.compile(
    r"(?:(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)=)?(?P<path>.+?)(?:@(?P<priority>-?[0-9]+))?"
)
#: More than an int32 has.
_MOST_DIGITS: Final = 20

_PRIORITY: Final = re.compile(r"(?P<name>.+)=(?P<priority>-?[0-9]+)")


class Served(NamedTuple):
    """A catalog that a cluster sees: what it is called, where it is, and its priority."""

    name: str
    path: str
    priority: int = 0


def served(paths: Sequence[str], priorities: Iterable[str] = ()) -> tuple[Served, ...]:
    """The catalogs that paths stand for. One without a name is called after its folder.

    A path that exists is itself, whatever signs are in it. Raises UsageError for names and priorities that no
    cluster could have.
    """
    stated = [_stated(path) for path in paths]
    taken = Counter(one.name for one in stated if one.name)
    for name, times in taken.items():
        if times > 1:
            raise UsageError(
                f"two catalogs are called {name!r}", hint="give each a name of its own: NAME=PATH"
            )
    names = _free_names(stated, set(taken))
    found = {one.name: one for one in (one._replace(name=one.name or next(names)) for one in stated)}
    for text in priorities:
        name, priority = _priority(text, found)
        found[name] = found[name]._replace(priority=priority)
    _refuse_priorities(found.values())
    return tuple(found.values())


def _refuse_priorities(catalogs: Iterable[Served]) -> None:
    """Raise UsageError for a priority that no ClusterCatalog can have: it is an int32."""
    for one in catalogs:
        if not -(2**31) <= one.priority < 2**31:
            hint = f"from {-(2**31)} to {2**31 - 1}"
            raise UsageError(f"the priority of catalog {one.name!r} is out of bounds", hint=hint)


def _stated(text: str) -> Served:
    if text == STANDARD_INPUT or os.path.exists(text):  # noqa: PTH110 - says no where pathlib raises
        return Served("", text)
    match = _NAMED.fullmatch(text)
    if match is None:
        return Served("", text)
    return Served(match["name"] or "", match["path"], _number(match["priority"] or "0"))


def _free_names(stated: Iterable[Served], taken: set[str]) -> Iterator[str]:
    """A name for each catalog that has none, in their order."""
    for one in stated:
        if not one.name:
            stem = os.path.basename(os.path.abspath(one.path)) if one.path != STANDARD_INPUT else "stdin"  # noqa: PTH100, PTH119
            name, number = stem, 1
            while name in taken:
                number += 1
                name = f"{stem}-{number}"
            taken.add(name)
            yield name


def _number(text: str) -> int:
    """A number, or as much of it as is beyond all bounds: Python reads only so many digits."""
    return int(text[:_MOST_DIGITS])


def _priority(text: str, found: dict[str, Served]) -> tuple[str, int]:
    match = _PRIORITY.fullmatch(text)
    if match is None:
        raise UsageError(f"--priority {text!r} is not NAME=N", hint="for example: --priority community=-100")
    if match["name"] not in found:
        near = get_close_matches(match["name"], found, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(found) or 'none'}"
        raise UsageError(f"no catalog is called {match['name']!r}", hint=hint)
    return match["name"], _number(match["priority"])
