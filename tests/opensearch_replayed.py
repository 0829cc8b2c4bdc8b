"""An engine over real HTTP: one that answers as a real one did, in recorded exchanges, or any other."""

from __future__ import annotations

__all__ = ["ANSWERS", "Answering", "Exchange", "Question", "Replayed", "recording", "replaying", "serving"]

import json
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypedDict
from urllib.parse import parse_qsl, urlsplit

ANSWERS: Final = Path(__file__).parent / "opensearch" / "answers"


class Question(NamedTuple):
    """What was asked for; `body` is None where there was none."""

    method: str
    path: str
    query: dict[str, str]
    body: Any


class Answering(Protocol):
    """Whoever answers for an engine."""

    def answered(self, question: Question, headers: dict[str, str], /) -> tuple[int, Any]:
        """A status, and what is sent as JSON; nothing for None, and text as it is."""


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
    questions: list[Question] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def answered(self, question: Question, headers: dict[str, str]) -> tuple[int, Any]:
        self.questions.append(question)
        self.headers.append(headers)
        found = self.answer(question.method, question.path, question.body)
        return found["status"], found["answer"]

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

    def changes(self) -> list[Question]:
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
    with serving(replayed, certificate) as replayed.url:
        yield replayed


@contextmanager
def serving(engine: Answering, certificate: tuple[str, str] | None = None) -> Iterator[str]:
    """Where it answers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(engine))
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        # The handshake is the business of the thread that answers: a client that gives up ends only that.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(engine: Answering) -> type[BaseHTTPRequestHandler]:
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
            body = json.loads(self.rfile.read(length)) if length else None
            question = Question(self.command, parts.path, dict(parse_qsl(parts.query)), body)
            status, answer = engine.answered(question, dict(self.headers))
            text = b"" if answer is None else json.dumps(answer).encode()
            if isinstance(answer, str):
                text = answer.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - http.server looks for these names

        def log_message(self, *_: object) -> None:
            """The tests say what they need to."""

    return Handler
