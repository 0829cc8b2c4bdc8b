"""What is read of a Secret: single entries, for beside them others keep whatever they like.

And how what was read is kept out of what others may read.
"""

from __future__ import annotations

__all__ = ["missing_entries", "redact", "secret_text", "secret_texts"]

import base64
import re
from collections.abc import Iterable, Iterator
from typing import Final

from searchkeeper.kubernetes.operations import Manifest

_ENTITIES: Final = {'"': ("quot",), "&": ("amp",), "<": ("lt",), ">": ("gt",), "'": ("apos",)}


def secret_text(secret: Manifest, entry: str) -> str | None:
    """None where there is no such entry, or nothing in it, or nothing that is text."""
    try:
        return base64.b64decode((secret.get("data") or {})[entry], validate=True).decode() or None
    except (KeyError, ValueError):
        return None


def missing_entries(secret: Manifest, entries: Iterable[str]) -> tuple[str, ...]:
    """Which of these entries it has no text in."""
    return tuple(each for each in entries if secret_text(secret, each) is None)


def secret_texts(manifest: Manifest) -> Iterator[str]:
    """Whatever a Secret, or a part of one, has in it, as it is and as it is written."""
    for entry, written in (manifest.get("data") or {}).items():
        yield from filter(None, (written, secret_text(manifest, entry)))


def redact(text: str, secrets: Iterable[str]) -> str:
    """A text without these, however somebody has quoted them."""
    for each in filter(None, secrets):
        text = re.sub(_as_quoted(each), "…", text)
    return text


def _as_quoted(secret: str) -> str:
    """A pattern of it as it is, and as URLs, JSON and HTML write it, or logs of those."""
    return "".join(map(_character, secret))


def _character(one: str) -> str:
    number = ord(one)
    units = one.encode("utf-16-be").hex()
    ways = [
        rf"\\*{re.escape(one)}",
        "".join(f"%(?i:{byte:02x})" for byte in one.encode()),
        "".join(rf"\\+u(?i:{units[place : place + 4]})" for place in range(0, len(units), 4)),
        f"&#0*{number};",
        f"&#[xX]0*(?i:{number:x});",
        *(f"&{name};" for name in _ENTITIES.get(one, ())),
        *([r"\+"] if one == " " else []),
    ]
    return f"(?:{'|'.join(ways)})"
