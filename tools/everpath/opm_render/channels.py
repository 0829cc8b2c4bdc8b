"""Channels as the `olm.channel` blobs of a catalog."""

from __future__ import annotations

__all__ = ["channel_blob"]

from typing import Any

from everpath.model import Channel
from everpath.opm_render.bundles import Blob


def channel_blob(channel: Channel) -> Blob:
    """A channel with its entries in their order, each with the edges it has."""
    entries: list[dict[str, Any]] = []
    for entry in channel.entries:
        stated = {"replaces": entry.replaces, "skips": list(entry.skips), "skipRange": entry.skip_range}
        entries.append({"name": entry.name} | {key: value for key, value in stated.items() if value})
    return {"schema": "olm.channel", "package": channel.package, "name": channel.name, "entries": entries}
