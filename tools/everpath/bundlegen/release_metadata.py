"""What a release adds to the operator's manifests."""

from __future__ import annotations

__all__ = ["ReleaseFacts"]

from collections.abc import Mapping
from typing import Any, NamedTuple


class ReleaseFacts(NamedTuple):
    """One release as its bundle tells it.

    `images` are the container images by the name the manifests use for them, `digests`
    what each reference is to be pinned to; None pins nothing.
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
