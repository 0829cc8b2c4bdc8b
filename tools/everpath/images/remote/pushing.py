"""Sending an image: what is there is not sent, and the tag comes last."""

from __future__ import annotations

__all__ = ["push"]

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from everpath.errors import Unreachable, UsageError
from everpath.images.content import Descriptor, Image, in_push_order, read_blob
from everpath.images.references import Reference
from everpath.images.remote.authority import Scope
from everpath.images.remote.options import Options
from everpath.images.remote.progress import Hear, Step, unheard
from everpath.images.remote.refusals import is_html, misdirected
from everpath.images.remote.session import Session
from everpath.images.remote.transport import Answer
from everpath.images.remote.uploads import Upload

_LOOKED: Final = frozenset({200, 404})
_STORED: Final = frozenset({200, 201, 202})


def push(image: Image, reference: Reference, options: Options, hear: Hear = unheard) -> Descriptor:
    """Bring an image to a reference, and return what the reference stands for then.

    Blobs first, then manifests, each after all that it names, and the tag with the last of them: whoever
    breaks off leaves no tag that lacks something, and the next push sends only what is missing. Raises
    Unreachable, UnreadableInput for a damaged image and UsageError for a digest that is not the image's.
    """
    if reference.digest is not None and reference.digest != image.root.digest:
        raise UsageError(
            f"{reference} cannot be pushed: the image is {image.root.digest}",
            hint="leave the digest out, or push to a tag",
        )
    return _Push(image, Session(reference, options), hear).run()


class _Push:
    def __init__(self, image: Image, session: Session, hear: Hear) -> None:
        self._image = image
        self._session = session
        self._hear = hear
        others = session.options.mount_from
        self._scopes = (
            Scope(session.reference.repository, "pull,push"),
            *(Scope(name) for name in others if name != session.reference.repository),
        )

    def run(self) -> Descriptor:
        order = list(in_push_order(self._image))
        for descriptor in order:
            if not (descriptor.is_manifest or descriptor.is_index):
                self._blob(descriptor)
        for descriptor in order[:-1]:
            if descriptor.is_manifest or descriptor.is_index:
                self._manifest(descriptor, descriptor.digest)
        reference = self._session.reference
        self._manifest(self._image.root, reference.tag or reference.digest or "latest")
        return self._image.root

    def _blob(self, blob: Descriptor) -> None:
        if self._found("blobs", blob.digest, {}) is not None:
            self._hear(Step("blob", blob.digest, blob.size, "there"))
            return
        started = self._mounted(blob)
        if started is not None and started.status == 201:
            started.body.close()
            self._hear(Step("blob", blob.digest, blob.size, "mounted"))
            return
        upload = Upload(self._session, self._image.content, blob, self._scopes)
        upload.send(started, lambda done: self._hear(Step("blob", blob.digest, blob.size, "sending", done)))
        self._hear(Step("blob", blob.digest, blob.size, "sent", blob.size))

    def _found(self, kind: str, name: str, accept: Mapping[str, str]) -> Answer | None:
        """What the registry says of something that it has."""
        url = self._session.path(kind, name)
        answer = self._session.ask(
            "HEAD", url, "be pushed to for", hopes=_LOOKED, headers=accept, scopes=self._scopes
        )
        answer.body.close()
        if answer.status == 200 and is_html(answer.headers, b""):
            raise misdirected(self._session.host, 200)
        return answer if answer.status == 200 else None

    def _mounted(self, blob: Descriptor) -> Answer | None:
        """What the registry says to taking a blob over from another repository: done (201), or an upload.

        A registry that refuses the question altogether is asked for nothing more than an upload.
        """
        url = self._session.path("blobs", "uploads/")
        started: Answer | None = None
        for name in self._session.options.mount_from:
            if started is not None:
                started.body.close()
            query = urlencode({"mount": blob.digest, "from": name})
            hopes = frozenset({201, 202, *range(400, 500)})
            started = self._session.ask(
                "POST", f"{url}?{query}", "mount a blob for", hopes=hopes, body=b"", scopes=self._scopes
            )
            if started.status == 201:
                return started
        if started is None or started.status == 202:
            return started
        started.body.close()
        return None

    def _manifest(self, manifest: Descriptor, name: str) -> None:
        there = self._found("manifests", name, {"Accept": manifest.media_type})
        if there is not None and there.headers.get("docker-content-digest") == manifest.digest:
            self._hear(Step("manifest", manifest.digest, manifest.size, "there"))
            return
        answer = self._session.ask(
            "PUT",
            self._session.path("manifests", name),
            f"take {name} for",
            hopes=_STORED,
            headers={"Content-Type": manifest.media_type},
            body=read_blob(self._image.content, manifest),
            scopes=self._scopes,
        )
        answer.body.close()
        stored = answer.headers.get("docker-content-digest", manifest.digest)
        if stored != manifest.digest:
            raise Unreachable(
                f"{self._session.host} stored {stored} where {manifest.digest} was sent",
                hint="is there something between that changes what passes?",
            )
        self._hear(Step("manifest", manifest.digest, manifest.size, "sent", manifest.size))
