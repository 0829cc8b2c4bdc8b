"""A fake registry on loopback with the OCI distribution API and fault injection."""

from __future__ import annotations

__all__ = ["FakeRegistry", "Fault", "ReceivedRequest", "Reply", "digest", "error_reply", "run_registry"]

import hashlib
import json
import re
import ssl
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit


@dataclass(frozen=True)
class ReceivedRequest:
    """A request that the registry received. Names of headers are in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Reply:
    """A response. `cut` closes the connection after that many bytes of the body; status 0 without any."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None


#: Gets a request before the registry, and may return the response.
Fault = Callable[[ReceivedRequest], Reply | None]


def error_reply(status: int, code: str, message: str = "") -> Reply:
    body = json.dumps({"errors": [{"code": code, "message": message or code.lower()}]}).encode()
    return Reply(status, body, {"Content-Type": "application/json"})


class FakeRegistry:
    """The content of a registry, the requests that it received, and the faults to inject."""

    def __init__(self) -> None:
        self.blobs: dict[str, dict[str, bytes]] = {}
        self.manifests: dict[str, dict[str, tuple[str, bytes]]] = {}
        self.uploads: dict[str, bytearray] = {}
        self.requests: list[ReceivedRequest] = []
        self.faults: list[Fault] = []
        self.users: dict[str, str] = {}
        self.identity_tokens: set[str] = set()
        self.tokens: dict[str, list[str]] = {}
        self.scheme: str | None = None
        self.realm = ""
        self.mounts = True
        #: Whether manifests with unknown blobs are rejected.
        self.checks_references = True
        self.address = ""
        self._count = 0

    def paths(self, method: str) -> list[str]:
        """Return the paths of the requests with a method."""
        return [request.path for request in self.requests if request.method == method]

    def fail_next(self, method: str, pattern: str, *replies: Reply | None) -> None:
        """Reply to the next matching requests in order; None lets a request through."""
        left = list(replies)

        def fault(request: ReceivedRequest) -> Reply | None:
            if left and request.method == method and re.search(pattern, request.path):
                return left.pop(0)
            return None

        self.faults.append(fault)

    def tag(self, repository: str, tag: str) -> bytes | None:
        """Return the manifest of a tag."""
        found = self.manifests.get(repository, {}).get(tag)
        return found[1] if found else None

    def respond(self, request: ReceivedRequest) -> Reply:
        self.requests.append(request)
        for fault in self.faults:
            if (reply := fault(request)) is not None:
                return reply
        if request.path == "/token":
            return self._token(request)
        denied = self._authentication_error(request)
        if denied is not None:
            return denied
        if request.path == "/v2/":
            return Reply(200, b"{}")
        match = re.fullmatch(r"/v2/(.+)/(blobs/uploads|blobs|manifests)/([^/]*)", request.path)
        if match is None:
            return error_reply(404, "NAME_UNKNOWN")
        repository, kind, name = match.groups()
        verb: Any = getattr(self, f"_{request.method.lower()}_{kind.rpartition('/')[2]}", None)
        reply = verb(request, repository, name) if verb else error_reply(405, "UNSUPPORTED")
        assert isinstance(reply, Reply)
        return reply

    def _authentication_error(self, request: ReceivedRequest) -> Reply | None:
        header = request.headers.get("authorization", "")
        if self.scheme == "basic":
            if header.startswith("Basic ") and self._is_valid_login(header):
                return None
            return Reply(401, b"", {"WWW-Authenticate": 'Basic realm="here"'})
        if self.scheme == "bearer":
            scopes = self.tokens.get(header.removeprefix("Bearer "))
            repository = re.sub(r"^/v2/|/(blobs|manifests)/.*$", "", request.path)
            action = "pull" if request.method in ("GET", "HEAD") else "push"
            if scopes is not None and any(_allows(scope, repository, action) for scope in scopes):
                return None
            scope = f"repository:{repository}:{'pull' if action == 'pull' else 'pull,push'}"
            challenge = (
                f'Bearer realm="{self.realm or self.address + "/token"}",service="test",scope="{scope}"'
            )
            return Reply(401, b"", {"WWW-Authenticate": challenge})
        return None

    def _is_valid_login(self, header: str) -> bool:
        user, _, password = b64decode(header.removeprefix("Basic ")).decode().partition(":")
        return self.users.get(user) == password

    def _token(self, request: ReceivedRequest) -> Reply:
        if request.method == "POST":
            form = dict(parse_qsl(request.body.decode()))
            if form.get("refresh_token") not in self.identity_tokens:
                return error_reply(401, "UNAUTHORIZED", "unknown identity token")
            scopes = form["scope"].split()
        else:
            header = request.headers.get("authorization", "")
            if self.users and not (header and self._is_valid_login(header)):
                return error_reply(401, "UNAUTHORIZED", "wrong password")
            scopes = request.query.get("scope", "").split()
        token = f"token{len(self.tokens)}"
        self.tokens[token] = scopes
        return Reply(200, json.dumps({"token": token, "expires_in": 300}).encode())

    def _head_blobs(self, _request: ReceivedRequest, repository: str, name: str) -> Reply:
        data = self.blobs.get(repository, {}).get(name)
        return error_reply(404, "BLOB_UNKNOWN") if data is None else Reply(200, data)

    def _get_blobs(self, request: ReceivedRequest, repository: str, name: str) -> Reply:
        data = self.blobs.get(repository, {}).get(name)
        if data is None:
            return error_reply(404, "BLOB_UNKNOWN")
        start = re.fullmatch(r"bytes=(\d+)-", request.headers.get("range", ""))
        return Reply(206, data[int(start[1]) :]) if start else Reply(200, data)

    def _head_manifests(self, _request: ReceivedRequest, repository: str, name: str) -> Reply:
        found = self.manifests.get(repository, {}).get(name)
        if found is None:
            return error_reply(404, "MANIFEST_UNKNOWN", "manifest unknown")
        kind, data = found
        return Reply(200, data, {"Content-Type": kind, "Docker-Content-Digest": digest(data)})

    _get_manifests = _head_manifests

    def _put_manifests(self, request: ReceivedRequest, repository: str, name: str) -> Reply:
        document = json.loads(request.body)
        blobs, there = self.blobs.get(repository, {}), self.manifests.setdefault(repository, {})
        named = [document["config"], *document["layers"]] if "layers" in document else []
        if self.checks_references and any(each["digest"] not in blobs for each in named):
            return error_reply(404, "MANIFEST_BLOB_UNKNOWN")
        if self.checks_references and any(
            each["digest"] not in there for each in document.get("manifests", [])
        ):
            return error_reply(404, "MANIFEST_BLOB_UNKNOWN")
        stored = (request.headers["content-type"], request.body)
        there[name] = there[digest(request.body)] = stored
        return Reply(201, b"", {"Docker-Content-Digest": digest(request.body)})

    def _post_uploads(self, request: ReceivedRequest, repository: str, _name: str) -> Reply:
        wanted, other = request.query.get("mount", ""), request.query.get("from", "")
        if self.mounts and wanted in self.blobs.get(other, {}):
            self.blobs.setdefault(repository, {})[wanted] = self.blobs[other][wanted]
            return Reply(201, b"", {"Location": f"/v2/{repository}/blobs/{wanted}"})
        self._count += 1
        self.uploads[f"up{self._count}"] = bytearray()
        return self._upload_state(202, repository, f"up{self._count}")

    def _get_uploads(self, _request: ReceivedRequest, repository: str, name: str) -> Reply:
        return (
            self._upload_state(204, repository, name)
            if name in self.uploads
            else error_reply(404, "BLOB_UPLOAD_UNKNOWN")
        )

    def _patch_uploads(self, request: ReceivedRequest, repository: str, name: str) -> Reply:
        if name not in self.uploads:
            return error_reply(404, "BLOB_UPLOAD_UNKNOWN")
        start, end = map(int, request.headers["content-range"].split("-"))
        if start != len(self.uploads[name]) or end - start + 1 != len(request.body):
            return error_reply(416, "BLOB_UPLOAD_INVALID")
        self.uploads[name] += request.body
        return self._upload_state(202, repository, name)

    def _put_uploads(self, request: ReceivedRequest, repository: str, name: str) -> Reply:
        if name not in self.uploads:
            return error_reply(404, "BLOB_UPLOAD_UNKNOWN")
        data = bytes(self.uploads.pop(name)) + request.body
        if digest(data) != request.query.get("digest"):
            return error_reply(400, "DIGEST_INVALID")
        self.blobs.setdefault(repository, {})[digest(data)] = data
        return Reply(201, b"", {"Docker-Content-Digest": digest(data)})

    def _upload_state(self, status: int, repository: str, name: str) -> Reply:
        held = len(self.uploads[name])
        headers = {"Location": f"/v2/{repository}/blobs/uploads/{name}?state=x"}
        return Reply(status, b"", {**headers, "Range": f"0-{max(held - 1, 0)}"})


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _allows(scope: str, repository: str, action: str) -> bool:
    _, name, actions = scope.split(":")
    return name == repository and action in actions.split(",")


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing: some tests close the connection during the TLS handshake."""


@contextmanager
def run_registry(certificate: tuple[str, str] | None = None) -> Iterator[FakeRegistry]:
    """Run a registry; with a certificate and its key over TLS."""
    state = FakeRegistry()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            url = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", "0")))
            query = {key: " ".join(values) for key, values in parse_qs(url.query).items()}
            self._write(state.respond(ReceivedRequest(self.command, url.path, query, headers, body)))

        def _write(self, reply: Reply) -> None:
            if reply.status == 0:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.status != 204:
                self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body if reply.cut is None else reply.body[: reply.cut])
            self.close_connection = self.close_connection or reply.cut is not None

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815 - the library's names

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    state.address = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
