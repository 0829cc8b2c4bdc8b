"""Image configs: what runs, what it is labelled, and which archives its layers are."""

from __future__ import annotations

__all__ = ["CONFIG", "Change", "changed", "config_bytes", "platform_of", "stamp"]

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from everpath.errors import UnreadableInput
from everpath.oci.descriptors import Platform
from everpath.oci.manifests import json_bytes

CONFIG: Final = "application/vnd.oci.image.config.v1+json"


class Change(NamedTuple):
    """What a build adds to an image: a layer, labels, and what to start, None for what the base starts.

    Labels without a value are taken away.
    """

    diff_id: str
    created: int
    created_by: str
    labels: Mapping[str, str | None]
    entrypoint: Sequence[str] | None = None
    cmd: Sequence[str] | None = None


def stamp(seconds: int) -> str:
    """A time as images write it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def config_bytes(platform: Platform, change: Change) -> bytes:
    """The config of an image that has one layer and no base."""
    empty = {"rootfs": {"type": "layers", "diff_ids": []}}
    return changed(empty | _written(platform), change)


def changed(base: Mapping[str, Any], change: Change) -> bytes:
    """The config of a base with a layer more. Raises UnreadableInput where the base's is misshapen.

    What is not changed is kept, also what is unknown here: a runtime may know it.
    """
    document = dict(base)
    document["config"] = _process(_mapping(base, "config"), change)
    rootfs = _mapping(base, "rootfs")
    document["rootfs"] = rootfs | {"diff_ids": [*_items(rootfs, "diff_ids"), change.diff_id]}
    document["created"] = stamp(change.created)
    entry = {"created": stamp(change.created), "created_by": change.created_by}
    document["history"] = [*_items(base, "history"), entry]
    return json_bytes(document)


def platform_of(config: Mapping[str, Any]) -> Platform:
    """What an image runs on, as its config says; an empty word where it does not."""
    os, architecture, variant = (config.get(key) for key in ("os", "architecture", "variant"))
    return Platform(
        os if isinstance(os, str) else "",
        architecture if isinstance(architecture, str) else "",
        variant if isinstance(variant, str) and variant else None,
    )


def _written(platform: Platform) -> dict[str, str]:
    variant = {"variant": platform.variant} if platform.variant else {}
    return {"os": platform.os, "architecture": platform.architecture, **variant}


def _process(process: Mapping[str, Any], change: Change) -> dict[str, Any]:
    found = dict(process)
    labels = {**_mapping(process, "Labels"), **change.labels}
    if kept := {key: value for key, value in labels.items() if value is not None}:
        found["Labels"] = kept
    else:
        found.pop("Labels", None)
    if change.entrypoint is not None:
        found["Entrypoint"] = list(change.entrypoint)
    if change.cmd is not None:
        found["Cmd"] = list(change.cmd)
    return found


def _mapping(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A mapping below a key, where nothing is an empty one."""
    found = document.get(key) or {}
    if not isinstance(found, dict):
        raise UnreadableInput(f"the config of the base image is misshapen: {key!r} is not a mapping")
    return found


def _items(document: Mapping[str, Any], key: str) -> list[Any]:
    found = document.get(key) or []
    if not isinstance(found, list):
        raise UnreadableInput(f"the config of the base image is misshapen: {key!r} is not a list")
    return found
