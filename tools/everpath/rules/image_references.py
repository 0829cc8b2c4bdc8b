"""Image references, with the grammar that opm uses (containers/image, ParseNormalizedNamed).

A reference is `[host[:port]/]path[:tag][@digest]`; without a host it is on Docker Hub.
"""

from __future__ import annotations

__all__ = ["corrected_reference", "reference_error"]

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

_DOMAIN_PART: Final = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_DOMAIN: Final = rf"{_DOMAIN_PART}(?:\.{_DOMAIN_PART})*(?::[0-9]+)?"
# Go's pattern allows an empty separator; in Python that causes catastrophic backtracking.
_PATH_PART: Final = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_PATH: Final = f"{_PATH_PART}(?:/{_PATH_PART})*"
_TAG: Final = "[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}"
_DIGEST: Final = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_REFERENCE: Final = re.compile(f"(?P<name>(?:{_DOMAIN}/)?{_PATH})(?::{_TAG})?(?:@(?P<digest>{_DIGEST}))?")

_IDENTIFIER: Final = re.compile("[a-f0-9]{64}")
_SCHEME: Final = re.compile("[a-z]+://")
_HEX: Final = re.compile("[a-f0-9]*")

#: The number of hexadecimal digits by digest algorithm.
_DIGEST_LENGTHS: Final[Mapping[str, int]] = {"sha256": 64, "sha384": 96, "sha512": 128}
_NAME_LIMIT: Final = 255
#: The maximal length: 255 for the name, 128 for a tag, 135 for a digest.
_LIMIT: Final = 520
#: The maximal length of a text to correct: the cost is quadratic.
_MAX_CORRECTED: Final = 2 * _LIMIT
#: More images than the largest catalog has; a smaller cache would evict entries before reuse.
_CACHE_SIZE: Final = 2**15


@lru_cache(maxsize=_CACHE_SIZE)
def reference_error(text: str) -> str | None:
    """Return why a text is not an image reference, or None. Cached: releases share most of their images."""
    if _IDENTIFIER.fullmatch(text):
        return "64 hexadecimal digits are the id of an image, not its name"
    domain, rest = _split(text)
    if rest.partition(":")[0] != rest.partition(":")[0].lower():
        return "the path must be in lower case"
    found = _REFERENCE.fullmatch(f"{domain}/{rest}") if len(text) <= _LIMIT else None
    if found is None:
        return _reason(text)
    if len(found["name"]) > _NAME_LIMIT:
        return f"the name has more than {_NAME_LIMIT} characters"
    return _digest_fault(found["digest"]) if found["digest"] else None


def corrected_reference(text: str) -> str | None:
    """Return the reference that was probably intended by an invalid one, or None."""
    guess = text.strip()
    if len(guess) > _MAX_CORRECTED:
        return None
    guess = _SCHEME.sub("", guess, count=1).strip("/")
    name, at, digest = guess.partition("@")
    path, colon, tag = name.rpartition(":")
    if not colon or "/" in tag:
        path, colon, tag = name, "", ""
    guess = f"{path.lower()}{colon}{tag}{at}{digest}"
    return guess if reference_error(guess) is None else None


def _split(text: str) -> tuple[str, str]:
    """Split host and path as Docker does: a host has a dot or a port, or is localhost."""
    first, slash, rest = text.partition("/")
    if not slash or not ("." in first or ":" in first or first == "localhost"):
        first, rest = "docker.io", text
    if first == "index.docker.io":
        first = "docker.io"
    if first == "docker.io" and "/" not in rest:
        rest = f"library/{rest}"
    return first, rest


def _digest_fault(digest: str) -> str | None:
    algorithm, _, code = digest.partition(":")
    length = _DIGEST_LENGTHS.get(algorithm)
    if length is None:
        return f"the digest algorithm {algorithm} is unknown: use {', '.join(_DIGEST_LENGTHS)}"
    if len(code) != length:
        return f"a {algorithm} digest has {length} hexadecimal digits, not {len(code)}"
    return None if _HEX.fullmatch(code) else "the digest must be in lower case"


def _reason(text: str) -> str:
    if len(text) > _LIMIT:
        return f"it has {len(text)} characters, more than {_LIMIT}"
    if (scheme := _SCHEME.match(text)) is not None:
        return f"it starts with {scheme[0]}"
    if any(character.isspace() for character in text):
        return "it contains white space"
    if "@" in text:
        return "the part after @ is not a digest such as sha256:…"
    return "it is not of the form [host/]path[:tag][@digest]"
