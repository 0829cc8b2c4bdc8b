"""One blob on its way up: whole if it is small, else in chunks that go on where a connection broke off."""

from __future__ import annotations

__all__ = ["Upload"]

import hashlib
import re
from collections.abc import Callable
from typing import BinaryIO, Final

from everpath.errors import Unreachable, UnreadableInput
from everpath.oci.descriptors import Content, Descriptor
from everpath.oci.registry.auth import Scope
from everpath.oci.registry.errors import refused
from everpath.oci.registry.presence import Presence, presence
from everpath.oci.registry.retries import asked_to_wait, is_passing
from everpath.oci.registry.session import Session
from everpath.oci.registry.transport import Answer, Broken

_RANGE: Final = re.compile(r"(?:bytes=)?0-([0-9]{1,18})")
# How registries say that they take no chunks, or none so large; and that they know no such upload (any more).
_NO_CHUNKS: Final = frozenset({400, 404, 405, 411, 413, 415, 416, 501})
_GONE: Final = frozenset({404, 410})
_STORED: Final = frozenset({201, 204})
# What a registry may ask to be held in memory; for more the blob is sent as one stream.
_LARGEST_CHUNK: Final = 64 << 20
_BYTES: Final = {"Content-Type": "application/octet-stream"}


class Upload:
    """Sends one blob. `told` hears how many bytes the registry has."""

    def __init__(
        self, session: Session, content: Content, blob: Descriptor, scopes: tuple[Scope, ...]
    ) -> None:
        self._session = session
        self._blob = blob
        self._scopes = scopes
        self._source = _Source(content, blob)
        self._chunk = session.options.chunk
        self._is_whole = blob.size <= self._chunk
        self._location: str | None = None
        self._offset = 0
        self._best = 0
        self._has_failed = False
        self._pauses = session.options.patience.pauses()

    def send(self, started: Answer | None, told: Callable[[int], None]) -> None:
        """Until the registry has it, from an upload that was started already or from a new one.

        Raises Unreachable, and UnreadableInput when the blob is not what its digest says.
        """
        with self._source:
            if started is not None:
                self._moved(started)
            while not self._stepped():
                told(self._offset)

    def _stepped(self) -> bool:
        """One request further; True after the last."""
        if self._location is None:
            # What failed may have arrived all the same: only its answer was lost.
            if self._has_failed and self._is_there():
                return True
            self._start()
        try:
            answer = self._put() if self._is_last else self._patch()
        except Broken as error:
            self._recover(self._session.unreached(error), may_pass=self._session.may_pass(error))
            return False
        if answer.status in _STORED and self._is_last:
            answer.body.close()
            return True
        self._went_on(answer)
        return False

    @property
    def _is_last(self) -> bool:
        return self._is_whole or self._offset == self._blob.size

    def _is_there(self) -> bool:
        found = presence(self._session, self._blob, self._blob.digest, self._scopes)
        return found is Presence.THERE

    def _start(self) -> None:
        url = self._session.path("blobs", "uploads/")
        self._moved(
            self._session.ask(
                "POST", url, "take a blob for", hopes=frozenset({202}), body=b"", scopes=self._scopes
            )
        )
        self._offset = 0

    def _moved(self, answer: Answer) -> None:
        """Take over the address that a registry gives for the next step."""
        answer.body.close()
        where = answer.headers.get("location")
        if not where:
            raise Unreachable(
                f"{self._session.host} starts an upload and does not say where to",
                hint="is it a registry that speaks the OCI distribution API (/v2/)?",
            )
        self._location = self._session.joined(self._location or self._session.base, where)
        least = answer.headers.get("oci-chunk-min-length", "")
        if least.isascii() and least.isdigit():
            self._chunk = max(self._chunk, int(least[:18]))
            self._is_whole = self._is_whole or self._chunk > _LARGEST_CHUNK

    def _put(self) -> Answer:
        """The end of an upload, with all of the blob if it goes whole."""
        if not self._is_whole:
            self._source.read(self._offset, 0)
            return self._ended(b"", 0)
        if self._blob.size <= self._session.options.chunk:
            return self._ended(self._source.read(0, self._blob.size), self._blob.size)
        with self._source.whole() as stream:
            return self._ended(stream, self._blob.size)

    def _ended(self, body: bytes | BinaryIO, size: int) -> Answer:
        location = self._location or ""
        url = f"{location}{'&' if '?' in location else '?'}digest={self._blob.digest}"
        headers = {**_BYTES, "Content-Length": str(size)}
        return self._session.ask_once("PUT", url, headers, body, self._scopes)

    def _patch(self) -> Answer:
        chunk = self._source.read(self._offset, min(self._chunk, self._blob.size - self._offset))
        place = {
            "Content-Length": str(len(chunk)),
            "Content-Range": f"{self._offset}-{self._offset + len(chunk) - 1}",
        }
        return self._session.ask_once("PATCH", self._location or "", {**_BYTES, **place}, chunk, self._scopes)

    def _went_on(self, answer: Answer) -> None:
        """After a chunk, or after a refusal that can be lived with. Raises Unreachable for any other."""
        if answer.status == 202 and not self._is_last:
            before, sent = self._offset, self._source.position
            self._moved(answer)
            self._offset = self._held(answer, sent)
            if self._offset > self._best:
                # Whoever gets further may fail again: only failing at the same place is given up.
                self._best = self._offset
                self._pauses = self._session.options.patience.pauses()
            elif self._offset <= before:
                self._recover(self._forgetful(), may_pass=True)
            return
        if not self._is_whole and self._offset == 0 and answer.status in _NO_CHUNKS:
            answer.body.close()
            self._is_whole, self._location = True, None
            return
        may_pass = is_passing(answer.status) or answer.status in _GONE or answer.status == 416
        asked = asked_to_wait(answer.headers, self._session.options.patience.now())
        name = self._session.reference.repository
        error = refused(answer, self._session.host, name, "take a blob for", authenticated=True)
        self._recover(error, may_pass=may_pass, asked=asked)

    def _forgetful(self) -> Unreachable:
        return Unreachable(
            f"{self._session.host} takes chunks of {self._blob.digest} and does not keep them",
            hint="this is the registry's own trouble: its log says more; try again later",
        )

    def _recover(self, error: Unreachable, *, may_pass: bool, asked: float | None = None) -> None:
        """Wait, then ask how far the registry got, and go on from there or from the start."""
        self._has_failed = True
        patience = self._session.options.patience
        pause = next(self._pauses, None) if may_pass else None
        if pause is None or (asked is not None and asked > patience.longest):
            raise error
        patience.sleep(pause if asked is None else asked)
        if self._is_whole or self._location is None:
            self._location = None
            return
        answer = self._session.ask(
            "GET",
            self._location,
            "say how far it is with",
            hopes=frozenset(range(200, 500)),
            scopes=self._scopes,
        )
        if answer.status in (202, 204) and "location" in answer.headers:
            self._moved(answer)
            self._offset = self._held(answer, 0)
        else:
            answer.body.close()
            self._location = None

    def _held(self, answer: Answer, otherwise: int) -> int:
        """How many bytes the registry has, as its Range header says."""
        match = _RANGE.fullmatch(answer.headers.get("range", ""))
        if match is None:
            return otherwise
        # An empty upload is told as 0-0, as one of a single byte is: sent once more, that byte hurts nobody.
        held = int(match.group(1)) + 1
        return 0 if held == 1 else min(held, self._blob.size)


