"""Words that several rules need: lists that stay short, and names that were probably meant."""

from __future__ import annotations

__all__ = ["Nearby", "listed", "plural", "shown", "skip"]

import re
from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import islice
from typing import Final

_VERSION: Final = re.compile(r"v?(\d+\.\d+\.\d+.*)$")

#: Letters for which a digit is taken, and the digits.
_LOOKALIKES: Final = str.maketrans("oil", "011")

#: Comparing spellings costs a look at every name; beyond this many a guess is not worth it.
_MOST_COMPARED: Final = 500


def listed(names: Iterable[str], most: int = 8, *, total: int = 0) -> str:
    """`a, b and c`; a long list is cut and counted. `total` counts more names than are given."""
    all_names = list(names)
    some, total = list(map(shown, all_names[:most])), max(total, len(all_names))
    if total > len(some):
        return f"{', '.join(some)} and {total - len(some)} more"
    if len(some) < 2:
        return "".join(some)
    return f"{', '.join(some[:-1])} and {some[-1]}"


def shown(name: str) -> str:
    """A name; an empty one would not be seen in a sentence."""
    return name or '""'


def plural(count: int, noun: str) -> str:
    """`1 entry`, `2 entries`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun[:-1]}ies" if noun.endswith("y") else f"{count} {noun}s"


def skip(skippers: Collection[str]) -> str:
    """`b skips`, `b and c skip`."""
    return f"{listed(skippers)} {'skips' if len(skippers) == 1 else 'skip'}"


class Nearby:
    """Existing names, to find the one that a wrong name was meant to be.

    Names of one package differ by their version alone, so likeness of spelling says little: `op.v1.2.3` is
    no slip for `op.v1.2.4`. A name is meant if it is the same but for case, dashes, a forgotten or doubled
    `v` and letters that look like digits; or if it ends in the same version. Only a name without any version
    is compared letter by letter. One pass over the names, at the first question; then one look-up a question.
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
            from difflib import get_close_matches  # noqa: PLC0415 - only who mistypes pays for it

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
    plain = name.lower().replace("-", ".").replace("vv", "v").replace(".v", ".")
    return plain.translate(_LOOKALIKES)
