"""Errors of registries, as messages with the host, the repository and a hint."""

from __future__ import annotations

__all__ = ["NOT_A_REGISTRY_HINT", "connection_error", "html_error", "is_html", "response_error"]

import json
from collections.abc import Mapping
from typing import Final

from everpath.errors import Unreachable
from everpath.oci.registry.http_client import (
    ConnectionFailed,
    PermanentFailure,
    RegistryResponse,
    TlsNotSupported,
    retry_after,
)

NOT_A_REGISTRY_HINT: Final = "check that it is a registry with the OCI distribution API (/v2/)"

_MAX_MESSAGE_LENGTH: Final = 300
_STATUS_MEANINGS: Final = {
    401: "authentication required",
    403: "permission denied",
    404: "not found",
    429: "too many requests",
}


def response_error(
    response: RegistryResponse, host: str, name: str, action: str, *, authenticated: bool = False
) -> Unreachable:
    """Return the error for an unexpected response, with the message `HOST refuses to ACTION NAME: REASON`."""
    try:
        body = response.read_body()
    except ConnectionFailed:
        body = b""
    if is_html(response.headers, body):
        return html_error(host, response.status)
    status = response.status
    meaning = _STATUS_MEANINGS.get(status, "server error" if status >= 500 else "unexpected response")
    verb = "cannot" if status == 404 or status >= 500 else "refuses to"
    details = _error_message(body)
    return Unreachable(
        f"{host} {verb} {action} {name}: {meaning} ({status}){f': {details}' if details else ''}",
        hint=_status_hint(response, host, name, authenticated=authenticated),
    )


def html_error(host: str, status: int) -> Unreachable:
    """Return the error for a web page in place of a response of a registry."""
    return Unreachable(
        f"{host} responds with a web page ({status}), not as a registry does",
        hint="check host and port: it may be the web site of the registry, a proxy or a login page",
    )


def connection_error(host: str, error: ConnectionFailed, *, insecure: bool = False) -> Unreachable:
    """Return the error for a host without a response. The hint names --insecure unless it is already set."""
    hint = "check host and port, the network, and HTTPS_PROXY"
    if isinstance(error, TlsNotSupported) and not insecure:
        hint = f"for plain HTTP use --insecure, or EVERPATH_INSECURE={host} for commands that only read"
    elif isinstance(error, PermanentFailure) and not insecure:
        hint = f"--cacert FILE trusts its CA; --insecure (or EVERPATH_INSECURE={host}) trusts any certificate"
    return Unreachable(f"cannot reach the registry {host}: {error}", hint=hint)


def is_html(headers: Mapping[str, str], body: bytes) -> bool:
    content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    return content_type in ("text/html", "application/xhtml+xml") or body.lstrip()[:9].lower().startswith(
        (b"<!doctype", b"<html")
    )


def _status_hint(response: RegistryResponse, host: str, name: str, *, authenticated: bool) -> str:
    if response.status == 401 and not authenticated:
        return f"log in first (`podman login {host}`, `docker login {host}`), or give --username"
    if response.status in (401, 403):
        return f"check that the user who is logged in to {host} has permission for {name}"
    if response.status == 404:
        return "check the repository and the tag; some registries respond so if the user lacks permission"
    if response.status == 429:
        delay = ""
        if retry_after(response.headers, 0.0) is not None:
            text = response.headers["retry-after"].strip()
            delay = f" {text} seconds" if text.isdigit() else f" until {text}"
        return f"wait{delay}, or log in: users have a higher limit"
    if response.status >= 500:
        return "the registry failed: see its log, or try again later"
    return NOT_A_REGISTRY_HINT


def _error_message(body: bytes) -> str:
    """Return the messages of errors in the format of the specification, else the first line of the body."""
    try:
        errors = json.loads(body)["errors"]
        messages = (str(error.get("message") or error.get("code") or "").strip() for error in errors)
        text = ", ".join(filter(None, messages))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        text = body.decode(errors="replace").strip().partition("\n")[0]
    return text[:_MAX_MESSAGE_LENGTH]
