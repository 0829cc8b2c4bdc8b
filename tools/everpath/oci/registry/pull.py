"""Images in a registry, read: every byte is checked against the digest it was asked for."""

from __future__ import annotations

__all__ = ["RemoteContent", "resolve"]

import hashlib
import io
import json
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from everpath.errors import Unreachable, UnreadableInput
from everpath.oci.descriptors import Descriptor, Image, digest_of, misshapen, named_by
from everpath.oci.references import Reference
from everpath.oci.registry.errors import is_html, misdirected
from everpath.oci.registry.options import Options
from everpath.oci.registry.session import Session
from everpath.oci.registry.transport import Broken

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_INDEX: Final = "application/vnd.oci.image.index.v1+json"
_MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
_ACCEPTED: Final = ", ".join(
    (
        _INDEX,
        _MANIFEST,
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
# What registries themselves refuse to store as a manifest.
_LONGEST_MANIFEST: Final = 4 << 20
_PART: Final = frozenset({200, 206})


def resolve(reference: Reference, options: Options) -> Image:
    """The image that a tag or digest stands for. One request; raises Unreachable and UnreadableInput."""
    content = RemoteContent(Session(reference, options))
    return Image(content.root(), content)


class RemoteContent:
    """The blobs and manifests of one repository. Manifests are asked for once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._manifests: dict[str, bytes] = {}

    def root(self) -> Descriptor:
        """What the session's reference stands for."""
        reference = self._session.reference
        return self._manifest(reference.wanted, reference.digest, str(reference))

    def open(self, descriptor: Descriptor) -> BinaryIO:
        """A stream that raises UnreadableInput at its end if the bytes were not those of the digest."""
        if descriptor.is_index or descriptor.is_manifest:
            if descriptor.digest not in self._manifests:
                name = f"{self._session.reference.name}@{descriptor.digest}"
                self._manifest(descriptor.digest, descriptor.digest, name)
            return io.BytesIO(self._manifests[descriptor.digest])
        return cast(BinaryIO, io.BufferedReader(_Blob(self._session, descriptor), 1 << 16))

    def _manifest(self, wanted: str, digest: str | None, name: str) -> Descriptor:
        url = self._session.path("manifests", wanted)
        answer, data = self._session.fetch(url, f"give {wanted} of", {"Accept": _ACCEPTED}, _LONGEST_MANIFEST)
        if is_html(answer.headers, data):
            raise misdirected(self._session.host, answer.status)
        found = digest_of(data)
        self._require_same(found, digest, name, "it was asked for as")
        told = answer.headers.get("docker-content-digest", "")
        self._require_same(found, told if told.startswith("sha256:") else None, name, "the registry calls it")
        descriptor = Descriptor(
            _media_type(data, answer.headers.get("content-type", ""), name), found, len(data)
        )
        # Whatever it names is looked at here, where the image can be called by its name.
        named_by(data, name, is_index=descriptor.is_index)
        self._manifests[found] = data
        return descriptor

    def _require_same(self, found: str, wanted: str | None, name: str, why: str) -> None:
        if wanted is not None and found != wanted:
            raise UnreadableInput(
                f"{name} is not what it should be: its manifest hashes to {found}, and {why} {wanted}",
                hint=f"something between here and {self._session.host} changed it: do not use it",
            )


class _Blob(io.RawIOBase):
    """A blob as it comes. A connection that drops is made again where it broke off."""

    def __init__(self, session: Session, descriptor: Descriptor) -> None:
        self._session = session
        self._descriptor = descriptor
        self._hash = hashlib.sha256()
        self._position = 0
        self._pauses = session.options.patience.pauses()
        self._body: BinaryIO | None = self._asked()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        data = self._read(len(view))
        view[: len(data)] = data
        self._hash.update(data)
        self._position += len(data)
        if self._position >= self._descriptor.size or not data:
            self._require_true()
        return len(data)

    def close(self) -> None:
        if self._body is not None:
            self._body.close()
        super().close()

    def _read(self, count: int) -> bytes:
        while True:
            try:
                if self._body is None:
                    self._body = self._asked()
                return self._body.read(count)
            except Broken as error:
                pause = next(self._pauses, None)
                if pause is None:
                    raise self._session.unreached(error) from error
                self._body = None
                self._session.options.patience.sleep(pause)

    def _asked(self) -> BinaryIO:
        """The rest of the blob. From a registry that knows no ranges it is all, and the start is skipped."""
        url = self._session.path("blobs", self._descriptor.digest)
        headers = {"Range": f"bytes={self._position}-"} if self._position else {}
        answer = self._session.ask(
            "GET", url, f"give {self._descriptor.digest} of", hopes=_PART, headers=headers
        )
        kind = answer.headers.get("content-type", "")
        if is_html({"content-type": kind}, b""):
            raise misdirected(self._session.host, answer.status)
        if answer.status == 200:
            _skip(answer.body, self._position)
        return answer.body

    def _require_true(self) -> None:
        wanted = self._descriptor
        found = f"sha256:{self._hash.hexdigest()}"
        if self._position != wanted.size or found != wanted.digest:
            name = f"{wanted.digest} of {self._session.reference.name}"
            raise UnreadableInput(
                f"{name} is not what it should be: at least {self._position} bytes, which hash to {found}, "
                f"and {wanted.size} were wanted",
                hint="pull again; if it stays, the registry's copy is damaged: push the image again",
            )


def _media_type(data: bytes, header: str, name: str) -> str:
    """What a manifest is: as it says, as the registry says, or by its shape."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise misshapen(name, "it is not JSON") from error
    if not isinstance(document, dict) or document.get("schemaVersion") == 1:
        raise misshapen(name, "it is of the first, long retired kind (schema 1), or of none")
    said = document.get("mediaType") or header.partition(";")[0].strip()
    known = Descriptor(str(said), "", 0)
    if known.is_index or known.is_manifest:
        return known.media_type
    return _INDEX if isinstance(document.get("manifests"), list) else _MANIFEST


def _skip(body: BinaryIO, count: int) -> None:
    while count > 0:
        passed = len(body.read(min(count, 1 << 20)))
        if not passed:
            raise Unreachable("the registry gives a shorter blob the second time")
        count -= passed
