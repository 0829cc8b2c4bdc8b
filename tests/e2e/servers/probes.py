"""HTTP requests that tell whether a program is ready."""

from __future__ import annotations

__all__ = ["http_get"]

from http.client import HTTPException
from typing import Final
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

_WITHOUT_PROXY: Final = build_opener(ProxyHandler({}))


def http_get(url: str) -> bytes | None:
    """Return the body of a 200 response; None for an error status, a timeout or a broken connection."""
    try:
        with _WITHOUT_PROXY.open(url, timeout=5) as response:
            return bytes(response.read())
    except HTTPError as error:
        error.close()
    except (OSError, HTTPException):
        pass
    return None
