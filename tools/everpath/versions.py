"""Versions as OLM reads them: SemVer 2 as parsed and ordered by blang/semver v4.0.0.

Differences from SemVer 2: a number has at most 64 bits, and build metadata counts neither for order nor for
equality. `parse` is as strict as blang's Parse, `parse_tolerant` accepts what blang's ParseTolerant does.
"""

from __future__ import annotations

__all__ = [
    "GO_SPACES",
    "UINT64_MAX",
    "Key",
    "Version",
    "VersionError",
    "parse",
    "parse_or_none",
    "parse_tolerant",
    "parse_tolerant_or_none",
    "release_error",
    "underline",
    "version_suffix",
]

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

#: The sort key of a version: major, minor, patch, then 1 for a release, or 0 and the identifiers of a
#: pre-release. Comparison of these tuples is SemVer precedence.
Key: TypeAlias = tuple[int | tuple[int, int] | tuple[int, str], ...]

#: The largest number in a version that blang accepts.
UINT64_MAX: Final = 2**64 - 1

#: What Go's strings.TrimSpace removes; str.strip() would also remove \x1c to \x1f.
GO_SPACES: Final = (
    "\t\n\v\f\r \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

# A version at the end of a name: after `.v`, otherwise after the first separator followed by a version.
_VERSION_SUFFIXES: Final = (
    re.compile(r"\.v(\d+\.\d+\.\d+.*)$"),
    re.compile(r"(?:^|[._-])v*(\d+\.\d+\.\d+.*)$"),
)

# Matches nearly every published version. Numbers of 18 digits always fit into 64 bits.
_NUMBER: Final = "(?:0|[1-9][0-9]{0,17})"
_COMMON_VERSION: Final = re.compile(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-((?:[A-Za-z][0-9A-Za-z-]*|{_NUMBER})(?:\.(?:[A-Za-z][0-9A-Za-z-]*|{_NUMBER}))*))?"
)

_DIGITS: Final = "0123456789"
_IDENTIFIER_CHARACTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + _DIGITS + "-"

# OperatorHub has far fewer distinct versions.
_CACHE_SIZE: Final = 2**16

# The longest text that `underline` shows in full.
_MAX_SHOWN: Final = 120


class VersionError(ValueError):
    """A text that is not a version, with the position of the error and the reason."""

    def __init__(self, text: str, position: int, reason: str) -> None:
        super().__init__(text, position, reason)
        self.text = text
        self.position = position
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.text!r} is not a version: {self.reason}"

    def pretty(self) -> str:
        """Return two lines: the text, and a caret under the error with the reason."""
        return underline(self.text, self.position, self.position + 1, self.reason)


