"""Payloads: the catalog or bundle in an image, found by its labels and extracted to a folder."""

from __future__ import annotations

__all__ = ["Payload", "PayloadKind", "extract_payload", "find_payload"]

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from everpath.atomic_files import atomic_folder, scratch_folder
from everpath.errors import UnreadableInput
from everpath.oci.configs import load_labels
from everpath.oci.descriptors import Image, Platform
from everpath.oci.labels import (
    BUNDLE_MANIFESTS_LABEL,
    BUNDLE_METADATA_LABEL,
    BUNDLE_TESTS_LABEL,
    CONFIGS_LABEL,
    DATABASE_LABEL,
)
from everpath.oci.platforms import select_manifest
from everpath.oci.unpack import unpack_into

PayloadKind: TypeAlias = Literal["catalog", "bundle"]


@dataclass(frozen=True, slots=True)
class Payload:
    """The folders of an image that OLM reads, relative to its root. `root` contains all of them."""

    kind: PayloadKind
    root: str
    folders: tuple[str, ...]


def find_payload(image: Image, name: str, platform: Platform | None = None) -> Payload:
    """Return what the labels of an image point to. Only manifest and config are read.

    Raises UnreadableInput for an image that is neither a catalog nor a bundle.
    """
    labels = load_labels(image, select_manifest(image, platform))
    if CONFIGS_LABEL in labels:
        root = _normalize_path(labels[CONFIGS_LABEL], name)
        return Payload("catalog", root, (root,))
    bundle_labels = (BUNDLE_MANIFESTS_LABEL, BUNDLE_METADATA_LABEL, BUNDLE_TESTS_LABEL)
    folders = tuple(_normalize_path(labels[key], name) for key in bundle_labels if labels.get(key))
    if BUNDLE_MANIFESTS_LABEL in labels:
        return Payload("bundle", "", folders)
    if DATABASE_LABEL in labels:
        raise UnreadableInput(
            f"{name} is a catalog in the deprecated SQLite format",
            hint=f"`opm render {name}` reads it; `opm migrate` converts it to a file-based catalog",
        )
    raise UnreadableInput(
        f"{name} is neither a catalog nor a bundle: it has the labels of neither",
        hint=f"a catalog has the label {CONFIGS_LABEL}; everpath catalog build sets it",
    )


def extract_payload(
    image: Image, payload: Payload, folder: str, name: str, platform: Platform | None = None
) -> None:
    """Extract the files of a catalog, or the folders of a bundle, to a new or empty folder.

    Raises UnreadableInput for an image that lacks them, and UsageError if the folder cannot be written.
    Nothing is written then.
    """
    target = Path(folder)
    with atomic_folder(target) as new, scratch_folder(beside=target) as scratch:
        unpacked, spool = scratch / "image", scratch / "spool"
        unpacked.mkdir()
        spool.mkdir()
        if not unpack_into(image, unpacked, spool, prefixes=payload.folders, platform=platform):
            paths = ", ".join(f"/{each}" for each in payload.folders)
            raise UnreadableInput(f"{name} has no files in {paths}, where its labels point")
        if not (unpacked / payload.root).is_dir():
            raise UnreadableInput(f"{name} has a file in place of the folder /{payload.root}")
        for each in sorted((unpacked / payload.root).iterdir()):
            each.rename(new / each.name)


def _normalize_path(path: str, name: str) -> str:
    """Return the path in a label, relative to the image. Raises UnreadableInput if it leaves the image."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        raise UnreadableInput(f"{name} is invalid: a label points to {path!r}")
    return "/".join(parts)
