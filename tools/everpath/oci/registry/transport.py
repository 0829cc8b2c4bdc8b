"""One request, one answer: all that the rest of the client knows of HTTP."""

from __future__ import annotations

__all__ = ["Absent", "Answer", "Broken", "Lasting", "NotTls", "Request", "Wire"]

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol


class Broken(Exception):
    """A connection that could not be made, or ended in the middle. Trying again may help."""


class Absent(Broken):
    """Nobody listens there. Trying again helps only where somebody did before."""


class Lasting(Broken):
    """What trying again does not mend."""


class NotTls(Lasting):
    """A server that answers something else where TLS was spoken."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked, and with what body. A stream's length stands in the headers."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | BinaryIO | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. The headers' names are in lower case; the body is read once, by whoever wants it."""

    status: int
    headers: Mapping[str, str]
    body: BinaryIO

    def text(self, at_most: int = 65536) -> bytes:
        """The start of the body, and the end of the answer. Raises Broken."""
        with self.body as body:
            return body.read(at_most)


class Wire(Protocol):
    """Sends requests. Redirects, retries and credentials are the business of who asks."""

    def send(self, request: Request) -> Answer:
        """Raises Broken when there is no answer."""
