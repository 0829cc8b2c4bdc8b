"""Versions as OLM reads them: SemVer 2 as blang/semver v4.0.0 parses and orders it.

The `semver` package judges the grammar; what is plainly of it, and that is nearly all, is read without it.
What blang adds is here: numbers end at 64 bits, build
metadata takes no part in comparison *or equality*, and `parse_tolerant` forgives what CSVs get away with.
"""

from __future__ import annotations

__all__ = [
    "GO_SPACES",
    "UINT64_MAX",
    "Key",
    "Version",
    "VersionError",
    "ending",
    "maybe",
    "parse",
    "parse_tolerant",
    "pointed",
]

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

#: What versions are ordered by. A release ends in 1; a pre-release in 0 and its identifiers, so that plain
#: tuple comparison is SemVer precedence (numbers before words, the longer of two equal beginnings last).
Key: TypeAlias = tuple[int | tuple[int, int] | tuple[int, str], ...]

#: The largest number blang can hold in a version.
UINT64_MAX: Final = 2**64 - 1

#: A version at the end of a name: behind `.v` if there is one, else behind the first separator that works.
_ENDINGS: Final = (
    re.compile(r"\.v(\d+\.\d+\.\d+.*)$"),
    re.compile(r"(?:^|[._-])v*(\d+\.\d+\.\d+.*)$"),
)

#: What Go's strings.TrimSpace removes; str.strip() would also take \x1c to \x1f.
GO_SPACES: Final = (
    "\t\n\v\f\r \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

# Enough for every distinct version of a catalog many times the size of OperatorHub's.
_REMEMBERED: Final = 2**16

#: Characters of a text that are shown above a caret.
_LONGEST: Final = 120

_DIGITS: Final = "0123456789"
_IDENTIFIER: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + _DIGITS + "-"

# Nearly all versions there are. Each number has at most 18 digits, which 64 bits always hold.
_NUMBER: Final = "(?:0|[1-9][0-9]{0,17})"
_USUAL: Final = re.compile(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-((?:[A-Za-z][0-9A-Za-z-]*|{_NUMBER})(?:\.(?:[A-Za-z][0-9A-Za-z-]*|{_NUMBER}))*))?"
)


class VersionError(ValueError):
    """A text that is not a version: which, at what character, and why."""

    def __init__(self, text: str, position: int, reason: str) -> None:
        super().__init__(text, position, reason)
        self.text = text
        self.position = position
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.text!r} is not a version: {self.reason}"

    def pretty(self) -> str:
        """The text, and below it a caret with the reason."""
        return pointed(self.text, self.position, self.position + 1, self.reason)


class Version:
    """One version, made by `parse`. Equal, ordered and hashed by `key`: build metadata does not count."""

    __slots__ = ("build", "key", "major", "minor", "patch", "prerelease", "text")

    major: int
    minor: int
    patch: int
    prerelease: tuple[str | int, ...]
    build: tuple[str, ...]
    text: str
    key: Key

    def __init__(
        self,
        numbers: tuple[int, int, int],
        prerelease: tuple[str | int, ...],
        build: tuple[str, ...],
        text: str,
        key: Key,
    ) -> None:
        put = super().__setattr__
        put("major", numbers[0])
        put("minor", numbers[1])
        put("patch", numbers[2])
        put("prerelease", prerelease)
        put("build", build)
        put("text", text)
        put("key", key)

    def __setattr__(self, name: str, value: object) -> None:
        """Versions are shared by all who read the same text."""
        raise AttributeError(f"{name} of a version cannot be changed")

    def __reduce__(self) -> tuple[type[Version], tuple[object, ...]]:
        numbers = (self.major, self.minor, self.patch)
        return Version, (numbers, self.prerelease, self.build, self.text, self.key)

    def __repr__(self) -> str:
        return f"Version({self.text!r})"

    @property
    def minor_stream(self) -> tuple[int, int]:
        """The (major, minor) whose patches supersede one another: a z-stream."""
        return self.major, self.minor

    @property
    def is_prerelease(self) -> bool:
        return bool(self.prerelease)

    def __str__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Version) else NotImplemented

    def __lt__(self, other: Version) -> bool:
        return self.key < other.key

    def __le__(self, other: Version) -> bool:
        return self.key <= other.key

    def __gt__(self, other: Version) -> bool:
        return self.key > other.key

    def __ge__(self, other: Version) -> bool:
        return self.key >= other.key


