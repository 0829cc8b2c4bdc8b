"""What an image is to OLM, as its labels say: a catalog or a bundle, and where in it that is."""

from __future__ import annotations

__all__ = ["CONFIGS", "Payload", "extract", "payload_of"]

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from everpath.atomic_files import draft_folder, folder_aside
from everpath.errors import UnreadableInput
from everpath.oci.descriptors import Image, Platform
from everpath.oci.platforms import labels_of, manifest_for
from everpath.oci.unpack import fill

#: The label that says where the file-based catalog of an image is.
CONFIGS: Final = "operators.operatorframework.io.index.configs.v1"

_DATABASE: Final = "operators.operatorframework.io.index.database.v1"
_BUNDLE: Final = "operators.operatorframework.io.bundle."
_PARTS: Final = (
    f"{_BUNDLE}manifests.v1",
    f"{_BUNDLE}metadata.v1",
    "operators.operatorframework.io.test.config.v1",
)


@dataclass(frozen=True, slots=True)
class Payload:
    """The folders of an image that are OLM's. `root` is the one to read them from, relative to the image."""

    kind: Literal["catalog", "bundle"]
    root: str
    folders: tuple[str, ...]


def payload_of(image: Image, name: str, platform: Platform | None = None) -> Payload:
    """What an image holds; one look at its config. Raises UnreadableInput for an image of another kind."""
    labels = labels_of(image, manifest_for(image, platform))
    if CONFIGS in labels:
        root = _inside(labels[CONFIGS], name)
        return Payload("catalog", root, (root,))
    parts = tuple(_inside(labels[key], name) for key in _PARTS if labels.get(key))
    if f"{_BUNDLE}manifests.v1" in labels:
        return Payload("bundle", "", parts)
    if _DATABASE in labels:
        hint = f"`opm render {name}` still reads it; `opm migrate` makes a file-based catalog of it"
        raise UnreadableInput(f"{name} is a catalog of the retired kind: a database", hint=hint)
    raise UnreadableInput(
        f"{name} is neither a catalog nor a bundle: it lacks the labels of both",
        hint=f"a catalog has the label {CONFIGS}; everpath catalog build sets it",
    )


def extract(image: Image, payload: Payload, folder: str, name: str, platform: Platform | None = None) -> None:
    """Put what an image holds into a folder: a catalog's files, or a bundle's folders. All or nothing.

    Raises UnreadableInput for an image that lacks them, and UsageError where the folder cannot be written.
    """
    target = Path(folder)
    with draft_folder(target) as draft, folder_aside(target) as aside:
        whole, spool = aside / "image", aside / "spool"
        whole.mkdir()
        spool.mkdir()
        if not fill(image, whole, spool, prefixes=payload.folders, platform=platform):
            where = ", ".join(f"/{each}" for each in payload.folders)
            raise UnreadableInput(f"{name} holds nothing in {where}, where its labels point")
        if not (whole / payload.root).is_dir():
            raise UnreadableInput(f"{name} has a file in the place of the folder /{payload.root}")
        for each in sorted((whole / payload.root).iterdir()):
            each.rename(draft / each.name)


def _inside(path: str, name: str) -> str:
    """A label's folder, as a path from the root of the image."""
    steps = [step for step in path.split("/") if step not in ("", ".")]
    if not steps or ".." in steps:
        raise UnreadableInput(f"{name} is misshapen: a label points to {path!r}")
    return "/".join(steps)
