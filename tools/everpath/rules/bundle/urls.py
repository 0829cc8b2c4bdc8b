"""Validation of URLs in manifests."""

from __future__ import annotations

__all__ = ["url_error"]

import re
from typing import Final

_SCHEME: Final = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_HOST_CHARACTERS: Final = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:\[\]<>\"%]*")
_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_PORT: Final = re.compile(r"(?::\d*)?")


def url_error(url: str) -> str | None:
    """Return why a string is not an absolute URL for Go's url.ParseRequestURI, or None if it is one."""
    if any(ord(c) < 0x20 or ord(c) == 0x7F for c in url):
        return "it contains a control character"
    scheme = _SCHEME.match(url)
    rest = url[scheme.end() :] if scheme else url
    if scheme is None and ":" in url.partition("/")[0]:
        return "the part before the colon is not a scheme"
    if scheme is None and not url.startswith("/"):
        return "it has no scheme such as https://"
    return _address_error(rest) if rest.startswith("/") else None


def _address_error(rest: str) -> str | None:
    """Return why the part after the scheme is invalid."""
    rest = rest.partition("?")[0]
    if rest.startswith("//"):
        host, _, path = rest[2:].partition("/")
        host = host.rpartition("@")[2]
        if (error := _host_error(host)) is not None:
            return error
        rest = path
    return "% is not followed by two hexadecimal digits" if _ESCAPE.search(rest) else None


def _host_error(host: str) -> str | None:
    if " " in host:
        return "its host contains a space"
    if _HOST_CHARACTERS.fullmatch(host) is None and host.isascii():
        return f"{host!r} is not a valid host"
    _, colon, port = host.rpartition(":")
    if colon and not host.endswith("]") and _PORT.fullmatch(f":{port}") is None:
        return f"{port!r} is not a port"
    return "% is not followed by two hexadecimal digits" if _ESCAPE.search(host) else None
