"""References to images in registries: `host:port/repository:tag@digest`."""

from __future__ import annotations

__all__ = ["REGISTRY_PREFIX", "Reference", "invalid_reference", "parse_reference"]

import re
from dataclasses import dataclass
from typing import Final

from everpath.errors import UsageError

#: The prefix that marks a reference, which otherwise may look like a path.
REGISTRY_PREFIX: Final = "docker://"

_DOCKER_HUB: Final = "docker.io"

# The grammar of the distribution specification.
_COMPONENT: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY: Final = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT})*")
_HOST: Final = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_MAX_REPOSITORY_LENGTH: Final = 255


@dataclass(frozen=True, slots=True)
class Reference:
    """An image in a registry, by tag, digest or both. With both the digest counts."""

    registry: str
    repository: str
    tag: str | None = None
    digest: str | None = None

    def __str__(self) -> str:
        return f"{self.name}{f':{self.tag}' if self.tag else ''}{f'@{self.digest}' if self.digest else ''}"

    @property
    def name(self) -> str:
        """Registry and repository, as in auth files."""
        return f"{self.registry}/{self.repository}"

    @property
    def digest_or_tag(self) -> str:
        """What to request from the registry."""
        return self.digest or self.tag or "latest"


def parse_reference(text: str) -> Reference:
    """Parse a reference as `docker pull` does. Raises UsageError.

    The first component is a host if it has a dot or a port or is localhost; otherwise the host is Docker Hub.
    """
    name, at, digest = text.removeprefix(REGISTRY_PREFIX).partition("@")
    if at and not _DIGEST.fullmatch(digest):
        hint = "a digest is sha256: and 64 hexadecimal digits"
        raise invalid_reference(text, f"{digest!r} is not a digest", hint)
    head, slash, last = name.rpartition("/")
    last, colon, tag = last.partition(":")
    if colon and not _TAG.fullmatch(tag):
        hint = "a tag has letters, digits, _, . and -, at most 128"
        raise invalid_reference(text, f"{tag!r} is not a tag", hint)
    registry, repository = _split_registry(f"{head}{slash}{last}")
    if not _HOST.fullmatch(registry):
        hint = "write it like registry.example:5000/team/catalog:v1"
        raise invalid_reference(text, f"{registry!r} is not a host", hint)
    if not _REPOSITORY.fullmatch(repository) or len(repository) > _MAX_REPOSITORY_LENGTH:
        hint = "a repository is written in lower case, as in registry.example/team/catalog:v1"
        raise invalid_reference(text, f"{repository!r} is not a repository", hint)
    return Reference(registry, repository, tag or None, digest or None)


def invalid_reference(text: str, reason: str, hint: str) -> UsageError:
    """Return the error for a text that should be an image."""
    return UsageError(f"{text!r} is not an image: {reason}", hint=hint)


def _split_registry(name: str) -> tuple[str, str]:
    """Split a name without a tag into registry and repository."""
    first, slash, rest = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        if first not in (_DOCKER_HUB, f"index.{_DOCKER_HUB}"):
            return first, rest
        return _DOCKER_HUB, rest if "/" in rest else f"library/{rest}"
    return _DOCKER_HUB, name if slash else f"library/{name}"
