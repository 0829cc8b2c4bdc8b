"""Sending an image: what is there is not sent, and the tag comes last."""

from __future__ import annotations

__all__ = ["push"]

from typing import Final
from urllib.parse import urlencode

from everpath.errors import Unreachable, UsageError
from everpath.oci.descriptors import Descriptor, Image, in_push_order, read_blob
from everpath.oci.references import Reference
from everpath.oci.registry.auth import Scope
from everpath.oci.registry.options import Options
from everpath.oci.registry.presence import Presence, presence, require_stored
from everpath.oci.registry.progress import Hear, Step, unheard
from everpath.oci.registry.session import Session
from everpath.oci.registry.transport import Answer
from everpath.oci.registry.upload import Upload

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
        found = presence(self._session, blob, blob.digest, self._scopes)
        if found is Presence.THERE:
            self._hear(Step("blob", blob.digest, blob.size, "there"))
            return
        # Registries keep the bytes of all repositories once: a mount would bring the damaged ones back.
        started = self._mounted(blob) if found is Presence.ABSENT else None
        if started is not None and started.status == 201:
            started.body.close()
            self._hear(Step("blob", blob.digest, blob.size, "mounted"))
            return
        self._send(blob, started)
        if found is Presence.OTHER:
            self._require_mended(blob)

    def _send(self, blob: Descriptor, started: Answer | None) -> None:
        upload = Upload(self._session, self._image.content, blob, self._scopes)
        upload.send(started, lambda done: self._hear(Step("blob", blob.digest, blob.size, "sending", done)))
        self._hear(Step("blob", blob.digest, blob.size, "sent", blob.size))

    def _require_mended(self, blob: Descriptor) -> None:
        """Some registries take a blob and keep the copy that they had, whatever it is."""
        if presence(self._session, blob, blob.digest, self._scopes) is not Presence.THERE:
            raise Unreachable(
                f"{self._session.host} has a damaged copy of {blob.digest}, and keeps it whatever is sent",
                hint="let who runs the registry delete that blob from its storage, then push again",
            )

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
        if presence(self._session, manifest, name, self._scopes) is Presence.THERE:
            self._hear(Step("manifest", manifest.digest, manifest.size, "there"))
            return
        sent = read_blob(self._image.content, manifest)
        answer = self._session.ask(
            "PUT",
            self._session.path("manifests", name),
            f"take {name} for",
            hopes=_STORED,
            headers={"Content-Type": manifest.media_type},
            body=sent,
            scopes=self._scopes,
        )
        answer.body.close()
        require_stored(self._session, answer, sent, manifest, name)
        self._hear(Step("manifest", manifest.digest, manifest.size, "sent", manifest.size))
