"""Image configs: platform, labels, entrypoint and the diff ids of the layers."""

from __future__ import annotations

__all__ = [
    "CONFIG_MEDIA_TYPE",
    "ConfigChange",
    "config_platform",
    "encode_new_config",
    "encode_updated_config",
    "load_config",
    "load_diff_ids",
    "load_labels",
]

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from everpath.errors import UnreadableInput
from everpath.oci.blobs import read_blob
from everpath.oci.descriptors import Descriptor, Image, Platform
from everpath.oci.manifests import canonical_json, config_and_layers, invalid_manifest

CONFIG_MEDIA_TYPE: Final = "application/vnd.oci.image.config.v1+json"


class ConfigChange(NamedTuple):
    """What a build changes in a config: it adds a layer, sets labels, and may set what is started.

    A label with the value None is removed. `entrypoint` and `cmd` are left alone when they are None.
    """

    diff_id: str
    created: int
    created_by: str
    labels: Mapping[str, str | None]
    entrypoint: Sequence[str] | None = None
    cmd: Sequence[str] | None = None


def load_config(image: Image, manifest: Descriptor) -> dict[str, Any]:
    """Read the config of a manifest. Raises UnreadableInput if it is not a JSON object."""
    descriptor, _ = config_and_layers(image, manifest)
    try:
        document = json.loads(read_blob(image.blobs, descriptor))
    except (ValueError, RecursionError) as error:
        raise invalid_manifest(descriptor.digest, "the config is not JSON") from error
    if not isinstance(document, dict):
        raise invalid_manifest(descriptor.digest, "the config is not a mapping")
    return document


def load_labels(image: Image, manifest: Descriptor) -> dict[str, str]:
    """Read the labels of an image; those that are not strings are dropped."""
    process = load_config(image, manifest).get("config")
    labels = process.get("Labels") if isinstance(process, dict) else None
    return {k: v for k, v in labels.items() if isinstance(v, str)} if isinstance(labels, dict) else {}


def load_diff_ids(image: Image, manifest: Descriptor, count: int) -> list[str | None]:
    """Read the digests of the uncompressed layers, None for each that the config does not state properly."""
    rootfs = load_config(image, manifest).get("rootfs")
    diff_ids = rootfs.get("diff_ids") if isinstance(rootfs, dict) else None
    if not isinstance(diff_ids, list) or len(diff_ids) != count:
        return [None] * count
    return [each if isinstance(each, str) and each.startswith("sha256:") else None for each in diff_ids]


def config_platform(config: Mapping[str, Any]) -> Platform:
    """Return the platform of a config, with empty strings for what is missing."""
    os, architecture, variant = (config.get(key) for key in ("os", "architecture", "variant"))
    return Platform(
        os if isinstance(os, str) else "",
        architecture if isinstance(architecture, str) else "",
        variant if isinstance(variant, str) and variant else None,
    )


def encode_new_config(platform: Platform, change: ConfigChange) -> bytes:
    """Encode the config of an image with one layer and no base."""
    variant = {"variant": platform.variant} if platform.variant else {}
    empty = {
        "rootfs": {"type": "layers", "diff_ids": []},
        "os": platform.os,
        "architecture": platform.architecture,
        **variant,
    }
    return encode_updated_config(empty, change)


def encode_updated_config(base: Mapping[str, Any], change: ConfigChange) -> bytes:
    """Encode the config of a base image with a change. Fields that are unknown here are preserved.

    Raises UnreadableInput if the base's config is invalid.
    """
    timestamp = datetime.fromtimestamp(change.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    rootfs = _mapping(base, "rootfs")
    document = dict(base)
    document["config"] = _apply_change(_mapping(base, "config"), change)
    document["rootfs"] = rootfs | {"diff_ids": [*_items(rootfs, "diff_ids"), change.diff_id]}
    document["created"] = timestamp
    document["history"] = [
        *_items(base, "history"),
        {"created": timestamp, "created_by": change.created_by},
    ]
    return canonical_json(document)


def _apply_change(base: Mapping[str, Any], change: ConfigChange) -> dict[str, Any]:
    process = dict(base)
    labels = {**_mapping(base, "Labels"), **change.labels}
    if remaining := {key: value for key, value in labels.items() if value is not None}:
        process["Labels"] = remaining
    else:
        process.pop("Labels", None)
    if change.entrypoint is not None:
        process["Entrypoint"] = list(change.entrypoint)
    if change.cmd is not None:
        process["Cmd"] = list(change.cmd)
    return process


def _mapping(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key) or {}
    if not isinstance(value, dict):
        raise UnreadableInput(f"the config of the base image is invalid: {key!r} is not a mapping")
    return value


def _items(document: Mapping[str, Any], key: str) -> list[Any]:
    value = document.get(key) or []
    if not isinstance(value, list):
        raise UnreadableInput(f"the config of the base image is invalid: {key!r} is not a list")
    return value
