"""The oracle: opm's, OLM v0's and blang's own code, asked by JSON lines (`tests/oracle`).

Questions may be put one at a time or streamed, and the two may be mixed: answers come in the order of the
questions, and each is kept until whoever asked looks at it.
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

# Enough in flight to keep both processes busy, few enough that answers do not pile up.
_WINDOW: Final = 256


class OracleDiedError(RuntimeError):
    """The oracle ended before it answered."""


class RefusedError(ValueError):
    """A question that cannot be put to the real code; the fault is ours."""


@dataclass(slots=True)
class _Ticket:
    """A question that was sent, and its answer once it has been read."""

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
        # Killed, not asked to end: answers nobody waits for may still be on their way.
        self._process.kill()
        self._outbox.put(None)
        self._writer.join()
        self._pipe(self._process.stdout).close()
        self._process.wait()

    def ask(self, question: Question) -> Answer:
        """One question, one answer. Raises RefusedError if the oracle could not put it."""
        return self._await(self._send(question))

    def ask_many(self, questions: Iterable[Question]) -> Iterator[Answer]:
        """The answers to many questions, in order, with several hundred in flight."""
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
        assert stream is not None  # both pipes are asked for in __enter__
        return stream


def _write(outbox: SimpleQueue[bytes | None], pipe: IO[bytes]) -> None:
    """Carries lines to the oracle, in a thread of its own: the asker must never wait for a full pipe."""
    try:
        while (line := outbox.get()) is not None:
            pipe.write(line)
            if outbox.empty():
                pipe.flush()
        pipe.close()
    except BrokenPipeError:
        # The oracle is gone: the reader says so, this end has nothing to add.
        return
