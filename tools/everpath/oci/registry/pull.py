"""Images in a registry: resolved by tag or digest, and read with verification of every digest."""

from __future__ import annotations

__all__ = ["RegistryBlobs", "resolve_image"]

import hashlib
import io
import json
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from everpath.errors import Unreachable, UnreadableInput
from everpath.oci.blobs import MAX_MANIFEST_SIZE, digest_of
from everpath.oci.descriptors import (
    INDEX_MEDIA_TYPE,
    MANIFEST_MEDIA_TYPE,
    MANIFEST_MEDIA_TYPES,
    Descriptor,
    Image,
)
from everpath.oci.manifests import invalid_manifest, parse_manifest
from everpath.oci.references import Reference
from everpath.oci.registry.errors import html_error, is_html
from everpath.oci.registry.http_client import ConnectionFailed
from everpath.oci.registry.options import RegistryOptions
from everpath.oci.registry.session import Session

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_ACCEPTED: Final = ", ".join(MANIFEST_MEDIA_TYPES)


def resolve_image(reference: Reference, options: RegistryOptions) -> Image:
    """Request the manifest of a reference. Layers are read later. Raises Unreachable and UnreadableInput."""
    blobs = RegistryBlobs(Session(reference, options))
    return Image(blobs.resolve(), blobs)


class RegistryBlobs:
    """A `BlobSource` of one repository. Manifests are requested once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._manifests: dict[str, bytes] = {}

    def resolve(self) -> Descriptor:
        """Request the manifest or index of the session's reference."""
        reference = self._session.reference
        return self._fetch_manifest(reference.digest_or_tag, reference.digest, str(reference))

    def open(self, descriptor: Descriptor) -> BinaryIO:
        """Open a stream, which raises UnreadableInput at its end if the digest is wrong."""
        if descriptor.is_index or descriptor.is_manifest:
            if descriptor.digest not in self._manifests:
                name = f"{self._session.reference.name}@{descriptor.digest}"
                self._fetch_manifest(descriptor.digest, descriptor.digest, name)
            return io.BytesIO(self._manifests[descriptor.digest])
        return cast(BinaryIO, io.BufferedReader(_BlobStream(self._session, descriptor), 1 << 16))

    def _fetch_manifest(self, tag_or_digest: str, digest: str | None, name: str) -> Descriptor:
        url = self._session.url("manifests", tag_or_digest)
        action = f"return {tag_or_digest} of"
        response, data = self._session.get_document(url, action, {"Accept": _ACCEPTED}, MAX_MANIFEST_SIZE)
        if is_html(response.headers, data):
            raise html_error(self._session.host, response.status)
        actual = digest_of(data)
        header = response.headers.get("docker-content-digest", "")
        self._require_digest(actual, digest, name, "was requested")
        self._require_digest(
            actual, header if header.startswith("sha256:") else None, name, "is stated by the registry"
        )
        media_type = _manifest_media_type(data, response.headers.get("content-type", ""), name)
        descriptor = Descriptor(media_type, actual, len(data))
        # Parsed here for an error message with the name of the image.
        parse_manifest(data, name, is_index=descriptor.is_index)
        self._manifests[actual] = data
        return descriptor

    def _require_digest(self, actual: str, expected: str | None, name: str, origin: str) -> None:
        if expected is not None and actual != expected:
            raise UnreadableInput(
                f"{name} has the wrong content: its manifest has digest {actual}, but {expected} {origin}",
                hint=f"do not use it: it was changed between here and {self._session.host}",
            )


class _BlobStream(io.RawIOBase):
    """A blob that is being downloaded. A dropped connection is resumed where it ended."""

    def __init__(self, session: Session, descriptor: Descriptor) -> None:
        self._session = session
        self._descriptor = descriptor
        self._sha256 = hashlib.sha256()
        self._position = 0
        self._delays = session.options.retry.delays()
        self._body: BinaryIO | None = self._request_rest()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        data = self._read(len(view))
        view[: len(data)] = data
        self._sha256.update(data)
        self._position += len(data)
        if self._position >= self._descriptor.size or not data:
            self._require_intact()
        return len(data)

    def close(self) -> None:
        if self._body is not None:
            self._body.close()
        super().close()

    def _read(self, count: int) -> bytes:
        while True:
            try:
                if self._body is None:
                    self._body = self._request_rest()
                return self._body.read(count)
            except ConnectionFailed as error:
                delay = next(self._delays, None)
                if delay is None:
                    raise self._session.connection_error(error) from error
                self._body = None
                self._session.options.retry.sleep(delay)

    def _request_rest(self) -> BinaryIO:
        """Request the blob from the current position. A registry without ranges returns all of it."""
        response = self._session.request(
            "GET",
            self._session.url("blobs", self._descriptor.digest),
            f"return {self._descriptor.digest} of",
            expected=frozenset({200, 206}),
            headers={"Range": f"bytes={self._position}-"} if self._position else {},
        )
        if is_html({"content-type": response.headers.get("content-type", "")}, b""):
            raise html_error(self._session.host, response.status)
        if response.status == 200:
            _skip(response.body, self._position)
        return response.body

    def _require_intact(self) -> None:
        expected = self._descriptor
        digest = f"sha256:{self._sha256.hexdigest()}"
        if self._position != expected.size or digest != expected.digest:
            raise UnreadableInput(
                f"{expected.digest} of {self._session.reference.name} has the wrong content: "
                f"{self._position} bytes with the digest {digest} instead of {expected.size} bytes",
                hint="pull again; if it fails again, the registry's copy is damaged: push the image again",
            )


def _manifest_media_type(data: bytes, header: str, name: str) -> str:
    """Return the media type from the manifest itself, from the header Content-Type, or by its structure."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise invalid_manifest(name, "it is not JSON") from error
    if not isinstance(document, dict) or document.get("schemaVersion") == 1:
        raise invalid_manifest(name, "it has the obsolete format schema 1, or none")
    stated = Descriptor(str(document.get("mediaType") or header.partition(";")[0].strip()), "", 0)
    if stated.is_index or stated.is_manifest:
        return stated.media_type
    return INDEX_MEDIA_TYPE if isinstance(document.get("manifests"), list) else MANIFEST_MEDIA_TYPE


def _skip(body: BinaryIO, count: int) -> None:
    while count > 0:
        skipped = len(body.read(min(count, 1 << 20)))
        if not skipped:
            raise Unreachable("the registry returns a shorter blob than before")
        count -= skipped
