"""Checks whether a registry has a blob or a manifest, and whether it stored a manifest that was pushed."""

from __future__ import annotations

__all__ = ["Presence", "check_presence", "verify_stored_manifest"]

from enum import Enum
from typing import Final

from everpath.errors import Unreachable
from everpath.oci.descriptors import Descriptor
from everpath.oci.registry.auth import TokenScope
from everpath.oci.registry.errors import NOT_A_REGISTRY_HINT, html_error, is_html
from everpath.oci.registry.http_client import ConnectionFailed, RegistryResponse
from everpath.oci.registry.session import Session

_EXPECTED: Final = frozenset({200, 404})


class Presence(Enum):
    """DIFFERENT is a copy with another size or digest: truncated, or another image with the same tag."""

    ABSENT = "absent"
    DIFFERENT = "different"
    PRESENT = "present"


def check_presence(
    session: Session, descriptor: Descriptor, name: str, scopes: tuple[TokenScope, ...]
) -> Presence:
    """Send a HEAD request for a blob, or for a manifest by tag or digest. Raises Unreachable.

    A manifest is present only if the response contains its digest: a tag may point to another image.
    """
    is_blob = not (descriptor.is_manifest or descriptor.is_index)
    response = session.request(
        "HEAD",
        session.url("blobs" if is_blob else "manifests", name),
        "accept a push to",
        expected=_EXPECTED,
        headers={} if is_blob else {"Accept": descriptor.media_type},
        scopes=scopes,
    )
    response.body.close()
    if response.status == 404:
        return Presence.ABSENT
    if is_html(response.headers, b""):
        raise html_error(session.host, 200)
    size, digest = response.headers.get("content-length"), response.headers.get("docker-content-digest")
    has_same_size = size in (None, str(descriptor.size))
    has_same_digest = digest == descriptor.digest or (is_blob and digest is None)
    return Presence.PRESENT if has_same_size and has_same_digest else Presence.DIFFERENT


def verify_stored_manifest(
    session: Session, response: RegistryResponse, data: bytes, manifest: Descriptor, name: str
) -> None:
    """Check the response to the PUT of a manifest. Raises Unreachable if the registry did not store it.

    A server that is not a registry may respond to every request with 200. Without 201 and without a digest
    the manifest is requested again.
    """
    digest = response.headers.get("docker-content-digest")
    if digest not in (None, manifest.digest):
        raise Unreachable(
            f"{session.host} stored {digest} instead of {manifest.digest}",
            hint="check for a proxy that changes what passes through it",
        )
    if digest is not None or response.status == 201:
        return
    url, accept = session.url("manifests", name), {"Accept": manifest.media_type}
    returned = session.request("GET", url, f"return {name} of", expected=frozenset({200}), headers=accept)
    try:
        stored = returned.read_body(len(data) + 1)
    except ConnectionFailed as error:
        raise session.connection_error(error) from error
    if is_html(returned.headers, stored):
        raise html_error(session.host, returned.status)
    if stored != data:
        raise Unreachable(
            f"{session.host} accepted {name}, but returns something else", hint=NOT_A_REGISTRY_HINT
        )
