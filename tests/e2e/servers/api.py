"""A small client of the Kubernetes API: JSON objects by path."""

from __future__ import annotations

__all__ = ["Api", "ApiError", "Object", "conditions"]

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, TypeAlias

Object: TypeAlias = dict[str, Any]


def conditions(manifest: Object) -> list[Object]:
    """Return the conditions of an object. In a new CRD they are null."""
    return list(manifest.get("status", {}).get("conditions") or ())


class ApiError(RuntimeError):
    """An error response. `reason` is that of the Status object: AlreadyExists, Invalid, NotFound …"""

    def __init__(self, code: int, status: Object) -> None:
        self.code = code
        self.reason: str = status.get("reason", "")
        self.message: str = status.get("message", "")
        super().__init__(f"{code} {self.reason}: {self.message}")


class Api:
    """A connection to an API server with a bearer token. It is not thread-safe."""

    def __init__(self, host: str, port: int, token: str, authority: Path) -> None:
        self._address = host, port
        self._token = token
        self._authority = authority
        self._connection: HTTPSConnection | None = None

    def new_connection(self, token: str = "") -> Api:
        """Return a connection to the same server, for another thread or with another token."""
        return Api(*self._address, token or self._token, self._authority)

    def is_ready(self) -> bool:
        try:
            return self._request("GET", "/readyz")[0] == 200
        except (OSError, HTTPException):
            self.close()
            return False

    def get(self, path: str) -> Object:
        return self._call("GET", path)

    def items(self, path: str) -> list[Object]:
        return list(self.get(path)["items"])

    def create(self, path: str, manifest: Object) -> Object:
        return self._call("POST", path, manifest)

    def replace(self, path: str, manifest: Object) -> Object:
        return self._call("PUT", path, manifest)

    def patch(self, path: str, changes: Object) -> Object:
        """Send a JSON merge patch."""
        return self._call("PATCH", path, changes, "application/merge-patch+json")

    def delete(self, path: str, options: Object | None = None) -> Object:
        return self._call("DELETE", path, options)

    def watch_events(self, path: str, version: str) -> Iterator[Object]:
        """Yield changes since this version until the server ends the watch or `interrupt` is called."""
        query = f"{path}?watch=1&allowWatchBookmarks=true&resourceVersion={version}"
        self.close()
        self._connection = HTTPSConnection(*self._address, context=self._tls_context())
        self._connection.request("GET", query, headers={"Authorization": f"Bearer {self._token}"})
        with self._connection.getresponse() as response:
            if response.status >= 400:
                raise _api_error(response.status, response.read())
            for line in response:
                yield json.loads(line)

    def interrupt(self) -> None:
        """End `watch_events` from another thread."""
        if self._connection is not None and self._connection.sock is not None:
            with suppress(OSError):
                self._connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _call(self, method: str, path: str, body: Object | None = None, content_type: str = "") -> Object:
        code, text = self._request(method, path, body, content_type or "application/json")
        if code >= 400:
            raise _api_error(code, text)
        response: Object = json.loads(text)
        return response

    def _request(
        self, method: str, path: str, body: Object | None = None, content_type: str = "application/json"
    ) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": content_type}
        data = None if body is None else json.dumps(body).encode()
        is_reused = self._connection is not None
        try:
            return self._send(method, path, data, headers)
        except (ConnectionError, ssl.SSLEOFError):
            # The server has closed an idle connection before it read this request.
            if not is_reused:
                raise
            return self._send(method, path, data, headers)

    def _send(self, method: str, path: str, data: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = HTTPSConnection(*self._address, context=self._tls_context(), timeout=120)
        try:
            self._connection.request(method, path, data, headers)
            response = self._connection.getresponse()
            return response.status, response.read()
        except BaseException:
            # The rest of this response would be read as the response to the next request.
            self.close()
            raise

    def _tls_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self._authority))
        # The self-signed certificate of kube-apiserver has no Authority Key Identifier.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context


def _api_error(code: int, text: bytes) -> ApiError:
    """Return the error of a response whose body is a Status object or plain text."""
    try:
        return ApiError(code, json.loads(text))
    except ValueError:
        return ApiError(code, {"message": text.decode(errors="replace")})
