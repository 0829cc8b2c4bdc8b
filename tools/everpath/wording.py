"""Names in messages: lists, plurals, and suggestions for misspelled or renamed names."""

from __future__ import annotations

__all__ = [
    "MAX_NAMES",
    "NameSuggestions",
    "count",
    "join_hops",
    "join_names",
    "plural",
    "quote_empty",
    "shorten_names",
    "skip_clause",
]

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Final

#: Names in a list before it is abbreviated.
MAX_NAMES: Final = 8

_VERSION: Final = re.compile(r"v?(\d+\.\d+\.\d+.*)$")

# The version at the end of an entry's name, and the start of a name that is not quoted or part of a path.
_ENTRY_VERSION: Final = re.compile(
    r"v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]*[0-9A-Za-z])?(?:\+[0-9A-Za-z.-]*[0-9A-Za-z])?(?![\w/@'\"]|\.\w|:\S)"
)
_NAME_START: Final = re.compile(r"(?<![\w./@:'\"-])")

#: Letters that are mistaken for digits, and the digits.
_LOOKALIKES: Final = str.maketrans("oil", "011")

#: The number of names on either side of a misspelled name that it is compared with letter by letter.
_MAX_NEIGHBOURS: Final = 12


def join_names(names: Iterable[str], limit: int | None = MAX_NAMES, *, total: int = 0) -> str:
    """Return `a, b and c`, or `a, b and 7 more`; with the limit None all names.

    `total` is the count if not all names are given.
    """
    all_names = list(names)
    visible, total = list(map(quote_empty, all_names[:limit])), max(total, len(all_names))
    if total > len(visible):
        return f"{', '.join(visible)} and {total - len(visible)} more"
    if len(visible) < 2:
        return "".join(visible)
    return f"{', '.join(visible[:-1])} and {visible[-1]}"


def join_hops(names: Sequence[str], most: int, first: int, last: int) -> str:
    """Return `a → b → c`; of more than `most` the first and the last: `a → b → … 7 more … → z`."""
    if len(names) > most:
        names = (*names[:first], f"… {len(names) - first - last} more …", *names[-last:])
    return " → ".join(names)


def quote_empty(name: str) -> str:
    """Return the name, or `""` if it is empty, so that it is visible in a sentence."""
    return name or '""'


def count(number: int, noun: str) -> str:
    """Return `1 entry`, `2 entries` or `3,000 entries`."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return `entries` for `entry`, `errors` for `error`."""
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def skip_clause(skippers: Collection[str]) -> str:
    """Return `b skips` or `b and c skip`."""
    return f"{join_names(skippers)} {'skips' if len(skippers) == 1 else 'skip'}"


def shorten_names(text: str, package: str, keep: Collection[str] = ()) -> str:
    """Replace every `PACKAGE.vVERSION` in a text by `vVERSION`.

    The names `keep`, which users copy, are not replaced; neither is a name in quotes or a part of a path.
    """
    prefix = f"{package}."
    at = text.find(prefix)
    while at >= 0:
        end = at + len(prefix)
        version = _ENTRY_VERSION.match(text, end) if _NAME_START.match(text, at) else None
        if version is not None and text[at : version.end()] not in keep:
            text = text[:at] + text[end:]
        at = text.find(prefix, at + 1)
    return text


class NameSuggestions:
    """Existing names, to suggest one for a misspelled or renamed name.

    Cost: O(n · log n) for n names at the first suggestion, then O(log n) and a few comparisons for each.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = names if isinstance(names, Collection) else tuple(names)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def suggest(self, wrong: str, exclude: Collection[str] = ()) -> str | None:
        """Return the name that was probably meant; never one of `exclude`.

        Names of a package differ only in their version, so similar spelling is not enough: `op.v1.2.3` is not
        a misspelling of `op.v1.2.4`. A name is suggested if it differs only in case, dashes, a missing or
        doubled `v` or letters that look like digits, or if it ends in the same version. Only a name without
        a version is compared letter by letter.
        """
        version = _VERSION.search(wrong)
        match = self._by_normalized_name.get(_normalize(wrong)) or (
            self._by_version.get(version[1]) if version else None
        )
        if match is None and version is None:
            match = self.most_similar(wrong, 0.8)
        return None if match in exclude or match == wrong else match

    def most_similar(self, name: str, cutoff: float = 0.6) -> str | None:
        """Return the name with the most similar spelling; None if none is as similar as `cutoff`.

        A misspelled or renamed name still begins or ends as before, so only its neighbours in the order of
        names, and of reversed names, are compared.
        """
        from difflib import get_close_matches  # noqa: PLC0415 - most runs need no suggestion

        same_start = _neighbours(self._sorted_names, name)
        same_end = (found[::-1] for found in _neighbours(self._reversed_names, name[::-1]))
        matches = get_close_matches(name, sorted({*same_start, *same_end}), n=1, cutoff=cutoff)
        return matches[0] if matches else None

    @cached_property
    def _by_normalized_name(self) -> dict[str, str]:
        return {_normalize(name): name for name in self._names}

    @cached_property
    def _by_version(self) -> dict[str, str]:
        return {match[1]: name for name in self._names if (match := _VERSION.search(name))}

    @cached_property
    def _sorted_names(self) -> list[str]:
        return sorted(self._names)

    @cached_property
    def _reversed_names(self) -> list[str]:
        return sorted(name[::-1] for name in self._names)


def _normalize(name: str) -> str:
    plain = name.lower().replace("-", ".").replace("vv", "v").replace(".v", ".")
    return plain.translate(_LOOKALIKES)


def _neighbours(names: list[str], name: str) -> list[str]:
    index = bisect_left(names, name)
    return names[max(0, index - _MAX_NEIGHBOURS) : index + _MAX_NEIGHBOURS]
