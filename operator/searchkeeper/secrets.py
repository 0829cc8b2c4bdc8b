"""What is read of a Secret: single entries, for beside them others keep whatever they like."""

from __future__ import annotations

__all__ = ["lacking", "text_in"]

import base64
from collections.abc import Iterable

from searchkeeper.writes import Manifest


def text_in(secret: Manifest, entry: str) -> str | None:
    """None where there is no such entry, or nothing in it, or nothing that is text."""
    try:
        return base64.b64decode((secret.get("data") or {})[entry], validate=True).decode() or None
    except (KeyError, ValueError):
        return None


def lacking(secret: Manifest, entries: Iterable[str]) -> tuple[str, ...]:
    """Which of these entries it has no text in."""
    return tuple(each for each in entries if text_in(secret, each) is None)
