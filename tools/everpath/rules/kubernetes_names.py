"""Validation of Kubernetes names and labels: each function returns why a string is invalid, or None."""

from __future__ import annotations

__all__ = [
    "LABEL_LIMIT",
    "label_error",
    "label_value_error",
    "qualified_name_error",
    "rfc1035_label_error",
    "subdomain_error",
]

import re
from functools import lru_cache
from typing import Final

#: The maximal length of a DNS label, and of the value of a Kubernetes label.
LABEL_LIMIT: Final = 63
_SUBDOMAIN_LIMIT: Final = 253

_DNS_LABEL: Final = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_LABEL: Final = re.compile(_DNS_LABEL)
_SUBDOMAIN: Final = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*")
_RFC1035_LABEL: Final = re.compile("[a-z](?:[-a-z0-9]*[a-z0-9])?")
_QUALIFIED_PART: Final = re.compile("(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_INVALID_CHARACTER: Final = re.compile("[^a-z0-9.-]")
_CACHE_SIZE: Final = 4096


def _length_error(name: str, limit: int) -> str | None:
    length = len(name.encode(errors="surrogatepass"))
    return f"it has {length} characters, more than {limit}" if length > limit else None


def label_error(name: str) -> str | None:
    """Validate an RFC 1123 label: lower-case letters, digits and dashes."""
    if (error := _length_error(name, LABEL_LIMIT)) or _LABEL.fullmatch(name):
        return error
    return "it has a dot" if _SUBDOMAIN.fullmatch(name) else _character_error(name)


@lru_cache(maxsize=_CACHE_SIZE)
def subdomain_error(name: str) -> str | None:
    """Validate an RFC 1123 subdomain: labels separated by dots."""
    if (error := _length_error(name, _SUBDOMAIN_LIMIT)) or _SUBDOMAIN.fullmatch(name):
        return error
    return _character_error(name)


def _character_error(name: str) -> str:
    if not name:
        return "it is empty"
    if (invalid := _INVALID_CHARACTER.search(name)) is not None:
        return f"{invalid[0]!r} is neither a lower-case letter, a digit, '-' nor '.'"
    return "each of its parts must begin and end with a letter or a digit"


@lru_cache(maxsize=_CACHE_SIZE)
def rfc1035_label_error(name: str) -> str | None:
    """Validate an RFC 1035 label: lower-case letters, digits and dashes, starting with a letter."""
    if (error := _length_error(name, LABEL_LIMIT)) or _RFC1035_LABEL.fullmatch(name):
        return error
    return "it must consist of lower-case letters, digits and '-', and start with a letter"


@lru_cache(maxsize=_CACHE_SIZE)
def label_value_error(value: str) -> str | None:
    """Validate the value of a label, which may be empty."""
    if (error := _length_error(value, LABEL_LIMIT)) or not value or _QUALIFIED_PART.fullmatch(value):
        return error
    return "it must consist of letters, digits, '-', '_' and '.', with a letter or digit at both ends"


@lru_cache(maxsize=_CACHE_SIZE)
def qualified_name_error(key: str) -> str | None:
    """Validate the key of a label or an annotation: `[domain/]name`."""
    domain, slash, name = key.partition("/") if key.count("/") == 1 else ("", "", key)
    if slash and not domain:
        return "its domain is empty"
    if domain and (error := subdomain_error(domain)):
        return f"its domain is invalid: {error}"
    if not name:
        return "its name is empty"
    if error := _length_error(name, LABEL_LIMIT):
        return error.replace("it has", "its name has")
    if _QUALIFIED_PART.fullmatch(name) is None:
        return "it must be [domain/]name, of letters, digits, '-', '_' and '.'"
    return None
