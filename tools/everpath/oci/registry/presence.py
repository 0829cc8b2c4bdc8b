"""What a registry has of an image: its word counts only where it agrees with what is known of the thing."""

from __future__ import annotations

__all__ = ["Presence", "presence", "require_stored"]

from collections.abc import Mapping
from enum import Enum
from typing import Final

from everpath.errors import Unreachable
from everpath.oci.descriptors import Descriptor
from everpath.oci.registry.auth import Scope
from everpath.oci.registry.errors import is_html, misdirected
from everpath.oci.registry.session import Session
from everpath.oci.registry.transport import Answer, Broken

_LOOKED: Final = frozenset({200, 404})


class Presence(Enum):
    """OTHER is a copy that cannot be ours: cut off by a full disk, or something else by that name."""

    ABSENT = "absent"
    OTHER = "other"
    THERE = "there"


def presence(session: Session, wanted: Descriptor, name: str, scopes: tuple[Scope, ...]) -> Presence:
    """Whether a blob is there, or a manifest by its tag or digest. Raises Unreachable.

    A manifest must be vouched for by its digest, which is all that tells a tag's new image from its old one.
    """
    is_blob = not (wanted.is_manifest or wanted.is_index)
    answer = session.ask(
        "HEAD",
        session.path("blobs" if is_blob else "manifests", name),
        "be pushed to for",
        hopes=_LOOKED,
        headers={} if is_blob else {"Accept": wanted.media_type},
        scopes=scopes,
    )
    answer.body.close()
    if answer.status == 404:
        return Presence.ABSENT
    if is_html(answer.headers, b""):
        raise misdirected(session.host, 200)
    return Presence.THERE if _agrees(answer.headers, wanted, unnamed=is_blob) else Presence.OTHER


def _agrees(headers: Mapping[str, str], wanted: Descriptor, *, unnamed: bool) -> bool:
    length, digest = headers.get("content-length"), headers.get("docker-content-digest")
    if digest is None and not unnamed:
        return False
    return length in (None, str(wanted.size)) and digest in (None, wanted.digest)


def require_stored(session: Session, answer: Answer, sent: bytes, manifest: Descriptor, name: str) -> None:
    """That a manifest is in the registry after the answer to its PUT. Raises Unreachable.

    A server that is no registry may say 200 to everything: without a 201 and without a digest the manifest is
    asked for.
    """
    digest = answer.headers.get("docker-content-digest")
    if digest is None and answer.status != 201:
        _require_given_back(session, sent, manifest, name)
    elif digest not in (None, manifest.digest):
        raise Unreachable(
            f"{session.host} stored {digest} where {manifest.digest} was sent",
            hint="is there something between that changes what passes?",
        )


def _require_given_back(session: Session, sent: bytes, manifest: Descriptor, name: str) -> None:
    url, accept = session.path("manifests", name), {"Accept": manifest.media_type}
    answer = session.ask("GET", url, f"give back {name} of", hopes=frozenset({200}), headers=accept)
    try:
        given = answer.text(len(sent) + 1)
    except Broken as error:
        raise session.unreached(error) from error
    if is_html(answer.headers, given):
        raise misdirected(session.host, answer.status)
    if given != sent:
        raise Unreachable(
            f"{session.host} took {name}, and gives something else when it is asked for it",
            hint="is it a registry that speaks the OCI distribution API (/v2/)?",
        )
