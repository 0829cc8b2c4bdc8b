"""The part of a bundle that differs from release to release."""

from __future__ import annotations

__all__ = ["ReleaseMetadata"]

from collections.abc import Mapping
from typing import Any, NamedTuple


class ReleaseMetadata(NamedTuple):
    """One release.

    `images` maps image names of the manifests to the images of the release. `digests` maps image references
    to references by digest; None leaves tags as they are.
    """

    package: str
    name: str
    version: str
    channels: tuple[str, ...]
    default_channel: str
    replaces: str | None = None
    skips: tuple[str, ...] = ()
    skip_range: str | None = None
    min_kube_version: str | None = None
    images: Mapping[str, str] = {}
    digests: Mapping[str, str] | None = None
    properties: tuple[Mapping[str, Any], ...] = ()
    dependencies: tuple[Mapping[str, Any], ...] = ()
    annotations: Mapping[str, str] = {}
