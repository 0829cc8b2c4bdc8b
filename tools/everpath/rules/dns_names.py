"""Names that Kubernetes accepts: DNS-1123 labels and subdomains."""

from __future__ import annotations

__all__ = ["LABEL_LIMIT", "label_error", "subdomain_error"]

import re
from typing import Final

#: The maximal length of a DNS-1123 label, and of the value of a Kubernetes label.
LABEL_LIMIT: Final = 63
_SUBDOMAIN_LIMIT: Final = 253

_LABEL: Final = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_IS_LABEL: Final = re.compile(_LABEL)
_IS_SUBDOMAIN: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_INVALID_CHARACTER: Final = re.compile("[^a-z0-9.-]")


def label_error(name: str) -> str | None:
    """Return why a name is not a DNS-1123 label, or None if it is one."""
    if len(name.encode()) > LABEL_LIMIT:
        return f"it has {len(name.encode())} characters, and {LABEL_LIMIT} are allowed"
    if _IS_LABEL.fullmatch(name):
        return None
    return "it has a dot" if _IS_SUBDOMAIN.fullmatch(name) else _character_error(name)


def subdomain_error(name: str) -> str | None:
    """Return why a name is not a DNS-1123 subdomain, or None if it is one."""
    if len(name.encode()) > _SUBDOMAIN_LIMIT:
        return f"it has {len(name.encode())} characters, and {_SUBDOMAIN_LIMIT} are allowed"
    return None if _IS_SUBDOMAIN.fullmatch(name) else _character_error(name)


def _character_error(name: str) -> str:
    if not name:
        return "it is empty"
    if (invalid := _INVALID_CHARACTER.search(name)) is not None:
        return f"{invalid[0]!r} is neither a lower-case letter, a digit, '-' nor '.'"
    return "each of its parts must begin and end with a letter or a digit"
