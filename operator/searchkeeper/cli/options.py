"""Values of options that are told apart from what only looks like them."""

from __future__ import annotations

__all__ = ["EngineAddress", "Seconds", "address"]

import math
from typing import Any, Final
from urllib.parse import urlsplit

import click

_LAST_PORT: Final = 65535
_EMBEDDED: Final = "embedded"


class EngineAddress(click.ParamType[str]):
    """Where an engine answers: `http://HOST:PORT`, or the word `embedded`."""

    name = "url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if "@" in text:
            self.fail("who enters is said by spec.security, and by no address", param, ctx)
        try:
            parts = urlsplit(text)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_address = False
        if text != _EMBEDDED and not is_address:
            self.fail(f"{text!r} is neither http://HOST:PORT, https://HOST:PORT nor embedded", param, ctx)
        return text


class Seconds(click.FloatRange):
    """A number that can be waited for: neither infinite nor none at all."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = float(super().convert(value, param, ctx))
        if not math.isfinite(found):
            self.fail(f"{found} is no number of seconds", param, ctx)
        return found


def address(text: str) -> tuple[str, int]:
    """`HOST:PORT`, where an IPv6 host is in brackets; no host is any. Raises UsageError."""
    host, _, port = text.rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    if not (port.isascii() and port.isdecimal()) or int(port) > _LAST_PORT:
        raise click.UsageError(f"{text!r} is not HOST:PORT")
    if ":" in host and not is_bracketed:
        raise click.UsageError(
            f"{text!r} is not HOST:PORT: an IPv6 address goes in brackets, [{host}]:{port}"
        )
    return host[1:-1] if is_bracketed else host or "0.0.0.0", int(port)
