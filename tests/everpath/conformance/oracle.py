"""The oracle in the folder beside: the code of opm, OLM v0 and blang, which answers JSON lines.

Questions can be sent one at a time or as a stream, also mixed. Answers come in the order of the questions,
and each is kept until its caller reads it.
"""

from __future__ import annotations

__all__ = ["Answer", "Oracle", "OracleDiedError", "Question", "RefusedError"]

import json
import subprocess
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import IO, Any, Final, TypeAlias

Question: TypeAlias = Mapping[str, object]
Answer: TypeAlias = dict[str, Any]

# Enough to keep both processes busy, few enough to limit the answers in memory.
_WINDOW: Final = 256


class OracleDiedError(RuntimeError):
    """The oracle exited before it answered."""


class RefusedError(ValueError):
    """A question that the oracle does not understand."""


@dataclass(slots=True)
class _Ticket:
    """A question that was sent, and its answer after it was read."""

    question: Question
    answer: Answer | None = None


class Oracle:
    """A running oracle: `with Oracle(program) as oracle: oracle.ask({"ask": "range", …})`."""

    def __init__(self, program: str | Path) -> None:
        self._program = str(program)
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._unread: deque[_Ticket] = deque()

    def __enter__(self) -> Oracle:
        self._process = subprocess.Popen([self._program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._writer = Thread(target=_write, args=(self._outbox, self._pipe(self._process.stdin)))
        self._writer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, cause: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Killed, because unread answers may still be in the pipe.
        self._process.kill()
        self._outbox.put(None)
        self._writer.join()
        self._pipe(self._process.stdout).close()
        self._process.wait()

    def ask(self, question: Question) -> Answer:
        """Return the answer to a question. Raises RefusedError if the oracle does not understand it."""
        return self._await(self._send(question))

    def ask_many(self, questions: Iterable[Question]) -> Iterator[Answer]:
        """Yield the answers to many questions, in order, with several hundred sent ahead."""
        waiting: deque[_Ticket] = deque()
        for question in questions:
            waiting.append(self._send(question))
            if len(waiting) >= _WINDOW:
                yield self._await(waiting.popleft())
        while waiting:
            yield self._await(waiting.popleft())

    def _send(self, question: Question) -> _Ticket:
        ticket = _Ticket(question)
        self._unread.append(ticket)
        self._outbox.put(json.dumps(question).encode() + b"\n")
        return ticket

    def _await(self, ticket: _Ticket) -> Answer:
        while ticket.answer is None:
            self._read_one()
        if "refused" in ticket.answer:
            raise RefusedError(f"{ticket.answer['refused']}: {json.dumps(ticket.question)}")
        return ticket.answer

    def _read_one(self) -> None:
        line = self._pipe(self._process.stdout).readline()
        if not line:
            first = json.dumps(self._unread[0].question)
            raise OracleDiedError(f"the oracle ended ({self._process.wait()}) before it answered {first}")
        self._unread.popleft().answer = json.loads(line)

    @staticmethod
    def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
        assert stream is not None  # __enter__ opens both pipes
        return stream


def _write(outbox: SimpleQueue[bytes | None], pipe: IO[bytes]) -> None:
    """Write lines to the oracle in a separate thread, so that no caller waits for a full pipe."""
    try:
        while (line := outbox.get()) is not None:
            pipe.write(line)
            if outbox.empty():
                pipe.flush()
        pipe.close()
    except BrokenPipeError:
        # The oracle has exited, which the reader reports.
        return