@lru_cache(maxsize=_REMEMBERED)
def parse(text: str) -> Version:
    """The version a text spells, as strictly as blang's Parse. `str` of it is the text again.

    Raises VersionError. Cost: a few microseconds the first time, a dictionary lookup after.
    """
    found = _USUAL.fullmatch(text)
    if found is None:
        return _parsed(text)
    prerelease = _identifiers(found[4])
    numbers = (int(found[1]), int(found[2]), int(found[3]))
    return Version(numbers, prerelease, (), text, _key(numbers, prerelease))


def _parsed(text: str) -> Version:
    """The version any text spells. Raises VersionError."""
    import semver  # noqa: PLC0415 - few versions need it, and it brings argparse along

    try:
        found = semver.Version.parse(text)
    except ValueError:
        raise VersionError(text, *next(_faults(text))) from None
    prerelease = _identifiers(found.prerelease)
    numbers = (found.major, found.minor, found.patch)
    if not _fit(numbers) or not _fit(prerelease):
        raise VersionError(text, *next(_faults(text)))
    build = tuple(found.build.split(".")) if found.build else ()
    return Version(numbers, prerelease, build, text, _key(numbers, prerelease))


def maybe(text: str | None) -> Version | None:
    """The version, or None where nothing is written or it does not parse strictly."""
    if text is None:
        return None
    try:
        return parse(text)
    except VersionError:
        return None


@lru_cache(maxsize=_REMEMBERED)
def parse_tolerant(text: str) -> Version:
    """The version blang's ParseTolerant makes of a text: the one OLM v0 sees in a CSV.

    Surrounding space, one leading `v`, leading zeros of the three numbers and missing minor and patch are
    forgiven; a short version with a pre-release or build is not, nor is a zero-led pre-release number.
    Raises VersionError, which points into the text as it was given.
    """
    if _USUAL.fullmatch(text):
        return parse(text)
    segments = _tolerated(text)
    try:
        return parse(".".join(segment.mended for segment in segments))
    except VersionError as error:
        raise VersionError(text, _position_before_mending(segments, error.position), error.reason) from None


def ending(name: str) -> str | None:
    """What looks like a version at the end of a name, such as a bundle's."""
    return next((found[1] for pattern in _ENDINGS if (found := pattern.search(name))), None)