class _Source:
    """The blob's bytes from any offset on, hashed on the way whatever the offsets are."""

    def __init__(self, content: Content, blob: Descriptor) -> None:
        self._content = content
        self._blob = blob
        self._stream: BinaryIO | None = None
        self._hash = hashlib.sha256()
        self.position = 0

    def __enter__(self) -> _Source:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def read(self, offset: int, count: int) -> bytes:
        """Raises UnreadableInput where the blob is shorter, or other, than it should be."""
        if self._stream is None or offset < self.position:
            self.__exit__()
            self._stream, self.position, self._hash = self._content.open(self._blob), 0, hashlib.sha256()
        while self.position < offset:
            self._taken(min(1 << 20, offset - self.position))
        data = self._taken(count)
        if self.position == self._blob.size:
            self._require_true()
        return data

    def whole(self) -> BinaryIO:
        """A stream of everything, after a first look at whether it is as it should be."""
        while self.position < self._blob.size:
            self.read(self.position, min(1 << 20, self._blob.size - self.position))
        return self._content.open(self._blob)

    def _taken(self, count: int) -> bytes:
        data = b""
        while (
            self._stream is not None and len(data) < count and (more := self._stream.read(count - len(data)))
        ):
            data += more
        self.position += len(data)
        self._hash.update(data)
        if len(data) < count:
            raise self._damaged()
        return data

    def _require_true(self) -> None:
        if f"sha256:{self._hash.hexdigest()}" != self._blob.digest:
            raise self._damaged()

    def _damaged(self) -> UnreadableInput:
        return UnreadableInput(
            f"{self._blob.digest} is damaged: its bytes are not the {self._blob.size} that hash to this",
            hint="build or pull the image again",
        )
