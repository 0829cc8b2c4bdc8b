"""Invalid manifests, indexes, layouts and archives are rejected with UnreadableInput."""

from __future__ import annotations

import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.errors import UnreadableInput
from everpath.oci.blobs import MemoryBlobs
from everpath.oci.configs import load_config, load_labels
from everpath.oci.descriptors import INDEX_MEDIA_TYPE, MANIFEST_MEDIA_TYPE, Descriptor, Image
from everpath.oci.docker_archives import open_docker_archive, write_docker_archive
from everpath.oci.layouts import open_layout
from everpath.oci.manifests import children, encode_index, push_order
from everpath.oci.oci_archives import open_oci_archive, write_oci_archive
from everpath.oci.platforms import select_manifest
from tests.support.everpath.bundles import write
from tests.support.everpath.image_samples import image_with_layers
from tests.support.everpath.small_images import small_index

_DIGEST = f"sha256:{'0' * 64}"
_GOOD = {"mediaType": MANIFEST_MEDIA_TYPE, "digest": _DIGEST, "size": 1}


def _parse(document: Any, media_type: str = INDEX_MEDIA_TYPE) -> tuple[Descriptor, ...]:
    blobs = MemoryBlobs()
    return children(blobs, blobs.add(media_type, json.dumps(document).encode()))


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ([], "not a mapping"),
        ("manifests", "not a mapping"),
        ({}, "'manifests' is not a list"),
        ({"manifests": {}}, "'manifests' is not a list"),
        ({"manifests": [1]}, "a descriptor is not a mapping"),
        ({"manifests": [{}]}, "no mediaType"),
        ({"manifests": [_GOOD | {"mediaType": 1}]}, "no mediaType"),
        ({"manifests": [_GOOD | {"digest": "sha256:../../etc/passwd"}]}, "no sha256 digest"),
        ({"manifests": [_GOOD | {"digest": "sha512:" + "0" * 128}]}, "no sha256 digest"),
        ({"manifests": [_GOOD | {"size": -1}]}, "the invalid size"),
        ({"manifests": [_GOOD | {"size": "1"}]}, "the invalid size"),
        ({"manifests": [_GOOD | {"size": True}]}, "the invalid size"),
        ({"manifests": [_GOOD | {"size": 10**30}]}, "the invalid size"),
        ({"manifests": [_GOOD] * 5000}, "lists 5,000 blobs"),
    ],
)
def test_invalid_index_is_rejected(document: Any, words: str) -> None:
    with pytest.raises(UnreadableInput, match=words):
        _parse(document)


@pytest.mark.parametrize(
    ("document", "words"),
    [({"layers": []}, "a descriptor is not a mapping"), ({"config": _GOOD}, "'layers' is not a list")],
)
def test_invalid_manifest_is_rejected(document: Any, words: str) -> None:
    with pytest.raises(UnreadableInput, match=words):
        _parse(document, MANIFEST_MEDIA_TYPE)


@pytest.mark.parametrize("platform", [None, 1, {}, {"os": 1, "architecture": "amd64"}])
def test_invalid_platform_of_descriptor_is_ignored(platform: Any) -> None:
    [found] = _parse({"manifests": [_GOOD | {"platform": platform, "annotations": {"a": 1, "b": "c"}}]})
    assert (found.platform, found.annotations) == (None, {"b": "c"})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["manifests", "layers", "config", "size"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(_JSON, st.sampled_from([INDEX_MEDIA_TYPE, MANIFEST_MEDIA_TYPE]))
def test_arbitrary_json_raises_only_unreadable_input(document: Any, media_type: str) -> None:
    try:
        _parse(document, media_type)
    except UnreadableInput:
        return


def test_index_that_is_not_json_is_rejected() -> None:
    for data in (b"{", b"\xff", b"[" * 100_000):
        blobs = MemoryBlobs()
        with pytest.raises(UnreadableInput, match="not JSON"):
            children(blobs, blobs.add(INDEX_MEDIA_TYPE, data))


def test_deeply_nested_indexes_are_rejected() -> None:
    blobs = MemoryBlobs()
    root = blobs.add(INDEX_MEDIA_TYPE, encode_index([]))
    for _ in range(12):
        root = blobs.add(INDEX_MEDIA_TYPE, encode_index([root]))
    with pytest.raises(UnreadableInput, match="nest more than"):
        list(push_order(Image(root, blobs)))


def test_image_with_too_many_blobs_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everpath.oci.manifests._MAX_BLOBS", 5)
    with pytest.raises(UnreadableInput, match="more than 5 blobs"):
        list(push_order(small_index("amd64", "arm64", "s390x")))


def test_invalid_config_is_rejected() -> None:
    image = image_with_layers()
    for data in (b"{", b"[]"):
        blobs = MemoryBlobs()
        config = blobs.add("application/vnd.oci.image.config.v1+json", data)
        raw = {"config": {"mediaType": config.media_type, "digest": config.digest, "size": config.size}}
        manifest = blobs.add(MANIFEST_MEDIA_TYPE, json.dumps(raw | {"layers": []}).encode())
        with pytest.raises(UnreadableInput, match="the config is not"):
            load_config(Image(manifest, blobs), manifest)
    assert load_labels(image, image.root) == {}


def test_empty_index_is_rejected() -> None:
    blobs = MemoryBlobs()
    with pytest.raises(UnreadableInput, match="has no manifest"):
        select_manifest(Image(blobs.add(INDEX_MEDIA_TYPE, encode_index([])), blobs))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "is not an OCI layout"),
        ({"oci-layout": "{}"}, "index.json"),
        ({"oci-layout": "{}", "index.json": "["}, "not JSON"),
        ({"oci-layout": "{}", "index.json": '{"manifests": []}'}, "holds 0 images"),
        ({"oci-layout": "{}", "index.json": json.dumps({"manifests": [_GOOD, _GOOD]})}, "holds 2 images"),
    ],
)
def test_invalid_layout_is_rejected(tmp_path: Path, files: dict[str, str], words: str) -> None:
    folder = write(tmp_path / "layout", {"README": "", **files})
    with pytest.raises(UnreadableInput, match=words):
        open_layout(str(folder))