def pointed(text: str, start: int, end: int, reason: str) -> str:
    """Two lines: a text, and carets under text[start:end] followed by the reason. Of a long text a part."""
    first = max(0, start - _LONGEST // 2) if len(text) > _LONGEST else 0
    part = text[first : first + _LONGEST]
    before, behind = "…" if first else "", "…" if first + len(part) < len(text) else ""
    shown = "".join(c if c.isprintable() else "·" for c in part)
    begin, last = len(before) + start - first, len(before) + min(end - first, len(part))
    return f"{before}{shown}{behind}\n{' ' * begin}{'^' * max(1, last - begin)} {reason}"


class _Segment(NamedTuple):
    """One of the three parts of a tolerated version, and where it ended before it was mended."""

    mended: str
    end: int


def _tolerated(text: str) -> list[_Segment]:
    body = text.strip(GO_SPACES)
    end = text.index(body)
    if body.startswith("v"):
        body, end = body[1:], end + 1
    segments: list[_Segment] = []
    for part in body.split(".", 2):
        end += len(part)
        segments.append(_Segment(_without_leading_zeros(part), end))
        end += 1
    # A short version with a pre-release or build needs no check of its own: none of its numbers may hold one.
    return segments + [_Segment("0", len(text))] * (3 - len(segments))


def _without_leading_zeros(part: str) -> str:
    if len(part) < 2:
        return part
    rest = part.lstrip("0")
    return rest if rest[:1].isdecimal() else "0" + rest


def _position_before_mending(segments: list[_Segment], position: int) -> int:
    """Mending changes a segment only at its left, so distances to its right end survive."""
    *before, segment = segments
    for earlier in before:
        if position <= len(earlier.mended):
            segment = earlier
            break
        position -= len(earlier.mended) + 1
    return segment.end - (len(segment.mended) - position)


def _identifiers(prerelease: str | None) -> tuple[str | int, ...]:
    if not prerelease:
        return ()
    return tuple(_number(i) if i.isdecimal() else i for i in prerelease.split("."))


def _number(digits: str) -> int:
    """Its value, or one that is too large: Python refuses to read thousands of digits."""
    return int(digits[: len(str(UINT64_MAX)) + 1])


def _fit(numbers: tuple[str | int, ...]) -> bool:
    return all(isinstance(n, str) or n <= UINT64_MAX for n in numbers)


def _key(numbers: tuple[int, int, int], prerelease: tuple[str | int, ...]) -> Key:
    if not prerelease:
        return (*numbers, 1)
    return (*numbers, 0, *((0, i) if isinstance(i, int) else (1, i) for i in prerelease))


def _faults(text: str) -> Iterator[tuple[int, str]]:
    """Each thing wrong with a text as a version: position and reason, from left to right.

    Yields nothing exactly when `parse` accepts.
    """
    numbers = text.split(".", 2)
    release, plus, build = numbers[-1].partition("+")
    patch, dash, prerelease = release.partition("-")
    is_short = len(numbers) < 3
    if not is_short:
        numbers[2] = patch
    at = 0
    for name, number in zip(("major", "minor", "patch"), numbers, strict=False):
        yield from _faults_of_number(number, at, name)
        at += len(number) + 1
    if is_short:
        yield len(text), "a version has three numbers, MAJOR.MINOR.PATCH"
        return
    if dash:
        yield from _faults_of_identifiers(prerelease, at, "pre-release")
        at += len(prerelease) + 1
    if plus:
        yield from _faults_of_identifiers(build, at, "build")


def _faults_of_number(number: str, at: int, name: str) -> Iterator[tuple[int, str]]:
    digits = _digits(number)
    if digits < len(number):
        yield at + digits, _foreign(number[digits], at + digits)
    elif not number:
        yield at, f"the {name} number is missing" if at else "a version starts with a digit"
    else:
        yield from _faults_of_value(number, at, f"the {name} number")


def _foreign(character: str, position: int) -> str:
    """Why a character cannot stand among the three numbers."""
    if position == 0:
        return "a version starts with a digit" + (", not with a v" if character in "vV" else "")
    if character in "-+":
        return "a pre-release or build comes after all three numbers, MAJOR.MINOR.PATCH"
    return f"{character!r} cannot stand in a number"


def _faults_of_value(number: str, at: int, what: str) -> Iterator[tuple[int, str]]:
    if len(number) > 1 and number[0] == "0":
        yield at, f"{what} has a leading zero"
    elif _number(number) > UINT64_MAX:
        yield at, f"{what} does not fit into 64 bits"


def _faults_of_identifiers(joined: str, at: int, name: str) -> Iterator[tuple[int, str]]:
    for identifier in joined.split("."):
        known = len(identifier) - len(identifier.lstrip(_IDENTIFIER))
        if not identifier:
            yield at, f"an identifier of the {name} is empty"
        elif known < len(identifier):
            yield at + known, f"{identifier[known]!r} cannot stand in a {name}: only letters, digits and -"
        elif name == "pre-release" and _digits(identifier) == len(identifier):
            yield from _faults_of_value(identifier, at, "a number in the pre-release")
        at += len(identifier) + 1


def _digits(text: str) -> int:
    """How many ASCII digits a text starts with."""
    return len(text) - len(text.lstrip(_DIGITS))
