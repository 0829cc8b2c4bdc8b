"""Reads single entries of Secrets, and removes their contents from texts."""

from __future__ import annotations

__all__ = ["missing_entries", "redact", "secret_text", "secret_texts"]

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

_HTML_ENTITIES: Final = {'"': "quot", "&": "amp", "<": "lt", ">": "gt", "'": "apos"}


def secret_text(secret: Mapping[str, Any], entry: str) -> str | None:
    """Return the decoded entry, or None when it is missing, empty or not text."""
    try:
        return base64.b64decode((secret.get("data") or {})[entry], validate=True).decode() or None
    except (KeyError, ValueError):
        return None


def missing_entries(secret: Mapping[str, Any], entries: Iterable[str]) -> tuple[str, ...]:
    """Return which of these entries have no text."""
    return tuple(each for each in entries if secret_text(secret, each) is None)


def secret_texts(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values of a Secret or of a patch of one, encoded and decoded."""
    for entry, encoded in (manifest.get("data") or {}).items():
        yield from filter(None, (encoded, secret_text(manifest, entry)))


def redact(text: str, secrets: Iterable[str]) -> str:
    """Replace these secrets in a text, also where they are quoted for a URL, JSON, HTML or a log."""
    for secret in filter(None, secrets):
        text = re.sub("".join(map(_character_pattern, secret)), "…", text)
    return text


def _character_pattern(character: str) -> str:
    code_point = ord(character)
    utf16 = character.encode("utf-16-be").hex()
    spellings = [
        rf"\\*{re.escape(character)}",
        "".join(f"%(?i:{byte:02x})" for byte in character.encode()),
        "".join(rf"\\+u(?i:{utf16[start : start + 4]})" for start in range(0, len(utf16), 4)),
        f"&#0*{code_point};",
        f"&#[xX]0*(?i:{code_point:x});",
    ]
    if character in _HTML_ENTITIES:
        spellings.append(f"&{_HTML_ENTITIES[character]};")
    if character == " ":
        spellings.append(r"\+")
    return f"(?:{'|'.join(spellings)})"
