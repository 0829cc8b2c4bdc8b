"""Names in messages: lists, plurals, and suggestions for misspelled names."""

from __future__ import annotations

__all__ = ["NameSuggestions", "display_name", "join_names", "plural", "shorten_names", "skip_clause"]

import re
from collections.abc import Collection, Iterable
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final

_VERSION: Final = re.compile(r"v?(\d+\.\d+\.\d+.*)$")

#: Letters that are mistaken for digits, and the digits.
_LOOKALIKES: Final = str.maketrans("oil", "011")

#: The number of names that a misspelled name is compared with letter by letter.
_MAX_COMPARED: Final = 500


def join_names(names: Iterable[str], limit: int = 8, *, total: int = 0) -> str:
    """Return `a, b and c`, or `a, b and 7 more`. `total` is the count if not all names are given."""
    all_names = list(names)
    visible, total = list(map(display_name, all_names[:limit])), max(total, len(all_names))
    if total > len(visible):
        return f"{', '.join(visible)} and {total - len(visible)} more"
    if len(visible) < 2:
        return "".join(visible)
    return f"{', '.join(visible[:-1])} and {visible[-1]}"


def display_name(name: str) -> str:
    """Return the name, or `""` if it is empty."""
    return name or '""'


def plural(count: int, noun: str) -> str:
    """Return `1 entry` or `2 entries`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun[:-1]}ies" if noun.endswith("y") else f"{count} {noun}s"


def skip_clause(skippers: Collection[str]) -> str:
    """Return `b skips` or `b and c skip`."""
    return f"{join_names(skippers)} {'skips' if len(skippers) == 1 else 'skip'}"


def shorten_names(text: str, package: str) -> str:
    """Replace every `PACKAGE.vVERSION` in a text by `vVERSION`.

    A name in quotes, after `replaces: ` or after `did you mean ` is kept, because users copy it; so is a part
    of a path.
    """
    if f"{package}.v" not in text:
        return text
    return _entry_name(package).sub(r"\1", text)


@lru_cache(maxsize=64)
def _entry_name(package: str) -> re.Pattern[str]:
    version = r"v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]*[0-9A-Za-z])?(?:\+[0-9A-Za-z.-]*[0-9A-Za-z])?"
    not_copied = r"(?<!replaces: )(?<!did you mean )(?<![\w./@:'\"-])"
    return re.compile(rf"{not_copied}{re.escape(package)}\.({version})(?![\w/:@'\"]|\.\w)")


class NameSuggestions:
    """Existing names, to suggest one for a misspelled name.

    Names of a package differ only in their version, so similar spelling is not enough: `op.v1.2.3` is not a
    misspelling of `op.v1.2.4`. A name is suggested if it differs only in case, dashes, a missing or doubled
    `v` or letters that look like digits, or if it ends in the same version. Only a name without a version is
    compared letter by letter. Cost: one pass over the names, then one look-up a suggestion.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def suggest(self, wrong: str, exclude: Collection[str] = ()) -> str | None:
        """Return the name that was probably meant; never one of `exclude`."""
        version = _VERSION.search(wrong)
        match = self._by_normalized_name.get(_normalized(wrong)) or (
            self._by_version.get(version[1]) if version else None
        )
        if match is None and version is None:
            from difflib import get_close_matches  # noqa: PLC0415 - needed for misspelled names only

            candidates = list(islice(self._names, _MAX_COMPARED))
            match = next(iter(get_close_matches(wrong, candidates, n=1, cutoff=0.8)), None)
        return None if match in exclude or match == wrong else match

    @cached_property
    def _by_normalized_name(self) -> dict[str, str]:
        return {_normalized(name): name for name in self._names}

    @cached_property
    def _by_version(self) -> dict[str, str]:
        return {match[1]: name for name in self._names if (match := _VERSION.search(name))}


def _normalized(name: str) -> str:
    plain = name.lower().replace("-", ".").replace("vv", "v").replace(".v", ".")
    return plain.translate(_LOOKALIKES)