class Version:
    """An immutable version, created by `parse`. Equality, order and hash ignore build metadata."""

    __slots__ = ("build", "key", "major", "minor", "patch", "prerelease", "text")

    major: int
    minor: int
    patch: int
    prerelease: tuple[str | int, ...]
    build: tuple[str, ...]
    text: str
    key: Key

    @staticmethod
    def parse(text: str) -> Version:
        """Parse a strict SemVer 2 version. Raises VersionError."""
        return parse(text)

    def __init__(
        self,
        numbers: tuple[int, int, int],
        prerelease: tuple[str | int, ...],
        build: tuple[str, ...],
        text: str,
        key: Key,
    ) -> None:
        set_field = super().__setattr__
        set_field("major", numbers[0])
        set_field("minor", numbers[1])
        set_field("patch", numbers[2])
        set_field("prerelease", prerelease)
        set_field("build", build)
        set_field("text", text)
        set_field("key", key)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: `parse` returns the same object to every caller."""
        raise AttributeError(f"{name} of a version cannot be changed")

    def __reduce__(self) -> tuple[type[Version], tuple[object, ...]]:
        numbers = (self.major, self.minor, self.patch)
        return Version, (numbers, self.prerelease, self.build, self.text, self.key)

    def __repr__(self) -> str:
        return f"Version({self.text!r})"

    @property
    def minor_stream(self) -> tuple[int, int]:
        """The major and minor number. Versions with the same ones form a z-stream."""
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


@lru_cache(maxsize=_CACHE_SIZE)
def parse(text: str) -> Version:
    """Parse a version as strictly as blang's Parse. `str` of the result is the text.

    Results are cached. Raises VersionError.
    """
    match = _COMMON_VERSION.fullmatch(text)
    if match is None:
        return _parse_uncommon(text)
    prerelease = _parse_prerelease(match[4])
    numbers = (int(match[1]), int(match[2]), int(match[3]))
    return Version(numbers, prerelease, (), text, _key(numbers, prerelease))


def parse_or_none(text: str | None) -> Version | None:
    """Parse a version; return None for None and for a text that is not a version.

    Cost: the first text that is not a common version, such as a name, imports semver (milliseconds). Rules
    call this only with texts that are meant to be versions; those of entries are in `ChannelGraph.versions`.
    """
    if text is None:
        return None
    try:
        return parse(text)
    except VersionError:
        return None


@lru_cache(maxsize=_CACHE_SIZE)
def parse_tolerant(text: str) -> Version:
    """Parse a version as blang's ParseTolerant does. OLM v0 reads the version of a CSV this way.

    Accepts surrounding space, one leading `v`, leading zeros in the three numbers, and a missing minor or
    patch number. Refuses a short version with a pre-release or build, and a pre-release number with leading
    zeros. Results are cached. Raises VersionError with a position in the original text.
    """
    if _COMMON_VERSION.fullmatch(text):
        return parse(text)
    segments = _split_tolerant(text)
    try:
        return parse(".".join(segment.text for segment in segments))
    except VersionError as error:
        raise VersionError(text, _original_position(segments, error.position), error.reason) from None


def parse_tolerant_or_none(text: str | None) -> Version | None:
    """Parse a version as OLM v0 does; return None for None and for a text that OLM v0 cannot parse."""
    if not text:
        return None
    try:
        return parse_tolerant(text)
    except VersionError:
        return None


def release_error(text: str) -> str | None:
    """Return why a text is not the release of a bundle, which has the grammar of a pre-release; else None."""
    errors = _identifier_errors(text, 0, "release", has_numbers=True)
    return next((reason for _, reason in errors), None)


def version_suffix(name: str) -> str | None:
    """Return the part at the end of a name, such as a bundle's, that looks like a version."""
    return next((match[1] for pattern in _VERSION_SUFFIXES if (match := pattern.search(name))), None)


