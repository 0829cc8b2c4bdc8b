"""How people name images: `host:port/repository:tag@digest`, and where else one may be than in a registry."""

from __future__ import annotations

__all__ = ["Located", "Reference", "looks_like_image", "parse_located", "parse_reference"]

import re
from dataclasses import dataclass
from typing import Final, Literal

from everpath.errors import UsageError

Transport = Literal["docker", "oci", "oci-archive", "docker-archive"]

_DOCKER_HUB: Final = "docker.io"
_PATHS: Final[tuple[Transport, ...]] = ("oci-archive", "docker-archive", "oci")
_REGISTRY: Final = "docker://"

# The grammar of the distribution specification. Two separators in a row are none, except __ and dashes.
_COMPONENT: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY: Final = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT})*")
_HOST: Final = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_LONGEST_NAME: Final = 255


@dataclass(frozen=True, slots=True)
class Reference:
    """An image in a registry: at a tag, at a digest, or at both, and then the digest counts."""

    registry: str
    repository: str
    tag: str | None = None
    digest: str | None = None

    def __str__(self) -> str:
        return f"{self.name}{f':{self.tag}' if self.tag else ''}{f'@{self.digest}' if self.digest else ''}"

    @property
    def name(self) -> str:
        """Without tag and digest, as auth files have it."""
        return f"{self.registry}/{self.repository}"

    @property
    def wanted(self) -> str:
        """What to ask the registry for."""
        return self.digest or self.tag or "latest"


@dataclass(frozen=True, slots=True)
class Located:
    """An image and where it is. A registry's has a reference, one on disk a path and perhaps a tag."""

    transport: Transport
    reference: Reference | None = None
    path: str = ""
    tag: str | None = None

    def __str__(self) -> str:
        if self.reference is not None:
            return str(self.reference)
        return f"{self.transport}:{self.path}{f':{self.tag}' if self.tag else ''}"


def parse_reference(text: str) -> Reference:
    """What `docker pull` takes, without its short names for other hosts. Raises UsageError.

    A first component is a host if it has a dot or a port or is localhost; else the image is Docker Hub's.
    """
    bare = text.removeprefix(_REGISTRY)
    name, at, digest = bare.partition("@")
    if at and not _DIGEST.fullmatch(digest):
        raise _wrong(text, f"{digest!r} is no digest", "a digest is sha256: and 64 hexadecimal digits")
    head, slash, last = name.rpartition("/")
    last, colon, tag = last.partition(":")
    if colon and not _TAG.fullmatch(tag):
        raise _wrong(text, f"{tag!r} is no tag", "a tag has letters, digits, _, . and -, at most 128")
    registry, repository = _homes(f"{head}{slash}{last}")
    if not _HOST.fullmatch(registry):
        raise _wrong(text, f"{registry!r} is no host", "write it like registry.example:5000/team/catalog:v1")
    if not _REPOSITORY.fullmatch(repository) or len(repository) > _LONGEST_NAME:
        hint = "a repository is written in lower case, as in registry.example/team/catalog:v1"
        raise _wrong(text, f"{repository!r} is no repository", hint)
    return Reference(registry, repository, tag or None, digest or None)


def parse_located(text: str) -> Located:
    """An image in a registry (`docker://` may be left out), a layout folder or an archive. Raises UsageError.

    What follows the first colon of a path is a tag, as with other tools; docker-archive takes a whole
    reference there.
    """
    for transport in _PATHS:
        if not text.startswith(f"{transport}:"):
            continue
        path, _, tag = text[len(transport) + 1 :].partition(":")
        if not path:
            raise _wrong(text, "there is no path", f"write {transport}:PATH, or {transport}:PATH:TAG")
        return Located(transport, None, path, tag or None)
    return Located("docker", parse_reference(text))


def looks_like_image(text: str) -> bool:
    """Whether somebody who writes this means an image: a transport, or a repository with a tag or digest.

    A path without either is a path, and so is a lone `name:tag`: a catalog is in nobody's short names, and a
    mistyped file should be told as one.
    """
    if text.startswith(_REGISTRY) or any(text.startswith(f"{transport}:") for transport in _PATHS):
        return True
    if "/" not in text or not ("@" in text or ":" in text.rpartition("/")[2]):
        return False
    try:
        parse_reference(text)
    except UsageError:
        return False
    return True


def _homes(name: str) -> tuple[str, str]:
    """The registry and the repository in it."""
    first, slash, rest = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        hub = first in (_DOCKER_HUB, f"index.{_DOCKER_HUB}")
        return (_DOCKER_HUB, rest if "/" in rest else f"library/{rest}") if hub else (first, rest)
    return _DOCKER_HUB, name if slash else f"library/{name}"


def _wrong(text: str, reason: str, hint: str) -> UsageError:
    return UsageError(f"{text!r} names no image: {reason}", hint=hint)