def test_layout_with_missing_blob_is_rejected(tmp_path: Path) -> None:
    files = {"oci-layout": "{}", "index.json": json.dumps({"manifests": [_GOOD]})}
    image = open_layout(str(write(tmp_path, files)))
    with pytest.raises(UnreadableInput, match="lacks the blob"):
        children(image.blobs, image.root)


def _tar(path: Path, files: dict[str, str]) -> str:
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content.encode()))
    return str(path)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a": ""}, "not an archive of an image"),
        ({"manifest.json": "[]"}, "is a docker-archive"),
        ({"oci-layout": "{}"}, "has no member index.json"),
        ({"oci-layout": "{}", "index.json": "["}, "not JSON"),
    ],
)
def test_invalid_oci_archive_is_rejected(tmp_path: Path, files: dict[str, str], words: str) -> None:
    with pytest.raises(UnreadableInput, match=words):
        open_oci_archive(_tar(tmp_path / "a.tar", files))


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ("[", "not JSON"),
        ("{}", "not a list of images"),
        ("[1]", "not a list of images"),
        ("[]", "holds 0 images"),
        ('[{"Config": 1, "Layers": []}]', "not a string"),
        ('[{"Config": "c", "Layers": 1}]', "lists no layers"),
        ('[{"Config": "gone", "Layers": []}]', "has no member gone"),
        ('[{"Config": "c", "Layers": [], "RepoTags": 1}, {"RepoTags": [1]}]', "holds 2 images"),
        ('[{"Config": "c", "Layers": []}, {"Config": "c", "RepoTags": ["a:b"]}]', "holds 2 images"),
    ],
)
def test_invalid_docker_archive_is_rejected(tmp_path: Path, manifest: str, words: str) -> None:
    with pytest.raises(UnreadableInput, match=words):
        open_docker_archive(_tar(tmp_path / "a.tar", {"manifest.json": manifest, "c": "{}"}))


@pytest.mark.parametrize("content", [b"", b"no tar", b"\x1f\x8b" + bytes(600)])
def test_file_that_is_not_tar_is_rejected(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(content)
    for opened in (open_oci_archive, open_docker_archive):
        with pytest.raises(UnreadableInput, match=r"a\.tar"):
            opened(str(path))
    with pytest.raises(UnreadableInput, match="No such file"):
        open_oci_archive(str(tmp_path / "nowhere"))


def test_oversized_documents_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = MemoryBlobs()
    with pytest.raises(UnreadableInput, match="too long for a manifest"):
        children(blobs, Descriptor(INDEX_MEDIA_TYPE, _DIGEST, 5 << 20))
    write(tmp_path, {"oci-layout": "{}", "index.json": " " * 100})
    archive = _tar(tmp_path / "a.tar", {"oci-layout": "{}", "index.json": " " * 100, "manifest.json": ""})
    for module in ("layouts", "oci_archives"):
        monkeypatch.setattr(f"everpath.oci.{module}.MAX_INDEX_SIZE", 99)
    with pytest.raises(UnreadableInput, match="has more than 99 bytes"):
        open_layout(str(tmp_path))
    with pytest.raises(UnreadableInput, match=r"index\.json of .* is too long"):
        open_oci_archive(archive)
    monkeypatch.setattr("everpath.oci.tar_reader._MAX_FILE_MEMBERS", 2)
    with pytest.raises(UnreadableInput, match="more than 2 members"):
        open_oci_archive(archive)


def test_named_pipe_is_rejected(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "index.json")
    (tmp_path / "oci-layout").write_text("{}")
    with pytest.raises(UnreadableInput, match="is a pipe, not a file"):
        open_oci_archive(str(tmp_path / "index.json"))
    with pytest.raises(UnreadableInput, match="is a pipe, not a file"):
        open_layout(str(tmp_path))


def test_archive_of_other_format_is_rejected_with_hint(tmp_path: Path) -> None:
    write_oci_archive(small_index("amd64"), str(tmp_path / "oci.tar"))
    write_docker_archive(small_index("amd64"), str(tmp_path / "docker.tar"))
    with pytest.raises(UnreadableInput, match="is an OCI archive, not a docker-archive"):
        open_docker_archive(str(tmp_path / "oci.tar"))
    with pytest.raises(UnreadableInput, match="is a docker-archive, not an OCI archive"):
        open_oci_archive(str(tmp_path / "docker.tar"))
