"""What Kubernetes takes for a name, a label, a key: why a text is none, or None if it is one."""

from __future__ import annotations

__all__ = ["dns_label", "dns_subdomain", "label_value", "qualified_name", "request_uri"]

import re
from functools import lru_cache
from typing import Final

_DNS_LABEL: Final = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*")
_OLD_LABEL: Final = re.compile("[a-z](?:[-a-z0-9]*[a-z0-9])?")
_WORD: Final = re.compile("(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_SCHEME: Final = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_HOST_CHARACTERS: Final = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:\[\]<>\"%]*")
_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_PORT: Final = re.compile(r"(?::\d*)?")

_LONGEST_SUBDOMAIN: Final = 253
_LONGEST_LABEL: Final = 63


@lru_cache(maxsize=4096)
def dns_subdomain(name: str) -> str | None:
    """RFC 1123: labels of lower case letters, digits and dashes, with dots between them."""
    if len(name) > _LONGEST_SUBDOMAIN:
        return f"it has {len(name)} characters, more than {_LONGEST_SUBDOMAIN}"
    if _SUBDOMAIN.fullmatch(name) is None:
        return (
            "it must consist of lower case letters, digits, '-' and '.', with a letter or digit at each end"
        )
    return None


@lru_cache(maxsize=4096)
def dns_label(name: str) -> str | None:
    """RFC 1035: lower case letters, digits and dashes, beginning with a letter."""
    if len(name) > _LONGEST_LABEL:
        return f"it has {len(name)} characters, more than {_LONGEST_LABEL}"
    if _OLD_LABEL.fullmatch(name) is None:
        return "it must consist of lower case letters, digits and '-', and begin with a letter"
    return None


@lru_cache(maxsize=4096)
def label_value(value: str) -> str | None:
    """What a label may say."""
    if len(value) > _LONGEST_LABEL:
        return f"it has {len(value)} characters, more than {_LONGEST_LABEL}"
    if value and _WORD.fullmatch(value) is None:
        return "it must consist of letters, digits, '-', '_' and '.', with a letter or digit at each end"
    return None


@lru_cache(maxsize=4096)
def qualified_name(key: str) -> str | None:
    """The key of a label or an annotation: `[domain/]name`."""
    domain, slash, name = key.partition("/") if key.count("/") == 1 else ("", "", key)
    if slash and not domain:
        return "nothing stands before its slash"
    if domain and (fault := dns_subdomain(domain)):
        return f"before its slash {fault}"
    if not name:
        return "it has no name"
    if len(name) > _LONGEST_LABEL:
        return f"its name has {len(name)} characters, more than {_LONGEST_LABEL}"
    if _WORD.fullmatch(name) is None:
        return "it must be [domain/]name, of letters, digits, '-', '_' and '.'"
    return None


def request_uri(url: str) -> str | None:
    """Why a link cannot be followed: it is no absolute address (Go's ParseRequestURI)."""
    if any(ord(c) < 0x20 or ord(c) == 0x7F for c in url):
        return "there is a control character in it"
    scheme = _SCHEME.match(url)
    rest = url[scheme.end() :] if scheme else url
    if scheme is None and ":" in url.partition("/")[0]:
        return "what stands before its colon is no scheme"
    if scheme is None and not url.startswith("/"):
        return "it has no scheme such as https://"
    return _address_fault(rest) if rest.startswith("/") else None


def _address_fault(rest: str) -> str | None:
    """What is wrong behind the scheme."""
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
        return "there is a blank in the name of its host"
    if _HOST_CHARACTERS.fullmatch(host) is None and host.isascii():
        return f"{host!r} is no name of a host"
    _, colon, port = host.rpartition(":")
    if colon and not host.endswith("]") and _PORT.fullmatch(f":{port}") is None:
        return f"{port!r} is no port"
    return "% is not followed by two hexadecimal digits" if _ESCAPE.search(host) else None