def underline(text: str, start: int, end: int, reason: str) -> str:
    """Return two lines: the text, and carets under text[start:end] followed by the reason.

    Of a long text, only the part around `start` is shown.
    """
    first = max(0, start - _MAX_SHOWN // 2) if len(text) > _MAX_SHOWN else 0
    part = text[first : first + _MAX_SHOWN]
    prefix, suffix = "…" if first else "", "…" if first + len(part) < len(text) else ""
    shown = "".join(c if c.isprintable() else "·" for c in part)
    begin, last = len(prefix) + start - first, len(prefix) + min(end - first, len(part))
    return f"{prefix}{shown}{suffix}\n{' ' * begin}{'^' * max(1, last - begin)} {reason}"


def _parse_uncommon(text: str) -> Version:
    import semver  # noqa: PLC0415 - rarely needed, and it imports argparse

    try:
        found = semver.Version.parse(text)
    except ValueError:
        raise VersionError(text, *next(_find_errors(text))) from None
    prerelease = _parse_prerelease(found.prerelease)
    numbers = (found.major, found.minor, found.patch)
    if any(isinstance(n, int) and n > UINT64_MAX for n in (*numbers, *prerelease)):
        raise VersionError(text, *next(_find_errors(text)))
    build = tuple(found.build.split(".")) if found.build else ()
    return Version(numbers, prerelease, build, text, _key(numbers, prerelease))


def _parse_prerelease(text: str | None) -> tuple[str | int, ...]:
    return tuple(_parse_number(i) if i.isdecimal() else i for i in text.split(".")) if text else ()


def _parse_number(digits: str) -> int:
    """Return the value, or some value above UINT64_MAX: Python refuses to parse thousands of digits."""
    return int(digits[: len(str(UINT64_MAX)) + 1])


def _key(numbers: tuple[int, int, int], prerelease: tuple[str | int, ...]) -> Key:
    if not prerelease:
        return (*numbers, 1)
    return (*numbers, 0, *((0, i) if isinstance(i, int) else (1, i) for i in prerelease))


class _Segment(NamedTuple):
    """A part of a tolerantly parsed version without leading zeros, and its end in the original text."""

    text: str
    end: int


def _split_tolerant(text: str) -> list[_Segment]:
    """Split a version into three segments that the strict parser accepts, if ParseTolerant does."""
    body = text.strip(GO_SPACES)
    end = text.index(body)
    if body.startswith("v"):
        body, end = body[1:], end + 1
    segments: list[_Segment] = []
    for part in body.split(".", 2):
        end += len(part)
        segments.append(_Segment(_strip_leading_zeros(part), end))
        end += 1
    # A short version with a pre-release or build needs no check here: `parse` refuses `1-rc.0.0`.
    return segments + [_Segment("0", len(text))] * (3 - len(segments))


def _strip_leading_zeros(part: str) -> str:
    if len(part) < 2:
        return part
    rest = part.lstrip("0")
    return rest if rest[:1].isdecimal() else "0" + rest


def _original_position(segments: list[_Segment], position: int) -> int:
    """Map a position in the joined segments to one in the original text.

    Zeros are removed at the left of a segment, so the distance to its right end is the same in both.
    """
    *before, segment = segments
    for earlier in before:
        if position <= len(earlier.text):
            segment = earlier
            break
        position -= len(earlier.text) + 1
    return segment.end - (len(segment.text) - position)


def _find_errors(text: str) -> Iterator[tuple[int, str]]:
    """Yield position and reason of each error in a version, from left to right.

    Yields nothing if and only if `parse` accepts the text.
    """
    numbers = text.split(".", 2)
    release, plus, build = numbers[-1].partition("+")
    patch, dash, prerelease = release.partition("-")
    is_short = len(numbers) < 3
    if not is_short:
        numbers[2] = patch
    at = 0
    for name, number in zip(("major", "minor", "patch"), numbers, strict=False):
        yield from _number_errors(number, at, name)
        at += len(number) + 1
    if is_short:
        yield len(text), "a version has three numbers, MAJOR.MINOR.PATCH"
        return
    if dash:
        yield from _identifier_errors(prerelease, at, "pre-release", has_numbers=True)
        at += len(prerelease) + 1
    if plus:
        yield from _identifier_errors(build, at, "build", has_numbers=False)


def _number_errors(number: str, at: int, name: str) -> Iterator[tuple[int, str]]:
    digits = _count_digits(number)
    position = at + digits
    if digits < len(number):
        character = number[digits]
        if position == 0:
            reason = "a version starts with a digit" + (", not with a v" if character in "vV" else "")
        elif character in "-+":
            reason = "a pre-release or build comes after all three numbers, MAJOR.MINOR.PATCH"
        else:
            reason = f"{character!r} is not allowed in a number"
        yield position, reason
    elif not number:
        yield at, f"the {name} number is missing" if at else "a version starts with a digit"
    else:
        yield from _value_errors(number, at, f"the {name} number")


def _value_errors(number: str, at: int, what: str) -> Iterator[tuple[int, str]]:
    if len(number) > 1 and number[0] == "0":
        yield at, f"{what} has a leading zero"
    elif _parse_number(number) > UINT64_MAX:
        yield at, f"{what} does not fit into 64 bits"


def _identifier_errors(joined: str, at: int, name: str, *, has_numbers: bool) -> Iterator[tuple[int, str]]:
    """Yield the errors in identifiers. `has_numbers`: those of digits are numbers, without leading zeros."""
    for identifier in joined.split("."):
        allowed = len(identifier) - len(identifier.lstrip(_IDENTIFIER_CHARACTERS))
        if not identifier:
            yield at, f"the {name} has an empty identifier"
        elif allowed < len(identifier):
            character = identifier[allowed]
            yield at + allowed, f"{character!r} is not allowed in a {name}: only letters, digits and -"
        elif has_numbers and _count_digits(identifier) == len(identifier):
            yield from _value_errors(identifier, at, f"a number in the {name}")
        at += len(identifier) + 1


def _count_digits(text: str) -> int:
    """Return how many ASCII digits a text starts with."""
    return len(text) - len(text.lstrip(_DIGITS))
