"""One comparison of a constraint, and which versions it holds for.

Mirrors the constraint functions of constraints.go, Masterminds/semver v3.3.1, function by function. What
they do against their own comments is done here too: `^*` is 0.0.0, `<=*` is 0.0.x, `~0.0.0` has no end.
"""

from __future__ import annotations

__all__ = ["OPERATORS", "Term"]

import operator as python
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from everpath.versions import Key, Version


class Term(NamedTuple):
    """An operator and a version of which the first `given` numbers are stated.

    `key` has 0 for the others and is laid out as that of a Version. Nothing looks at build metadata.
    """

    operator: str
    text: str
    given: int
    key: Key

    @property
    def is_prerelease(self) -> bool:
        return self.key[3] == 0

    def holds(self, version: Version) -> bool:
        return OPERATORS[self.operator](self, version)


def _excludes(term: Term, version: Version) -> bool:
    """A pre-release is compared only where the constraint names one too."""
    return version.is_prerelease and not term.is_prerelease


def _compared(compare: Callable[[Key, Key], bool]) -> Callable[[Term, Version], bool]:
    def holds(term: Term, version: Version) -> bool:
        return not _excludes(term, version) and compare(version.key, term.key)

    return holds


def _not_equal(term: Term, version: Version) -> bool:
    if term.given == 3:
        return version.key != term.key
    if _excludes(term, version):
        return False
    if term.given == 1:
        return version.key[:1] != term.key[:1]
    if term.given == 2:
        return version.key[:2] != term.key[:2] or version.key[3:] != term.key[3:]
    return version.key != term.key


def _greater(term: Term, version: Version) -> bool:
    if _excludes(term, version):
        return False
    if term.given in (1, 2):
        return version.key[: term.given] > term.key[: term.given]
    return version.key > term.key


def _at_most(term: Term, version: Version) -> bool:
    if _excludes(term, version):
        return False
    if term.given == 3:
        return version.key <= term.key
    stated = term.given or 2
    return version.key[:stated] <= term.key[:stated]


def _tilde(term: Term, version: Version) -> bool:
    if _excludes(term, version) or version.key < term.key:
        return False
    if term.given in (0, 3) and term.key[:3] == (0, 0, 0):
        return True
    stated = 1 if term.given == 1 else 2
    return version.key[:stated] == term.key[:stated]


def _equal(term: Term, version: Version) -> bool:
    """A short version is a tilde range."""
    if term.given < 3:
        return _tilde(term, version)
    return not _excludes(term, version) and version.key == term.key


def _caret(term: Term, version: Version) -> bool:
    """The first number that is not 0 stays, and those before it."""
    if _excludes(term, version) or version.key < term.key:
        return False
    if term.given == 1 or term.key[0] != 0:
        stated = 1
    elif term.given == 2 or term.key[1] != 0:
        stated = 2
    else:
        stated = 3
    return version.key[:stated] == term.key[:stated]


_AT_LEAST: Final = _compared(python.ge)

#: Every operator that there is; the empty one is `=`.
OPERATORS: Final[Mapping[str, Callable[[Term, Version], bool]]] = {
    "": _equal,
    "=": _equal,
    "!=": _not_equal,
    ">": _greater,
    "<": _compared(python.lt),
    ">=": _AT_LEAST,
    "=>": _AT_LEAST,
    "<=": _at_most,
    "=<": _at_most,
    "~": _tilde,
    "~>": _tilde,
    "^": _caret,
}
