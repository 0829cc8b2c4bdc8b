"""Comparisons of a constraint, evaluated as the constraint functions in constraints.go do.

Each function mirrors one of Masterminds/semver v3.3.1, even where that contradicts its comments: `^*` matches
only 0.0.0, `<=*` matches 0.0.x, and `~0.0.0` has no upper bound.
"""

from __future__ import annotations

__all__ = ["OPERATORS", "ConstraintTerm"]

import operator as python
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from everpath.versions import Key, Version


class ConstraintTerm(NamedTuple):
    """An operator and a version, of which the first `given` numbers are written.

    `key` is like that of a Version, with 0 for the numbers that are not written. Build metadata is ignored.
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


def _excludes(term: ConstraintTerm, version: Version) -> bool:
    """Return whether the version is a pre-release and the term is not: such a term does not match it."""
    return version.is_prerelease and not term.is_prerelease


def _comparison(compare: Callable[[Key, Key], bool]) -> Callable[[ConstraintTerm, Version], bool]:
    def holds(term: ConstraintTerm, version: Version) -> bool:
        return not _excludes(term, version) and compare(version.key, term.key)

    return holds


def _not_equal(term: ConstraintTerm, version: Version) -> bool:
    if term.given == 3:
        return version.key != term.key
    if _excludes(term, version):
        return False
    if term.given == 1:
        return version.key[:1] != term.key[:1]
    if term.given == 2:
        return version.key[:2] != term.key[:2] or version.key[3:] != term.key[3:]
    return version.key != term.key


def _greater(term: ConstraintTerm, version: Version) -> bool:
    if _excludes(term, version):
        return False
    if term.given in (1, 2):
        return version.key[: term.given] > term.key[: term.given]
    return version.key > term.key


def _at_most(term: ConstraintTerm, version: Version) -> bool:
    if _excludes(term, version):
        return False
    if term.given == 3:
        return version.key <= term.key
    compared = term.given or 2
    return version.key[:compared] <= term.key[:compared]


def _tilde(term: ConstraintTerm, version: Version) -> bool:
    if _excludes(term, version) or version.key < term.key:
        return False
    if term.given in (0, 3) and term.key[:3] == (0, 0, 0):
        return True
    compared = 1 if term.given == 1 else 2
    return version.key[:compared] == term.key[:compared]


def _equal(term: ConstraintTerm, version: Version) -> bool:
    """Treat a version of fewer than three numbers as a tilde range."""
    if term.given < 3:
        return _tilde(term, version)
    return not _excludes(term, version) and version.key == term.key


def _caret(term: ConstraintTerm, version: Version) -> bool:
    """Match versions with the same first number that is not 0."""
    if _excludes(term, version) or version.key < term.key:
        return False
    if term.given == 1 or term.key[0] != 0:
        compared = 1
    elif term.given == 2 or term.key[1] != 0:
        compared = 2
    else:
        compared = 3
    return version.key[:compared] == term.key[:compared]


_AT_LEAST: Final = _comparison(python.ge)

#: All operators. The empty one is `=`.
OPERATORS: Final[Mapping[str, Callable[[ConstraintTerm, Version], bool]]] = {
    "": _equal,
    "=": _equal,
    "!=": _not_equal,
    ">": _greater,
    "<": _comparison(python.lt),
    ">=": _AT_LEAST,
    "=>": _AT_LEAST,
    "<=": _at_most,
    "=<": _at_most,
    "~": _tilde,
    "~>": _tilde,
    "^": _caret,
}
