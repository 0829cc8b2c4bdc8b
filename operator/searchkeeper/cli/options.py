"""Types of option values."""

from __future__ import annotations

__all__ = ["EngineAddress", "Seconds", "parse_address"]

import math
from typing import Any, Final
from urllib.parse import urlsplit

import click

_LAST_PORT: Final = 65535
_EMBEDDED: Final = "embedded"


class EngineAddress(click.ParamType[str]):
    """The URL of an engine, `http://HOST:PORT`, or the word `embedded`."""

    name = "url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if "@" in text:
            # The message does not repeat the URL: it has a password.
            self.fail("the URL must not have credentials: set spec.security instead", param, ctx)
        try:
            parts = urlsplit(text)
            is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_valid = False
        if text != _EMBEDDED and not is_valid:
            self.fail(f"{text!r} is neither http://HOST:PORT, https://HOST:PORT nor embedded", param, ctx)
        return text


class Seconds(click.FloatRange):
    """A finite number of seconds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds = float(super().convert(value, param, ctx))
        if not math.isfinite(seconds):
            self.fail(f"{seconds} is not a number of seconds", param, ctx)
        return seconds


def parse_address(text: str) -> tuple[str, int]:
    """Parse `HOST:PORT`. An IPv6 host is in brackets; without a host it is 0.0.0.0. Raises UsageError."""
    host, _, port = text.rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    if not (port.isascii() and port.isdecimal()) or int(port) > _LAST_PORT:
        raise click.UsageError(f"{text!r} is not HOST:PORT")
    if ":" in host and not is_bracketed:
        raise click.UsageError(
            f"{text!r} is not HOST:PORT: put the IPv6 address in brackets, [{host}]:{port}"
        )
    return host[1:-1] if is_bracketed else host or "0.0.0.0", int(port)
