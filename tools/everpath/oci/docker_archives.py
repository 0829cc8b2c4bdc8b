"""Docker archives, as `docker save` writes and `docker load` reads them: one platform, uncompressed layers.

Such an archive has no manifest with a digest. The image is identified by its ID, the digest of its config.
"""

from __future__ import annotations

__all__ = ["image_id", "open_docker_archive", "write_docker_archive"]

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final

from everpath.atomic_files import atomic_file
from everpath.errors import UnreadableInput, UsageError
from everpath.oci.blobs import MemoryBlobs, verified_chunks
from everpath.oci.configs import CONFIG_MEDIA_TYPE
from everpath.oci.descriptors import MANIFEST_MEDIA_TYPE, BlobSource, Descriptor, Image, Platform
from everpath.oci.layers import LAYER_GZIP_MEDIA_TYPE, LAYER_MEDIA_TYPE, SizeBudget, layer_tar_chunks
from everpath.oci.manifests import config_and_layers, encode_manifest
from everpath.oci.platforms import select_manifest
from everpath.oci.references import parse_reference
from everpath.oci.tar_reader import TarFile
from everpath.oci.tar_writer import END_OF_ARCHIVE, file_chunks

_MAX_MANIFEST_SIZE: Final = 4 << 20
_MAX_UNPACKED_SIZE: Final = 1 << 34
_CHUNK_SIZE: Final = 1 << 20


def image_id(image: Image, platform: Platform | None = None) -> str:
    """Return Docker's ID of an image: the digest of its config."""
    config, _ = config_and_layers(image, select_manifest(image, platform))
    return config.digest


def write_docker_archive(
    image: Image, path: str, tag: str | None = None, platform: Platform | None = None
) -> None:
    """Write one platform of an image to a file. The tag is a whole name, such as `op:v1`.

    Raises UsageError if the file cannot be written, and changes nothing then.
    """
    budget = SizeBudget(_MAX_UNPACKED_SIZE)
    with atomic_file(Path(path)) as stream:
        config, layers = config_and_layers(image, select_manifest(image, platform))
        config_name = f"{config.digest.removeprefix('sha256:')}.json"
        stream.writelines(file_chunks(config_name, config.size, verified_chunks(image.blobs, config)))
        layer_names = [_write_layer(image.blobs, layer, stream, budget) for layer in layers]
        document = [{"Config": config_name, "RepoTags": [tag] if tag else None, "Layers": layer_names}]
        manifest = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
        stream.writelines(file_chunks("manifest.json", len(manifest), [manifest]))
        stream.write(END_OF_ARCHIVE)


def _write_layer(blobs: BlobSource, layer: Descriptor, stream: BinaryIO, budget: SizeBudget) -> str:
    """Write an uncompressed layer and return its name. Its size is not known before it is decompressed."""
    with TemporaryFile() as uncompressed:
        sha256 = hashlib.sha256()
        for chunk in layer_tar_chunks(blobs, layer, budget):
            sha256.update(chunk)
            uncompressed.write(chunk)
        size = uncompressed.tell()
        uncompressed.seek(0)
        name = f"{sha256.hexdigest()}.tar"
        stream.writelines(file_chunks(name, size, iter(lambda: uncompressed.read(_CHUNK_SIZE), b"")))
    return name


def open_docker_archive(path: str, tag: str | None = None) -> Image:
    """Open the image with a tag (`op:v1`), or the only image, of an archive. Raises UnreadableInput.

    Every layer is hashed, for the manifest that the archive does not contain.
    """
    archive = TarFile(path)
    if "manifest.json" not in archive and "oci-layout" in archive:
        hint = f"try oci-archive:{path}"
        raise UnreadableInput(f"{path} is an OCI archive, not a docker-archive", hint=hint, file=path)
    try:
        document = json.loads(archive.read("manifest.json", _MAX_MANIFEST_SIZE))
    except (ValueError, RecursionError) as error:
        raise _invalid(path, "manifest.json is not JSON") from error
    entry = _select_image(document, tag, path)
    config_name, layer_names = entry.get("Config"), entry.get("Layers")
    if not isinstance(layer_names, list):
        raise _invalid(path, "manifest.json lists no layers")
    if not isinstance(config_name, str) or not all(isinstance(name, str) for name in layer_names):
        raise _invalid(path, "manifest.json contains a file name that is not a string")
    files = _ArchiveFiles(archive)
    config = files.add(config_name, CONFIG_MEDIA_TYPE)
    blobs = MemoryBlobs(files)
    manifest = encode_manifest(config, [files.add(name) for name in layer_names])
    return Image(blobs.add(MANIFEST_MEDIA_TYPE, manifest), blobs)


class _ArchiveFiles:
    """Files of an archive as blobs."""

    def __init__(self, archive: TarFile) -> None:
        self._archive = archive
        self._names: dict[str, str] = {}

    def add(self, name: str, media_type: str | None = None) -> Descriptor:
        """Hash a file and return its descriptor. Without a media type it is a layer, compressed or not."""
        sha256 = hashlib.sha256()
        if media_type is None:
            with self._archive.open(name) as stream:
                media_type = LAYER_GZIP_MEDIA_TYPE if stream.read(2) == b"\x1f\x8b" else LAYER_MEDIA_TYPE
        with self._archive.open(name) as stream:
            while chunk := stream.read(_CHUNK_SIZE):
                sha256.update(chunk)
        digest = f"sha256:{sha256.hexdigest()}"
        self._names[digest] = name
        return Descriptor(media_type, digest, self._archive.size(name))

    def open(self, descriptor: Descriptor) -> BinaryIO:
        if descriptor.digest not in self._names:
            raise UnreadableInput(f"{self._archive.path} has no {descriptor.digest}", file=self._archive.path)
        return self._archive.open(self._names[descriptor.digest])


def _select_image(document: Any, tag: str | None, path: str) -> Mapping[str, Any]:
    if not isinstance(document, list) or not all(isinstance(each, dict) for each in document):
        raise _invalid(path, "manifest.json is not a list of images")
    images: list[dict[str, Any]] = document
    found = [each for each in images if tag is None or _full_name(tag) in map(_full_name, _repo_tags(each))]
    if len(found) == 1:
        return found[0]
    tags = sorted(name for each in images for name in _repo_tags(each))
    raise UnreadableInput(
        f"{path} holds {len(found)} images" + (f" named {tag!r}" if tag is not None else ""),
        hint=f"it has {', '.join(tags)}" if tags else "none of its images has a name",
        file=path,
    )


def _repo_tags(entry: Mapping[str, Any]) -> list[str]:
    names = entry.get("RepoTags")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _full_name(name: str) -> str:
    """Add the default registry to a name: tools write it with or without."""
    try:
        return str(parse_reference(name))
    except UsageError:
        return name


def _invalid(path: str, reason: str) -> UnreadableInput:
    return UnreadableInput(
        f"{path} is not a docker-archive: {reason}", hint="save the image again", file=path
    )
