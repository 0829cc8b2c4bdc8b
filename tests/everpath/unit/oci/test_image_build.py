"""Image builds from scratch and on a base."""

from __future__ import annotations

import json
from typing import Any

import pytest

from everpath.errors import UnreadableInput, UsageError
from everpath.oci.blobs import MemoryBlobs, read_blob
from everpath.oci.build import DEFAULT_PLATFORMS, ImageSpec, build_image
from everpath.oci.configs import load_config, load_labels
from everpath.oci.descriptors import INDEX_MEDIA_TYPE, MANIFEST_MEDIA_TYPE, Image, Platform
from everpath.oci.manifests import children, encode_index
from everpath.oci.platforms import parse_platform, platform_manifests
from everpath.oci.tar_writer import TarMember

AMD64, ARM64 = Platform("linux", "amd64"), Platform("linux", "arm64")
FILES = [TarMember("configs/a.yaml", b"a")]


def base(*platforms: Platform) -> Image:
    return build_image(
        ImageSpec([TarMember("bin/opm", b"#!")], {"kept": "1", "dropped": "2"}, platforms=platforms)
    )


def document(image: Image) -> Any:
    return json.loads(read_blob(image.blobs, image.root))


def test_image_has_default_platforms_and_one_shared_layer() -> None:
    image = build_image(ImageSpec(FILES))
    assert tuple(platform for platform, _ in platform_manifests(image)) == DEFAULT_PLATFORMS
    layers = {children(image.blobs, manifest)[1].digest for _, manifest in platform_manifests(image)}
    assert len(layers) == 1


def test_image_for_one_platform_is_a_manifest() -> None:
    image = build_image(ImageSpec(FILES, platforms=[ARM64, ARM64], annotations={"a": "b"}))
    assert image.root.media_type == MANIFEST_MEDIA_TYPE
    assert document(image)["annotations"] == {"a": "b"}
    assert load_config(image, image.root)["architecture"] == "arm64"


def test_annotations_are_on_index_and_every_manifest() -> None:
    image = build_image(ImageSpec(FILES, annotations={"a": "b"}))
    found = [document(image), *(document(Image(m, image.blobs)) for _, m in platform_manifests(image))]
    assert [each["annotations"] for each in found] == [{"a": "b"}] * 5


def test_config_contains_creation_time() -> None:
    image = build_image(ImageSpec(FILES, platforms=[AMD64], created=1700000000))
    config = load_config(image, image.root)
    assert config["created"] == config["history"][0]["created"] == "2023-11-14T22:13:20Z"


def test_build_on_base_adds_layer_and_updates_config() -> None:
    below = base(AMD64)
    labels = {"added": "3", "dropped": None}
    image = build_image(ImageSpec(FILES, labels, base=below, entrypoint=["/bin/opm"], cmd=["serve"]))
    old, new = load_config(below, below.root), load_config(image, image.root)
    assert new["rootfs"]["diff_ids"][:-1] == old["rootfs"]["diff_ids"]
    assert new["history"][:-1] == old["history"]
    assert new["config"] == {
        "Labels": {"kept": "1", "added": "3"},
        "Entrypoint": ["/bin/opm"],
        "Cmd": ["serve"],
    }
    assert children(image.blobs, image.root)[1] == children(below.blobs, below.root)[1]


def test_build_on_base_defaults_to_platforms_of_base() -> None:
    image = build_image(ImageSpec(FILES, base=base(ARM64, AMD64)))
    assert [platform for platform, _ in platform_manifests(image)] == [ARM64, AMD64]


def test_build_on_base_selects_requested_platforms() -> None:
    image = build_image(ImageSpec(FILES, base=base(AMD64, Platform("linux", "arm", "v7")), platforms=[AMD64]))
    assert load_labels(image, image.root) == {"kept": "1", "dropped": "2"}
    variant = build_image(
        ImageSpec(
            FILES, base=base(AMD64, Platform("linux", "arm", "v7")), platforms=[Platform("linux", "arm")]
        )
    )
    assert load_config(variant, variant.root)["variant"] == "v7"
    with pytest.raises(UsageError, match="not for linux/s390x") as refused:
        build_image(ImageSpec(FILES, base=base(AMD64, ARM64), platforms=[Platform("linux", "s390x")]))
    assert refused.value.hint == "it is for linux/amd64, linux/arm64"


def test_build_on_base_ignores_attestations() -> None:
    below = base(AMD64, ARM64)
    raw = document(below)
    raw["manifests"].append(raw["manifests"][0] | {"platform": {"os": "unknown", "architecture": "unknown"}})
    blobs = MemoryBlobs(below.blobs)
    image = build_image(
        ImageSpec(FILES, base=Image(blobs.add(INDEX_MEDIA_TYPE, json.dumps(raw).encode()), blobs))
    )
    assert [platform for platform, _ in platform_manifests(image)] == [AMD64, ARM64]


def test_base_without_manifest_is_rejected() -> None:
    blobs = MemoryBlobs()
    with pytest.raises(UnreadableInput, match="no manifest for any platform"):
        build_image(ImageSpec(FILES, base=Image(blobs.add(INDEX_MEDIA_TYPE, encode_index([])), blobs)))


def test_docker_layers_of_base_get_oci_media_types() -> None:
    below = base(AMD64)
    raw = document(below)
    raw["layers"][0]["mediaType"] = "application/vnd.docker.image.rootfs.diff.tar.gzip"
    blobs = MemoryBlobs(below.blobs)
    docker = blobs.add("application/vnd.docker.distribution.manifest.v2+json", json.dumps(raw).encode())
    image = build_image(ImageSpec(FILES, base=Image(docker, blobs)))
    kinds = {layer["mediaType"] for layer in document(image)["layers"]}
    assert kinds == {"application/vnd.oci.image.layer.v1.tar+gzip"}


def base_with_config(**fields: Any) -> Image:
    """Return a base with other fields in its config."""
    below = base(AMD64)
    config, *_ = children(below.blobs, below.root)
    blobs = MemoryBlobs(below.blobs)
    changed = blobs.add(config.media_type, json.dumps(load_config(below, below.root) | fields).encode())
    raw = document(below)
    raw["config"] |= {"digest": changed.digest, "size": changed.size}
    return Image(blobs.add(MANIFEST_MEDIA_TYPE, json.dumps(raw).encode()), blobs)


@pytest.mark.parametrize("key", ["config", "rootfs", "history"])
def test_invalid_config_of_base_is_rejected(key: str) -> None:
    with pytest.raises(UnreadableInput, match=f"{key!r} is not a"):
        build_image(ImageSpec(FILES, base=base_with_config(**{key: "x"})))


def test_config_with_invalid_unicode_is_rejected() -> None:
    with pytest.raises(UnreadableInput, match="not valid Unicode"):
        build_image(ImageSpec(FILES, base=base_with_config(author="\ud800")))


def test_unknown_fields_of_base_config_are_preserved() -> None:
    image = build_image(
        ImageSpec(FILES, base=base_with_config(author="me", config={"User": "1001", "Env": ["A=b"]}))
    )
    config = load_config(image, image.root)
    assert (config["author"], config["config"]) == ("me", {"User": "1001", "Env": ["A=b"]})


@pytest.mark.parametrize("text", ["linux", "linux/", "a/b/c/d", "Linux/amd64", "linux amd64"])
def test_invalid_platform_is_rejected(text: str) -> None:
    with pytest.raises(UsageError, match="is not a platform"):
        parse_platform(text)
