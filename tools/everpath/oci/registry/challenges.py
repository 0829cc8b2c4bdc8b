"""What a registry asks for when it says 401: the WWW-Authenticate header, read."""

from __future__ import annotations

__all__ = ["Challenge", "parse_challenges"]

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

_WORD: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER: Final = re.compile(rf'\s*,?\s*({_WORD})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|({_WORD}))')
_SCHEME: Final = re.compile(rf"\s*,?\s*({_WORD})(?=\s|,|$)")
_ESCAPED: Final = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Challenge:
    """A scheme in lower case and what it says of itself."""

    scheme: str
    parameters: Mapping[str, str] = field(default_factory=dict)


def parse_challenges(header: str) -> tuple[Challenge, ...]:
    """Every challenge of a header, in its order; what cannot be read ends the list."""
    return tuple(_challenges(header))


def _challenges(header: str) -> Iterator[Challenge]:
    position = 0
    while match := _SCHEME.match(header, position):
        position = match.end()
        parameters: dict[str, str] = {}
        while (found := _PARAMETER.match(header, position)) is not None:
            quoted, bare = found.group(2), found.group(3)
            parameters[found.group(1).lower()] = _ESCAPED.sub(r"\1", quoted) if quoted is not None else bare
            position = found.end()
        yield Challenge(match.group(1).lower(), parameters)
