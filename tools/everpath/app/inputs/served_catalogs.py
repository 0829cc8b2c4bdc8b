"""Parse the catalogs of one cluster as a command line gives them: `community=catalog/@-100`."""

from __future__ import annotations

__all__ = ["ServedCatalog", "parse_served_catalogs"]

import os
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from everpath.errors import UsageError
from everpath.loaders.sources import STANDARD_INPUT

_CATALOG: Final = re.compile(
    r"(?:(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)=)?(?P<path>.+?)(?:@(?P<priority>-?[0-9]+))?"
)
_PRIORITY: Final = re.compile(r"(?P<name>.+)=(?P<priority>-?[0-9]+)")

#: More digits than an int32 has; Python refuses to parse very long numbers.
_MAX_DIGITS: Final = 20


class ServedCatalog(NamedTuple):
    """A catalog on a cluster: its name, path and priority."""

    name: str
    path: str
    priority: int = 0


def parse_served_catalogs(paths: Sequence[str], priorities: Iterable[str] = ()) -> tuple[ServedCatalog, ...]:
    """Return the catalogs. One without a name is named after its folder.

    A path that exists is taken as it is, whatever characters it has. Raises UsageError for names and
    priorities that a cluster cannot have.
    """
    parsed = [_parse_catalog(path) for path in paths]
    names = {each.name for each in parsed if each.name}
    catalogs: dict[str, ServedCatalog] = {}
    for each in parsed:
        name = each.name or _unused_name(each.path, names)
        if name in catalogs:
            raise UsageError(f"two catalogs are called {name!r}", hint="give each its own name: NAME=PATH")
        names.add(name)
        catalogs[name] = each._replace(name=name)
    for text in priorities:
        name, priority = _parse_priority(text, catalogs)
        catalogs[name] = catalogs[name]._replace(priority=priority)
    for each in catalogs.values():
        if not -(2**31) <= each.priority < 2**31:
            hint = f"from {-(2**31)} to {2**31 - 1}"
            raise UsageError(f"the priority of catalog {each.name!r} is out of bounds", hint=hint)
    return tuple(catalogs.values())


def _parse_catalog(text: str) -> ServedCatalog:
    is_path = text == STANDARD_INPUT or os.path.exists(text)  # noqa: PTH110 - pathlib raises for some names
    match = None if is_path else _CATALOG.fullmatch(text)
    if match is None:
        return ServedCatalog("", text)
    return ServedCatalog(match["name"] or "", match["path"], _parse_number(match["priority"] or "0"))


def _unused_name(path: str, used: set[str]) -> str:
    stem = os.path.basename(os.path.abspath(path)) if path != STANDARD_INPUT else "stdin"  # noqa: PTH100, PTH119
    name, number = stem, 1
    while name in used:
        number += 1
        name = f"{stem}-{number}"
    return name


def _parse_number(text: str) -> int:
    return int(text[:_MAX_DIGITS])


def _parse_priority(text: str, catalogs: dict[str, ServedCatalog]) -> tuple[str, int]:
    match = _PRIORITY.fullmatch(text)
    if match is None:
        raise UsageError(f"--priority {text!r} is not NAME=N", hint="for example: --priority community=-100")
    if match["name"] not in catalogs:
        near = get_close_matches(match["name"], catalogs, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(catalogs) or 'none'}"
        raise UsageError(f"no catalog is called {match['name']!r}", hint=hint)
    return match["name"], _parse_number(match["priority"])
