"""An engine that answers as one did: recorded exchanges, over real HTTP."""

from __future__ import annotations

__all__ = ["ANSWERS", "Exchange", "Replayed", "recording", "replaying"]

import json
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, TypedDict
from urllib.parse import parse_qsl, urlsplit

ANSWERS: Final = Path(__file__).parent / "opensearch_driver" / "answers"


class Exchange(TypedDict):
    """A question and what was answered. `asked` is the body of the question, if it had one."""

    method: str
    path: str
    asked: Any
    status: int
    answer: Any


@dataclass
class Replayed:
    """What it answers, and what it was asked: method, path, query, body, and the headers."""

    exchanges: list[Exchange]
    url: str = ""
    questions: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def answer(self, method: str, path: str, asked: Any) -> Exchange:
        """The answer to that very body where there is one, else to any."""
        fitting = [each for each in self.exchanges if (each["method"], each["path"]) == (method, path)]
        exact = [each for each in fitting if each["asked"] == asked]
        missing: Exchange = {
            "method": method,
            "path": path,
            "asked": asked,
            "status": 418,
            "answer": {"error": f"nobody recorded {method} {path}"},
        }
        return [*exact, *fitting, missing][0]

    def amend(self, method: str, path: str, answer: Any, status: int = 200) -> None:
        """From now on that, whatever was recorded."""
        amended: Exchange = {
            "method": method,
            "path": path,
            "asked": None,
            "status": status,
            "answer": answer,
        }
        kept = [each for each in self.exchanges if (each["method"], each["path"]) != (method, path)]
        self.exchanges = [amended, *kept]

    def changes(self) -> list[tuple[str, str, dict[str, str], Any]]:
        """Every question that was not only one."""
        return [each for each in self.questions if each[0] != "GET" and "explain" not in each[1]]


def recording(name: str) -> list[Exchange]:
    found: list[Exchange] = json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))
    return found


@contextmanager
def replaying(
    exchanges: Sequence[Exchange], certificate: tuple[str, str] | None = None
) -> Iterator[Replayed]:
    """Over TLS with a certificate and its key."""
    replayed = Replayed([*exchanges])
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(replayed))
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        # The handshake is the business of the thread that answers: a client that gives up ends only that.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    replayed.url = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_address[1]}"
    try:
        yield replayed
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(replayed: Replayed) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # An answer leaves in one piece: in two, the second would wait for the first to be acknowledged.
        wbufsize = 1 << 16

        def handle(self) -> None:
            with suppress(ssl.SSLError, ConnectionError):
                super().handle()

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            asked = json.loads(self.rfile.read(length)) if length else None
            replayed.questions.append((self.command, parts.path, dict(parse_qsl(parts.query)), asked))
            replayed.headers.append(dict(self.headers))
            found = replayed.answer(self.command, parts.path, asked)
            text = b"" if found["answer"] is None else json.dumps(found["answer"]).encode()
            if isinstance(found["answer"], str):
                text = found["answer"].encode()
            self.send_response(found["status"])
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - http.server looks for these names

        def log_message(self, *_: object) -> None:
            """The tests say what they need to."""

    return Handler
