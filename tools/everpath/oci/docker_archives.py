"""Docker archives: what `docker save` writes and `docker load` reads. One platform, layers uncompressed.

Such an archive has no manifest with a digest: the image is known by its ID, the digest of its config.
"""

from __future__ import annotations

__all__ = ["image_id", "open_docker_archive", "write_docker_archive"]

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final

from everpath.atomic_files import draft_file
from everpath.errors import UnreadableInput, UsageError
from everpath.oci.blobs import Blobs
from everpath.oci.checked import checked_pieces
from everpath.oci.configs import CONFIG
from everpath.oci.descriptors import Content, Descriptor, Image, Platform
from everpath.oci.inflating import Allowance, layer_pieces
from everpath.oci.layers import file_pieces, tar_end
from everpath.oci.manifests import MANIFEST, manifest_bytes
from everpath.oci.oci_archives import TarMembers
from everpath.oci.platforms import manifest_for, parts_of
from everpath.oci.references import parse_reference

_LAYER: Final = "application/vnd.oci.image.layer.v1.tar"
_LAYER_GZIP: Final = "application/vnd.oci.image.layer.v1.tar+gzip"
_LONGEST: Final = 4 * 1024 * 1024
_LARGEST_LAYER: Final = 1 << 34
_PIECE: Final = 1 << 20


def image_id(image: Image, platform: Platform | None = None) -> str:
    """What Docker calls an image: the digest of its config."""
    config, _ = parts_of(image, manifest_for(image, platform))
    return config.digest


def write_docker_archive(
    image: Image, path: str, tag: str | None = None, platform: Platform | None = None
) -> None:
    """Write one platform of an image to a file, whole or not at all. The tag is a name: `op:v1`.

    Raises UsageError where it cannot be written.
    """
    allowance = Allowance(_LARGEST_LAYER)
    with draft_file(Path(path)) as stream:
        config, layers = parts_of(image, manifest_for(image, platform))
        name = f"{config.digest.removeprefix('sha256:')}.json"
        stream.writelines(file_pieces(name, config.size, checked_pieces(image.content, config)))
        names = [_write_layer(image.content, layer, stream, allowance) for layer in layers]
        listed = [{"Config": name, "RepoTags": [tag] if tag else None, "Layers": names}]
        document = json.dumps(listed, sort_keys=True, separators=(",", ":")).encode()
        stream.writelines(file_pieces("manifest.json", len(document), [document]))
        stream.write(tar_end())


def _write_layer(content: Content, layer: Descriptor, stream: BinaryIO, allowance: Allowance) -> str:
    """A layer as the archive inside it, whose length is known only when it has been read."""
    with TemporaryFile() as aside:
        hashed = hashlib.sha256()
        for piece in layer_pieces(content, layer, allowance):
            hashed.update(piece)
            aside.write(piece)
        size = aside.tell()
        aside.seek(0)
        name = f"{hashed.hexdigest()}.tar"
        stream.writelines(file_pieces(name, size, iter(lambda: aside.read(_PIECE), b"")))
    return name


def open_docker_archive(path: str, tag: str | None = None) -> Image:
    """The image of an archive, that of a tag (`op:v1`) where there are several. Raises UnreadableInput.

    Cost: every layer is hashed once, for the manifest that the archive does not have.
    """
    members = TarMembers(path)
    if "manifest.json" not in members and "oci-layout" in members:
        hint = f"try oci-archive:{path}"
        raise UnreadableInput(f"{path} is an OCI archive, not a docker-archive", hint=hint, file=path)
    listed = _picked(_json(members, "manifest.json"), tag, path)
    content = _Members(members)
    config = content.add(CONFIG, _text(listed.get("Config"), path))
    layers = [content.add(None, _text(name, path)) for name in _texts(listed.get("Layers"), path)]
    blobs = Blobs(content)
    return Image(blobs.put(MANIFEST, manifest_bytes(config, layers)), blobs)


class _Members:
    """Blobs that are members of an archive."""

    def __init__(self, members: TarMembers) -> None:
        self._members = members
        self._names: dict[str, str] = {}

    def add(self, media_type: str | None, name: str) -> Descriptor:
        """A member as a blob, by its hash; without a media type it is a layer, and its first bytes tell."""
        hashed = hashlib.sha256()
        with self._members.open(name) as stream:
            kind = media_type or (_LAYER_GZIP if stream.read(2) == b"\x1f\x8b" else _LAYER)
        with self._members.open(name) as stream:
            while piece := stream.read(_PIECE):
                hashed.update(piece)
        digest = f"sha256:{hashed.hexdigest()}"
        self._names[digest] = name
        return Descriptor(kind, digest, self._members.size(name))

    def open(self, descriptor: Descriptor) -> BinaryIO:
        if descriptor.digest not in self._names:
            raise UnreadableInput(f"{self._members.path} has no {descriptor.digest}", file=self._members.path)
        return self._members.open(self._names[descriptor.digest])


def _json(members: TarMembers, name: str) -> Any:
    data = members.read(name, _LONGEST)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _wrong(members.path, f"{name} is not JSON") from error


def _picked(document: Any, tag: str | None, path: str) -> Mapping[str, Any]:
    if not isinstance(document, list) or not all(isinstance(each, dict) for each in document):
        raise _wrong(path, "manifest.json is not a list of images")
    images: list[dict[str, Any]] = document
    fitting = [each for each in images if tag is None or _whole(tag) in map(_whole, _named(each))]
    if len(fitting) == 1:
        return fitting[0]
    tags = sorted(name for each in images for name in _named(each))
    hint = f"it has {', '.join(tags)}" if tags else "none of its images has a name"
    asked = f" named {tag!r}" if tag is not None else ""
    raise UnreadableInput(f"{path} holds {len(fitting)} images{asked}", hint=hint, file=path)


def _named(listed: Mapping[str, Any]) -> list[str]:
    """What an image is called; nothing where it is called nothing that is a name."""
    names = listed.get("RepoTags")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _whole(name: str) -> str:
    """A name with the registry that it leaves out: whoever saves an image may write it either way."""
    try:
        return str(parse_reference(name))
    except UsageError:
        return name


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise _wrong(path, "manifest.json names something that is no file")
    return value


def _texts(value: object, path: str) -> list[str]:
    if not isinstance(value, list):
        raise _wrong(path, "manifest.json lists no layers")
    return [_text(each, path) for each in value]


def _wrong(path: str, reason: str) -> UnreadableInput:
    return UnreadableInput(f"{path} is no docker-archive: {reason}", hint="save the image again", file=path)
