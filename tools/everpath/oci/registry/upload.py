"""Upload of one blob: in one request if it is small, else in chunks that can be resumed."""

from __future__ import annotations

__all__ = ["BlobUpload"]

import hashlib
import re
from collections.abc import Callable
from typing import BinaryIO, Final

from everpath.errors import Unreachable, UnreadableInput
from everpath.oci.descriptors import BlobSource, Descriptor
from everpath.oci.registry.auth import TokenScope
from everpath.oci.registry.errors import NOT_A_REGISTRY_HINT, response_error
from everpath.oci.registry.http_client import ConnectionFailed, RegistryResponse, is_retryable, retry_after
from everpath.oci.registry.presence import Presence, check_presence
from everpath.oci.registry.session import Session

_RANGE: Final = re.compile(r"(?:bytes=)?0-([0-9]{1,18})")
# Responses of registries that do not support chunks, or only smaller ones.
_CHUNKS_NOT_SUPPORTED: Final = frozenset({400, 404, 405, 411, 413, 415, 416, 501})
_UPLOAD_UNKNOWN: Final = frozenset({404, 410})
_WRONG_OFFSET: Final = 416
_STORED: Final = frozenset({201, 204})
# A registry may require larger chunks. Above this size the blob is sent as one stream.
_MAX_CHUNK_SIZE: Final = 64 << 20
_CONTENT_TYPE: Final = {"Content-Type": "application/octet-stream"}


class BlobUpload:
    """Sends one blob."""

    def __init__(
        self, session: Session, blobs: BlobSource, blob: Descriptor, scopes: tuple[TokenScope, ...]
    ) -> None:
        self._session = session
        self._blob = blob
        self._scopes = scopes
        self._reader = _BlobReader(blobs, blob)
        self._chunk_size = session.options.chunk_size
        self._is_monolithic = blob.size <= self._chunk_size
        self._location: str | None = None
        self._offset = 0
        self._furthest_offset = 0
        self._has_failed = False
        self._delays = session.options.retry.delays()

    def send(self, started: RegistryResponse | None, report: Callable[[int], None]) -> None:
        """Send the blob, and report how many bytes the registry has.

        `started` is the response to the request that started the upload; without it one is started. Raises
        Unreachable, and UnreadableInput if the blob is damaged.
        """
        with self._reader:
            if started is not None:
                self._follow_location(started)
            while not self._send_next():
                report(self._offset)

    def _send_next(self) -> bool:
        """Send the next request. Returns True if the registry has stored the blob."""
        if self._location is None:
            # After a failure the blob may be stored: perhaps only the response was lost.
            if self._has_failed:
                found = check_presence(self._session, self._blob, self._blob.digest, self._scopes)
                if found is Presence.PRESENT:
                    return True
            self._start()
        try:
            response = self._put() if self._is_last_request else self._patch()
        except ConnectionFailed as error:
            self._recover(self._session.connection_error(error), can_retry=self._session.can_retry(error))
            return False
        if response.status in _STORED and self._is_last_request:
            response.body.close()
            return True
        self._handle_response(response)
        return False

    @property
    def _is_last_request(self) -> bool:
        return self._is_monolithic or self._offset == self._blob.size

    def _start(self) -> None:
        response = self._session.request(
            "POST",
            self._session.url("blobs", "uploads/"),
            "accept a blob for",
            expected=frozenset({202}),
            body=b"",
            scopes=self._scopes,
        )
        self._follow_location(response)
        self._offset = 0

    def _follow_location(self, response: RegistryResponse) -> None:
        """Take the URL of the next request, and the minimal size of chunks, from a response."""
        response.body.close()
        location = response.headers.get("location")
        if not location:
            raise Unreachable(
                f"{self._session.host} starts an upload without a Location header", hint=NOT_A_REGISTRY_HINT
            )
        self._location = self._session.resolve_location(self._location or self._session.base_url, location)
        min_length = response.headers.get("oci-chunk-min-length", "")
        if min_length.isascii() and min_length.isdigit():
            self._chunk_size = max(self._chunk_size, int(min_length[:18]))
            self._is_monolithic = self._is_monolithic or self._chunk_size > _MAX_CHUNK_SIZE

    def _put(self) -> RegistryResponse:
        """Send the last request, which contains the whole blob if it was not sent in chunks."""
        if not self._is_monolithic:
            # Checks the digest of all chunks that were sent.
            self._reader.read(self._offset, 0)
            return self._put_body(b"", 0)
        if self._blob.size <= self._session.options.chunk_size:
            return self._put_body(self._reader.read(0, self._blob.size), self._blob.size)
        with self._reader.open_verified() as stream:
            return self._put_body(stream, self._blob.size)

    def _put_body(self, body: bytes | BinaryIO, size: int) -> RegistryResponse:
        location = self._location or ""
        url = f"{location}{'&' if '?' in location else '?'}digest={self._blob.digest}"
        headers = {**_CONTENT_TYPE, "Content-Length": str(size)}
        return self._session.request_once("PUT", url, headers, body, self._scopes)

    def _patch(self) -> RegistryResponse:
        chunk = self._reader.read(self._offset, min(self._chunk_size, self._blob.size - self._offset))
        headers = {
            **_CONTENT_TYPE,
            "Content-Length": str(len(chunk)),
            "Content-Range": f"{self._offset}-{self._offset + len(chunk) - 1}",
        }
        return self._session.request_once("PATCH", self._location or "", headers, chunk, self._scopes)

    def _handle_response(self, response: RegistryResponse) -> None:
        """Continue after a chunk, or recover from an error. Raises Unreachable if that is impossible."""
        if response.status == 202 and not self._is_last_request:
            self._continue_after_chunk(response)
            return
        if not self._is_monolithic and self._offset == 0 and response.status in _CHUNKS_NOT_SUPPORTED:
            response.body.close()
            self._is_monolithic, self._location = True, None
            return
        can_retry = (
            is_retryable(response.status)
            or response.status in _UPLOAD_UNKNOWN
            or response.status == _WRONG_OFFSET
        )
        requested = retry_after(response.headers, self._session.options.retry.now())
        name = self._session.reference.repository
        error = response_error(response, self._session.host, name, "accept a blob for", authenticated=True)
        self._recover(error, can_retry=can_retry, requested_delay=requested)

    def _continue_after_chunk(self, response: RegistryResponse) -> None:
        before, sent = self._offset, self._reader.position
        self._follow_location(response)
        self._offset = self._parse_range(response, default=sent)
        if self._offset > self._furthest_offset:
            # Progress resets the number of attempts: only failures at one place end the upload.
            self._furthest_offset = self._offset
            self._delays = self._session.options.retry.delays()
        elif self._offset <= before:
            error = Unreachable(
                f"{self._session.host} accepts chunks of {self._blob.digest} but does not store them",
                hint="the registry failed: see its log, or try again later",
            )
            self._recover(error, can_retry=True)

    def _recover(self, error: Unreachable, *, can_retry: bool, requested_delay: float | None = None) -> None:
        """Wait, then continue where the registry is, or from the start. Raises `error` if it must give up."""
        self._has_failed = True
        retry = self._session.options.retry
        delay = next(self._delays, None) if can_retry else None
        if delay is None or (requested_delay is not None and requested_delay > retry.max_delay):
            raise error
        retry.sleep(delay if requested_delay is None else requested_delay)
        if self._is_monolithic or self._location is None:
            self._location = None
            return
        response = self._session.request(
            "GET",
            self._location,
            "return the state of an upload for",
            expected=frozenset(range(200, 500)),
            scopes=self._scopes,
        )
        if response.status in (202, 204) and "location" in response.headers:
            self._follow_location(response)
            self._offset = self._parse_range(response, default=0)
        else:
            response.body.close()
            self._location = None

    def _parse_range(self, response: RegistryResponse, *, default: int) -> int:
        """Return the number of bytes in the header Range."""
        match = _RANGE.fullmatch(response.headers.get("range", ""))
        if match is None:
            return default
        # 0-0 means an empty upload or a single byte. To send that byte again does no harm.
        size = int(match.group(1)) + 1
        return 0 if size == 1 else min(size, self._blob.size)


