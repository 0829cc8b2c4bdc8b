"""A Kubernetes API server, as much of it as tests need: JSON objects by their paths."""

from __future__ import annotations

__all__ = ["Api", "Object", "RefusedError", "conditions"]

import json
import ssl
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

    def delete(self, path: str) -> Object:
        return self._call("DELETE", path)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _call(self, method: str, path: str, body: Object | None = None, kind: str = "") -> Object:
        code, text = self._answer(method, path, body, kind or "application/json")
        answer: Object = json.loads(text)
        if code >= 400:
            raise RefusedError(code, answer)
        return answer

    def _answer(
        self, method: str, path: str, body: Object | None = None, kind: str = "application/json"
    ) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = HTTPSConnection(*self._address, context=self._trust(), timeout=30)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        sent = None if body is None else json.dumps(body).encode()
        self._connection.request(method, path, sent, headers)
        response = self._connection.getresponse()
        return response.status, response.read()

    def _trust(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self._authority))
        # The certificate that kube-apiserver makes for itself does not name its issuer's key.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context
