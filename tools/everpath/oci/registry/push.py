"""Push of an image: only missing blobs are sent, and the tag is set last."""

from __future__ import annotations

__all__ = ["push_image"]

from typing import Final
from urllib.parse import urlencode

from everpath.errors import Unreachable, UsageError
from everpath.oci.blobs import read_blob
from everpath.oci.descriptors import Descriptor, Image
from everpath.oci.manifests import push_order
from everpath.oci.references import Reference
from everpath.oci.registry.auth import TokenScope
from everpath.oci.registry.http_client import RegistryResponse
from everpath.oci.registry.options import RegistryOptions
from everpath.oci.registry.presence import Presence, check_presence, verify_stored_manifest
from everpath.oci.registry.progress import ProgressCallback, TransferProgress, ignore_progress
from everpath.oci.registry.session import Session
from everpath.oci.registry.upload import BlobUpload

_STORED: Final = frozenset({200, 201, 202})


def push_image(
    image: Image, reference: Reference, options: RegistryOptions, report: ProgressCallback = ignore_progress
) -> Descriptor:
    """Push an image to a reference and return its root.

    Blobs are sent first, then manifests, each after all that it references, and the tag with the last one.
    An interrupted push leaves no incomplete tag, and the next push sends only what is missing. Raises
    Unreachable, UnreadableInput for a damaged image, and UsageError if the reference has the digest of
    another image.
    """
    if reference.digest is not None and reference.digest != image.root.digest:
        raise UsageError(
            f"{reference} cannot be pushed: the image is {image.root.digest}",
            hint="leave the digest out, or push to a tag",
        )
    push = _Push(image, Session(reference, options), report)
    order = list(push_order(image))
    for descriptor in order:
        if not (descriptor.is_manifest or descriptor.is_index):
            push.push_blob(descriptor)
    for descriptor in order[:-1]:
        if descriptor.is_manifest or descriptor.is_index:
            push.push_manifest(descriptor, descriptor.digest)
    push.push_manifest(image.root, reference.tag or reference.digest or "latest")
    return image.root


class _Push:
    def __init__(self, image: Image, session: Session, report: ProgressCallback) -> None:
        self._image = image
        self._session = session
        self._report = report
        repository = session.reference.repository
        self._scopes = (
            TokenScope(repository, "pull,push"),
            *(TokenScope(name) for name in session.options.mount_from if name != repository),
        )

    def push_blob(self, blob: Descriptor) -> None:
        """Push a layer or a config, unless the registry has it already."""
        found = check_presence(self._session, blob, blob.digest, self._scopes)
        if found is Presence.PRESENT:
            self._report(TransferProgress("blob", blob.digest, blob.size, "exists"))
            return
        # Registries store a blob once for all repositories: a mount would restore the damaged copy.
        started = self._mount(blob) if found is Presence.ABSENT else None
        if started is not None and started.status == 201:
            started.body.close()
            self._report(TransferProgress("blob", blob.digest, blob.size, "mounted"))
            return
        upload = BlobUpload(self._session, self._image.blobs, blob, self._scopes)
        upload.send(
            started,
            lambda sent: self._report(TransferProgress("blob", blob.digest, blob.size, "sending", sent)),
        )
        self._report(TransferProgress("blob", blob.digest, blob.size, "sent", blob.size))
        if (
            found is Presence.DIFFERENT
            and check_presence(self._session, blob, blob.digest, self._scopes) is not Presence.PRESENT
        ):
            # Some registries accept a blob and keep the copy that they had.
            raise Unreachable(
                f"{self._session.host} has a damaged copy of {blob.digest} and does not replace it",
                hint="delete the blob from the storage of the registry, then push again",
            )

    def _mount(self, blob: Descriptor) -> RegistryResponse | None:
        """Try to mount a blob from other repositories of the registry.

        Returns the response 201 if it was mounted, 202 if the registry started an upload instead, else None.
        """
        url = self._session.url("blobs", "uploads/")
        response: RegistryResponse | None = None
        for repository in self._session.options.mount_from:
            if response is not None:
                response.body.close()
            query = urlencode({"mount": blob.digest, "from": repository})
            response = self._session.request(
                "POST",
                f"{url}?{query}",
                "mount a blob for",
                expected=frozenset({201, 202, *range(400, 500)}),
                body=b"",
                scopes=self._scopes,
            )
            if response.status == 201:
                return response
        if response is None or response.status == 202:
            return response
        response.body.close()
        return None

    def push_manifest(self, manifest: Descriptor, name: str) -> None:
        """Push a manifest or index by tag or digest."""
        if check_presence(self._session, manifest, name, self._scopes) is Presence.PRESENT:
            self._report(TransferProgress("manifest", manifest.digest, manifest.size, "exists"))
            return
        data = read_blob(self._image.blobs, manifest)
        response = self._session.request(
            "PUT",
            self._session.url("manifests", name),
            f"store {name} in",
            expected=_STORED,
            headers={"Content-Type": manifest.media_type},
            body=data,
            scopes=self._scopes,
        )
        response.body.close()
        verify_stored_manifest(self._session, response, data, manifest, name)
        self._report(TransferProgress("manifest", manifest.digest, manifest.size, "sent", manifest.size))