class _BlobReader:
    """Reads a blob from any offset, and checks its digest when the end is reached."""

    def __init__(self, blobs: BlobSource, blob: Descriptor) -> None:
        self._blobs = blobs
        self._blob = blob
        self._stream: BinaryIO | None = None
        self._sha256 = hashlib.sha256()
        self.position = 0

    def __enter__(self) -> _BlobReader:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def read(self, offset: int, count: int) -> bytes:
        """Read exactly `count` bytes. Raises UnreadableInput if the blob is shorter or has another digest."""
        if self._stream is None or offset < self.position:
            self.__exit__()
            self._stream, self.position, self._sha256 = self._blobs.open(self._blob), 0, hashlib.sha256()
        while self.position < offset:
            self._read_next(min(1 << 20, offset - self.position))
        data = self._read_next(count)
        if self.position == self._blob.size and f"sha256:{self._sha256.hexdigest()}" != self._blob.digest:
            raise self._damaged_blob_error()
        return data

    def open_verified(self) -> BinaryIO:
        """Check the whole blob, then open it."""
        while self.position < self._blob.size:
            self.read(self.position, min(1 << 20, self._blob.size - self.position))
        return self._blobs.open(self._blob)

    def _read_next(self, count: int) -> bytes:
        assert self._stream is not None
        data = b""
        while len(data) < count and (more := self._stream.read(count - len(data))):
            data += more
        self.position += len(data)
        self._sha256.update(data)
        if len(data) < count:
            raise self._damaged_blob_error()
        return data

    def _damaged_blob_error(self) -> UnreadableInput:
        return UnreadableInput(
            f"{self._blob.digest} is damaged: its {self._blob.size} bytes do not have this digest",
            hint="build or pull the image again",
        )
