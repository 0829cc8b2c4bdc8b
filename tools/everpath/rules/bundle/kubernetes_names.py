"""Validation of Kubernetes names, labels and URLs: each function returns why a string is invalid, or None."""

from __future__ import annotations

__all__ = ["dns_label", "dns_subdomain", "label_value", "qualified_name", "request_uri"]

import re
from functools import lru_cache
from typing import Final

_DNS_LABEL: Final = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*")
_RFC1035_LABEL: Final = re.compile("[a-z](?:[-a-z0-9]*[a-z0-9])?")
_QUALIFIED_PART: Final = re.compile("(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_SCHEME: Final = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_HOST_CHARACTERS: Final = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:\[\]<>\"%]*")
_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_PORT: Final = re.compile(r"(?::\d*)?")

_SUBDOMAIN_LIMIT: Final = 253
_LABEL_LIMIT: Final = 63


@lru_cache(maxsize=4096)
def dns_subdomain(name: str) -> str | None:
    """Validate an RFC 1123 subdomain: labels of lower-case letters, digits and dashes, separated by dots."""
    if len(name) > _SUBDOMAIN_LIMIT:
        return f"it has {len(name)} characters, more than {_SUBDOMAIN_LIMIT}"
    if _SUBDOMAIN.fullmatch(name) is None:
        return (
            "it must consist of lower-case letters, digits, '-' and '.', with a letter or digit at both ends"
        )
    return None


@lru_cache(maxsize=4096)
def dns_label(name: str) -> str | None:
    """Validate an RFC 1035 label: lower-case letters, digits and dashes, starting with a letter."""
    if len(name) > _LABEL_LIMIT:
        return f"it has {len(name)} characters, more than {_LABEL_LIMIT}"
    if _RFC1035_LABEL.fullmatch(name) is None:
        return "it must consist of lower-case letters, digits and '-', and start with a letter"
    return None


@lru_cache(maxsize=4096)
def label_value(value: str) -> str | None:
    """Validate the value of a label."""
    if len(value) > _LABEL_LIMIT:
        return f"it has {len(value)} characters, more than {_LABEL_LIMIT}"
    if value and _QUALIFIED_PART.fullmatch(value) is None:
        return "it must consist of letters, digits, '-', '_' and '.', with a letter or digit at both ends"
    return None


@lru_cache(maxsize=4096)
def qualified_name(key: str) -> str | None:
    """Validate the key of a label or an annotation: `[domain/]name`."""
    domain, slash, name = key.partition("/") if key.count("/") == 1 else ("", "", key)
    if slash and not domain:
        return "its domain is empty"
    if domain and (fault := dns_subdomain(domain)):
        return f"its domain is invalid: {fault}"
    if not name:
        return "its name is empty"
    if len(name) > _LABEL_LIMIT:
        return f"its name has {len(name)} characters, more than {_LABEL_LIMIT}"
    if _QUALIFIED_PART.fullmatch(name) is None:
        return "it must be [domain/]name, of letters, digits, '-', '_' and '.'"
    return None


def request_uri(url: str) -> str | None:
    """Validate an absolute URL, as Go's url.ParseRequestURI does."""
    if any(ord(c) < 0x20 or ord(c) == 0x7F for c in url):
        return "it contains a control character"
    scheme = _SCHEME.match(url)
    rest = url[scheme.end() :] if scheme else url
    if scheme is None and ":" in url.partition("/")[0]:
        return "the part before the colon is not a scheme"
    if scheme is None and not url.startswith("/"):
        return "it has no scheme such as https://"
    return _address_fault(rest) if rest.startswith("/") else None


def _address_fault(rest: str) -> str | None:
    """Validate what follows the scheme."""
    rest = rest.partition("?")[0]
    if rest.startswith("//"):
        host, _, path = rest[2:].partition("/")
        host = host.rpartition("@")[2]
        if (fault := _host_fault(host)) is not None:
            return fault
        rest = path
    return "% is not followed by two hexadecimal digits" if _ESCAPE.search(rest) else None


def _host_fault(host: str) -> str | None:
    if " " in host:
        return "its host contains a space"
    if _HOST_CHARACTERS.fullmatch(host) is None and host.isascii():
        return f"{host!r} is not a valid host"
    _, colon, port = host.rpartition(":")
    if colon and not host.endswith("]") and _PORT.fullmatch(f":{port}") is None:
        return f"{port!r} is not a port"
    return "% is not followed by two hexadecimal digits" if _ESCAPE.search(host) else None
