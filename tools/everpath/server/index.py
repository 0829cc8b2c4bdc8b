"""What a registry knows of a catalog that it may serve: small, complete, and quick to load again.

Everything but manifests is in it. Those are nine tenths of a catalog, only calls for a single bundle want
them, and where they stand is written down (`Where`).
"""

from __future__ import annotations

__all__ = ["ChannelOf", "Custom", "Index", "PackageOf", "Step", "Where"]

from collections.abc import Iterator

import msgspec

from everpath.model import Gvk


class Where(msgspec.Struct, frozen=True, array_like=True):
    """A document: the file it is in, and the bytes from its first to the start of the next one."""

    file: str
    start: int
    end: int


class Step(msgspec.Struct, frozen=True, array_like=True):
    """A bundle as a member of one channel. `listed` is its message without manifests, serialised."""

    name: str
    replaces: str
    skips: tuple[str, ...]
    has_image: bool
    listed: bytes
    apis: tuple[Gvk, ...]


class ChannelOf(msgspec.Struct, frozen=True, array_like=True):
    """A channel, its steps by name. `order` has them as OLM v0 prefers them: the head first."""

    name: str
    head: str
    deprecation: str | None
    steps: dict[str, Step]
    order: tuple[str, ...]


class PackageOf(msgspec.Struct, frozen=True, array_like=True):
    """A package with its channels by name, and where its own document and those of its bundles are."""

    name: str
    default_channel: str
    deprecation: str | None
    where: Where
    channels: dict[str, ChannelOf]
    bundles: dict[str, Where]


class Custom(msgspec.Struct, frozen=True, array_like=True):
    """A document of a schema that is nobody's here."""

    schema: str
    package: str
    where: Where


class Index(msgspec.Struct, frozen=True, array_like=True):
    """A catalog, packages, channels and steps in order of their names.

    One that `is_checked` was parsed to the last byte; of any other, some values of olm.csv.metadata were
    passed over.
    """

    packages: dict[str, PackageOf]
    customs: tuple[Custom, ...]
    is_checked: bool = False

    def steps(self) -> Iterator[tuple[PackageOf, ChannelOf, Step]]:
        """Every bundle in every channel, package by package."""
        for package in self.packages.values():
            for channel in package.channels.values():
                for step in channel.steps.values():
                    yield package, channel, step
