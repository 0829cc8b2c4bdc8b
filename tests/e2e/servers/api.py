"""A Kubernetes API server, as much of it as tests need: JSON objects by their paths."""

from __future__ import annotations

__all__ = ["Api", "Object", "RefusedError", "conditions"]

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, TypeAlias

Object: TypeAlias = dict[str, Any]


def conditions(thing: Object) -> list[Object]:
    """A thing's conditions. A young CustomResourceDefinition carries them as null, not as a list."""
    return list(thing.get("status", {}).get("conditions") or ())


class RefusedError(RuntimeError):
    """The API server said no; `reason` is its word for it: AlreadyExists, Invalid, NotFound …"""

    def __init__(self, code: int, status: Object) -> None:
        self.code = code
        self.reason: str = status.get("reason", "")
        self.message: str = status.get("message", "")
        super().__init__(f"{code} {self.reason}: {self.message}")


class Api:
    """One connection to an API server, as the bearer of a token. Not for two threads at once."""

    def __init__(self, host: str, port: int, token: str, authority: Path) -> None:
        self._address = host, port
        self._token = token
        self._authority = authority
        self._connection: HTTPSConnection | None = None

    def another(self, token: str = "") -> Api:
        """A connection to the same server, for another thread, or for the bearer of another token."""
        return Api(*self._address, token or self._token, self._authority)

    def is_ready(self) -> bool:
        try:
            return self._answer("GET", "/readyz")[0] == 200
        except (OSError, HTTPException):
            self.close()
            return False

    def get(self, path: str) -> Object:
        return self._call("GET", path)

    def items(self, path: str) -> list[Object]:
        return list(self.get(path)["items"])

    def create(self, path: str, made: Object) -> Object:
        return self._call("POST", path, made)

    def replace(self, path: str, made: Object) -> Object:
        return self._call("PUT", path, made)

    def merge(self, path: str, changes: Object) -> Object:
        return self._call("PATCH", path, changes, "application/merge-patch+json")

    def delete(self, path: str, options: Object | None = None) -> Object:
        return self._call("DELETE", path, options)

    def events(self, path: str, version: str) -> Iterator[Object]:
        """Every change since that version, from the server as long as it likes, or until `interrupt`."""
        query = f"{path}?watch=1&allowWatchBookmarks=true&resourceVersion={version}"
        self.close()
        self._connection = HTTPSConnection(*self._address, context=self._trust())
        self._connection.request("GET", query, headers={"Authorization": f"Bearer {self._token}"})
        with self._connection.getresponse() as response:
            if response.status >= 400:
                raise _refused(response.status, response.read())
            for line in response:
                yield json.loads(line)

    def interrupt(self) -> None:
        """Ends, from another thread, what `events` waits for."""
        if self._connection is not None and self._connection.sock is not None:
            with suppress(OSError):
                self._connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _call(self, method: str, path: str, body: Object | None = None, kind: str = "") -> Object:
        code, text = self._answer(method, path, body, kind or "application/json")
        if code >= 400:
            raise _refused(code, text)
        answer: Object = json.loads(text)
        return answer

    def _answer(
        self, method: str, path: str, body: Object | None = None, kind: str = "application/json"
    ) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        sent = None if body is None else json.dumps(body).encode()
        is_used = self._connection is not None
        try:
            return self._exchange(method, path, sent, headers)
        except (ConnectionError, ssl.SSLEOFError):
            # The server ends connections that are idle for long, and has not seen what came too late.
            if not is_used:
                raise
            return self._exchange(method, path, sent, headers)

    def _exchange(
        self, method: str, path: str, sent: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = HTTPSConnection(*self._address, context=self._trust(), timeout=120)
        try:
            self._connection.request(method, path, sent, headers)
            response = self._connection.getresponse()
            return response.status, response.read()
        except BaseException:
            # Whatever is half said would be taken for the answer to the next call.
            self.close()
            raise

    def _trust(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self._authority))
        # The certificate that kube-apiserver makes for itself does not name its issuer's key.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context


def _refused(code: int, text: bytes) -> RefusedError:
    """What is not served, or comes while the server is busy, is refused in plain words."""
    try:
        return RefusedError(code, json.loads(text))
    except ValueError:
        return RefusedError(code, {"message": text.decode(errors="replace")})
