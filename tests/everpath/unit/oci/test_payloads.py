"""Payloads of images, and the cache of extracted payloads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from everpath.errors import UnreadableInput
from everpath.oci.build import ImageSpec, build_image
from everpath.oci.cache import CachedPayload, ImageCache
from everpath.oci.descriptors import Descriptor, Image, Platform
from everpath.oci.payload import Payload, extract_payload, find_payload
from everpath.oci.tar_writer import TarMember

CONFIGS = "operators.operatorframework.io.index.configs.v1"
BUNDLE = "operators.operatorframework.io.bundle"


def create_image(labels: dict[str, str], *files: str) -> Image:
    members = [TarMember(name, name.encode()) for name in files]
    return build_image(ImageSpec(members, labels, platforms=(Platform("linux", "amd64"),)))


def create_catalog(where: str = "/configs", text: str = "a.yaml") -> Image:
    return create_image({CONFIGS: where}, f"{where.strip('/')}/p/{text}", "etc/passwd")


def test_catalog_payload_comes_from_label() -> None:
    assert find_payload(create_catalog("/srv/fbc/"), "x") == Payload("catalog", "srv/fbc", ("srv/fbc",))


def test_bundle_payload_comes_from_labels() -> None:
    labels = {f"{BUNDLE}.manifests.v1": "manifests/", f"{BUNDLE}.metadata.v1": "metadata/"}
    assert find_payload(create_image(labels, "manifests/a"), "x") == Payload(
        "bundle", "", ("manifests", "metadata")
    )


def test_sqlite_catalog_is_rejected() -> None:
    labels = {"operators.operatorframework.io.index.database.v1": "/database/index.db"}
    with pytest.raises(UnreadableInput, match="in the deprecated SQLite format"):
        find_payload(create_image(labels, "database/index.db"), "x")


@pytest.mark.parametrize("where", ["../etc", "/configs/../../etc", "/", ""])
def test_label_that_leaves_image_is_rejected(where: str) -> None:
    with pytest.raises(UnreadableInput, match="a label points to"):
        find_payload(create_image({CONFIGS: where}, "configs/a"), "x")


def test_only_payload_is_extracted(tmp_path: Path) -> None:
    image = create_catalog()
    extract_payload(image, find_payload(image, "x"), str(tmp_path / "out"), "x")
    assert [str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*")] == [
        "p",
        "p/a.yaml",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_label_that_points_to_nothing_is_rejected(tmp_path: Path) -> None:
    image = create_image({CONFIGS: "/none"}, "configs/a.yaml")
    with pytest.raises(UnreadableInput, match="x has no files in /none"):
        extract_payload(image, find_payload(image, "x"), str(tmp_path / "out"), "x")
    assert sorted(path.name for path in tmp_path.iterdir()) == []


@pytest.mark.parametrize("where", ["/configs", "/srv/fbc.d/100%"])
def test_cached_payload_is_found_by_digest(tmp_path: Path, where: str) -> None:
    image, cache = create_catalog(where), ImageCache(tmp_path / "images")
    assert cache.find(image.root.digest) is None
    cached = cache.find_or_extract(image, "x")
    assert cached.root == where
    assert (Path(cached.folder) / "p/a.yaml").is_file()
    assert cache.find(image.root.digest) == cache.find_or_extract(image, "x") == cached


def test_cached_payload_is_not_extracted_again(tmp_path: Path) -> None:
    image, cache = create_catalog(), ImageCache(tmp_path / "images")
    cached = cache.find_or_extract(image, "x")
    assert cache.find_or_extract(Image(image.root, _UnusedBlobs()), "x") == cached


class _UnusedBlobs:
    def open(self, descriptor: Descriptor) -> BinaryIO:
        raise AssertionError(f"{descriptor} was opened")


def test_cache_entry_of_other_user_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image, cache = create_catalog(), ImageCache(tmp_path / "images")
    cache.find_or_extract(image, "x")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert cache.find(image.root.digest) is None


def test_symbolic_link_in_cache_is_ignored(tmp_path: Path) -> None:
    image, cache = create_catalog(), ImageCache(tmp_path / "images")

    (tmp_path / "images").mkdir()
    cached = Path(ImageCache(tmp_path / "other").find_or_extract(image, "x").folder)
    (tmp_path / "images" / cached.name).symlink_to(cached)
    assert cache.find(image.root.digest) is None


@pytest.mark.parametrize("change", ["edit", "remove", "add", "link"])
def test_modified_cache_entry_is_extracted_again(tmp_path: Path, change: str) -> None:
    image, cache = create_catalog(), ImageCache(tmp_path / "images")
    cached = cache.find_or_extract(image, "x")
    file = Path(cached.folder, "p/a.yaml")
    if change == "edit":
        file.write_bytes(file.read_bytes().upper())
    elif change == "add":
        Path(cached.folder, "more.yaml").write_text("schema: olm.package")
    else:
        file.unlink()
    if change == "link":
        file.symlink_to("/etc/passwd")
    assert cache.find(image.root.digest) is None
    assert cache.find_or_extract(image, "x") == cached
    assert [path.name for path in Path(cached.folder).rglob("*")] == ["p", "a.yaml"]
    assert file.read_bytes() == b"configs/p/a.yaml"


def test_label_too_long_for_file_name_is_rejected(tmp_path: Path) -> None:
    image = create_catalog("/" + "/".join("configs" * 10))
    with pytest.raises(UnreadableInput, match="a label points to"):
        ImageCache(tmp_path / "images").find_or_extract(image, "x")


def test_label_that_points_to_file_is_rejected(tmp_path: Path) -> None:
    image = create_image({CONFIGS: "/configs"}, "configs")
    with pytest.raises(UnreadableInput, match="a file in place of the folder /configs"):
        extract_payload(image, find_payload(image, "x"), str(tmp_path / "out"), "x")
    assert list(tmp_path.iterdir()) == []


def test_concurrent_extraction_uses_entry_of_other_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image, cache = create_catalog(), ImageCache(tmp_path / "images")

    def extract_concurrently(*given: Any) -> None:
        monkeypatch.undo()
        cache.find_or_extract(image, "x")
        extract_payload(*given)

    monkeypatch.setattr("everpath.oci.cache.extract_payload", extract_concurrently)
    assert isinstance(cache.find_or_extract(image, "x"), CachedPayload)


def test_eviction_deletes_oldest_entries_unless_used_within_the_hour(tmp_path: Path) -> None:
    folder = tmp_path / "images"
    for number in range(30):
        (folder / f"{number:064x}.bundle").mkdir(parents=True)
        os.utime(folder / f"{number:064x}.bundle", (number, 1000 * number))
    ImageCache(folder, now=lambda: 3_000.0).find_or_extract(create_catalog(), "x")
    assert len(list(folder.iterdir())) == 31
    ImageCache(folder, now=lambda: 1_000_000.0).find_or_extract(create_catalog(text="b.yaml"), "x")
    left = sorted(path.name for path in folder.iterdir())
    assert len(left) == 20
    assert f"{29:064x}.bundle" in left
    assert f"{3:064x}.bundle" not in left
