"""A registry's no as a sentence: which host, which repository, and what to do about it."""

from __future__ import annotations

__all__ = ["is_html", "misdirected", "refused", "unreachable"]

import json
from collections.abc import Mapping
from typing import Any, Final

from everpath.errors import Unreachable
from everpath.oci.registry.retries import asked_to_wait
from everpath.oci.registry.transport import Answer, Broken, Lasting, NotTls

_LONGEST: Final = 300
_ELSEWHERE: Final = "check the name and the port, the network, and HTTPS_PROXY"


def refused(answer: Answer, host: str, name: str, what: str, *, authenticated: bool = False) -> Unreachable:
    """The error for an answer that is none of those hoped for. `what` says what was tried."""
    try:
        body = answer.text()
    except Broken:
        body = b""
    if is_html(answer.headers, body):
        return misdirected(host, answer.status)
    said = _said(body)
    because = f": {said}" if said else ""
    verb = "cannot" if answer.status == 404 or answer.status >= 500 else "refuses to"
    message = f"{host} {verb} {what} {name}: {_status(answer.status)}{because}"
    return Unreachable(message, hint=_remedy(answer, host, name, authenticated=authenticated))


def misdirected(host: str, status: int) -> Unreachable:
    """For a page where a registry's answer should be."""
    return Unreachable(
        f"{host} answers with a web page ({status}), not as a registry does",
        hint="is it the registry's own host and port, and not its web site, a proxy or a login page?",
    )


def unreachable(host: str, error: Broken, *, trusted: bool = False) -> Unreachable:
    """For a host that gave no answer at all. Who trusts it already need not be told how to."""
    hint = _way(host, error) if not trusted else _ELSEWHERE
    return Unreachable(f"cannot reach the registry {host}: {error}", hint=hint)


def is_html(headers: Mapping[str, str], body: bytes) -> bool:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind in ("text/html", "application/xhtml+xml") or body.lstrip()[:9].lower().startswith(
        (b"<!doctype", b"<html")
    )


def _way(host: str, error: Broken) -> str:
    if isinstance(error, NotTls):
        return f"if plain HTTP is meant: --insecure, or EVERPATH_INSECURE={host} for commands that only read"
    if isinstance(error, Lasting):
        return f"--cacert FILE trusts its authority; --insecure (or EVERPATH_INSECURE={host}) trusts anybody"
    return _ELSEWHERE


def _status(status: int) -> str:
    names = {
        401: "it does not know who asks",
        403: "this user may not",
        404: "there is no such thing",
        429: "too many requests",
    }
    otherwise = "it fails" if status >= 500 else "an answer that means nothing here"
    return f"{names.get(status, otherwise)} ({status})"


def _remedy(answer: Answer, host: str, name: str, *, authenticated: bool) -> str:
    if answer.status == 401 and not authenticated:
        return f"log in first (`podman login {host}`, `docker login {host}`), or give --username"
    if answer.status in (401, 403):
        return f"is the user that is logged in to {host} allowed to do that to {name}?"
    if answer.status == 404:
        return "check the repository and the tag; some registries say this of what the user may not see"
    if answer.status == 429:
        return f"wait{_until(answer)}, or log in: users have a higher limit"
    if answer.status >= 500:
        return "this is the registry's own trouble: its log says more; try again later"
    return "is it a registry that speaks the OCI distribution API (/v2/)?"


def _until(answer: Answer) -> str:
    """What Retry-After says, which is a number of seconds or a date."""
    text = answer.headers.get("retry-after", "").strip()
    if asked_to_wait(answer.headers, 0.0) is None:
        return ""
    return f" ({text} seconds, it says)" if text.isdigit() else f" (until {text}, it says)"


def _said(body: bytes) -> str:
    """The messages of the specification's errors, or the first line of something else."""
    try:
        errors = json.loads(body)["errors"]
        told = ", ".join(filter(None, map(_message, errors)))
    except (ValueError, LookupError, TypeError, RecursionError):
        told = body.decode(errors="replace").strip().partition("\n")[0]
    return told[:_LONGEST]


def _message(error: Mapping[str, Any]) -> str:
    return str(error.get("message") or error.get("code") or "").strip()
