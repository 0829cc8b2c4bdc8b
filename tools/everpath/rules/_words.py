"""Words that several rules need: lists that stay short, and names that were probably meant."""

from __future__ import annotations

__all__ = ["Nearby", "listed", "plural", "skip", "widened"]

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from functools import cached_property
from itertools import islice
from typing import Final

from everpath.graph import ChannelGraph

_VERSION: Final = re.compile(r"v?(\d+\.\d+\.\d+.*)$")

#: Comparing spellings costs a look at every name; beyond this many a guess is not worth it.
_MOST_COMPARED: Final = 500


def listed(names: Iterable[str], most: int = 8) -> str:
    """`a, b and c`; a long list is cut and counted."""
    all_names = list(names)
    shown = all_names[:most]
    if len(all_names) > most:
        return f"{', '.join(shown)} and {len(all_names) - most} more"
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def plural(count: int, noun: str) -> str:
    """`1 entry`, `2 entries`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun[:-1]}ies" if noun.endswith("y") else f"{count} {noun}s"


def skip(skippers: Collection[str]) -> str:
    """`b skips`, `b and c skip`."""
    return f"{listed(skippers)} {'skips' if len(skippers) == 1 else 'skip'}"


def widened(graph: ChannelGraph, entry: str, covered: Iterable[str]) -> str | None:
    """`give b3 the skipRange '>=1.0.0 <3.0.0'`: the range by which an entry accepts some older ones.

    Ranges make no head and unmake none, so opm's verdict stays what it was. None where versions forbid it.
    """
    high = graph.versions.get(entry)
    lows = [graph.versions[name] for name in covered if name in graph.versions]
    if high is None or not lows or min(lows) >= high:
        return None
    known = graph.entries[entry].skip_range if entry in graph.ranges else None
    wanted = f">={min(lows)} <{high}"
    return f"give {entry} the skipRange '{f'{known} || {wanted}' if known else wanted}'"


class Nearby:
    """Existing names, to find the one that a wrong name was meant to be.

    Names of one package differ by their version alone, so likeness of spelling says little: `op.v1.2.3` is
    no slip for `op.v1.2.4`. A name is meant if it is the same but for case, dashes and a forgotten or
    doubled `v`; or if it ends in the same version. Only a name without any version is compared letter
    by letter. One pass over the names, at the first question; then one look-up a question.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def meant(self, wrong: str, besides: Collection[str] = ()) -> str | None:
        """The name that was probably meant; `besides` are names it cannot be."""
        version = _VERSION.search(wrong)
        found = self._squeezed.get(_squeezed(wrong)) or (
            self._by_version.get(version[1]) if version else None
        )
        if found is None and version is None:
            known = list(islice(self._names, _MOST_COMPARED))
            found = next(iter(get_close_matches(wrong, known, n=1, cutoff=0.8)), None)
        return None if found in besides or found == wrong else found

    @cached_property
    def _squeezed(self) -> dict[str, str]:
        return {_squeezed(name): name for name in self._names}

    @cached_property
    def _by_version(self) -> dict[str, str]:
        return {match[1]: name for name in self._names if (match := _VERSION.search(name))}


def _squeezed(name: str) -> str:
    return name.lower().replace("-", ".").replace("vv", "v").replace(".v", ".")
