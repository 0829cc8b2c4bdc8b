"""What rules about a bundle's folder look at, and the ways into it."""

from __future__ import annotations

__all__ = ["BundleFolder", "PackageFile", "Way", "Weight", "dig", "rows", "text"]

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from everpath.model import Place
from everpath.model.bundle_contents import Contents, Manifest

#: The keys and numbers down to a value.
Way: TypeAlias = tuple[str | int, ...]

PACKAGE = "operators.operatorframework.io.bundle.package.v1"


class Weight(NamedTuple):
    """The bytes of a folder's files, and what they take up once each is compressed and spelled in base64."""

    plain: int
    compressed: int


@dataclass(frozen=True, slots=True)
class BundleFolder:
    """A bundle's folder with what stands around its manifests, and what its user said of the cluster.

    `strays` are names in manifests/ that are no manifests: folders and hidden files. `missing` are the
    folders that opm looks for and does not find. `kube_version` is the Kubernetes the bundle is meant for,
    `categories` are those of the user's own catalog, `labels` is the file that holds the image's labels.
    """

    contents: Contents
    strays: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    weight: Weight | None = None
    kube_version: str = ""
    categories: frozenset[str] | None = None
    labels: tuple[Place, str] | None = None
    csv: Manifest | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "csv", self.contents.csv)

    @property
    def package(self) -> str | None:
        """The package its annotations name."""
        return text((self.contents.annotations or {}).get(PACKAGE)) or None

    @property
    def name(self) -> str | None:
        """What the bundle is called: as its CSV is."""
        return text(dig(self.csv.body, "metadata", "name")) or None if self.csv else None


class PackageFile(NamedTuple):
    """A package file (NAME.package.yaml): which CSV stands at the head of which channel."""

    place: Place
    body: Mapping[str, Any]

    @property
    def package(self) -> str | None:
        return text(dig(self.body, "packageName")) or None


def dig(value: Any, *way: str | int) -> Any:
    """The value down a way, None where it ends. Go matches keys whatever their case, the exact one first."""
    for step in way:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        elif isinstance(value, dict):
            value = value[step] if step in value else _alike(value, step)
        else:
            return None
    return value


def _alike(mapping: Mapping[str, Any], key: str) -> Any:
    wanted = key.casefold()
    return next((v for k, v in mapping.items() if isinstance(k, str) and k.casefold() == wanted), None)


def rows(value: Any, *way: str | int) -> Iterator[tuple[int, Any]]:
    """The items of a list down a way, numbered; nothing where there is none."""
    found = dig(value, *way)
    return iter(enumerate(found)) if isinstance(found, list) else iter(())


def text(value: Any) -> str:
    """A scalar as Kubernetes' YAML reads it where a string is wanted; empty for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else ""
