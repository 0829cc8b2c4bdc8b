"""Hostile or damaged content of a real registry, and its redirects."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from everpath.errors import Unreachable
from everpath.oci.descriptors import Image
from everpath.oci.references import Reference
from everpath.oci.registry import RegistryOptions, push_image
from tests.e2e.images.commands import everpath
from tests.e2e.images.docker_registry import DockerRegistry, blob_storage, docker_registry
from tests.support.everpath.catalogs import write_fbc
from tests.support.everpath.image_samples import (
    image_with_layers,
    special_member,
    tar_with_files,
    tar_with_members,
)
from tests.support.everpath.small_images import last_layer, small_image

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        "EVERPATH_REAL" not in os.environ, reason="EVERPATH_REAL is not set; `make e2e` sets it"
    ),
]

Members = list[tuple[tarfile.TarInfo, bytes]]


@pytest.fixture
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DockerRegistry]:
    with docker_registry(tmp_path_factory.mktemp("registry")) as started:
        yield started


def push_to(image: Image, registry: DockerRegistry) -> str:
    """Push an image, and return its reference."""
    push_image(
        image, Reference(registry.host, "me/catalog", "v1"), RegistryOptions(insecure=True, environment={})
    )
    return f"{registry.host}/me/catalog:v1"


def test_credentials_do_not_follow_a_redirect(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    write_fbc(tmp_path, "b: a\na")
    folder = tmp_path_factory.mktemp("registry")
    login = ("--insecure", "--username", "ann", "--password-stdin")
    with (
        blob_storage() as storage,
        docker_registry(folder, protected=True, blob_storage=storage.address) as registry,
    ):
        storage.folder = folder / "images"
        target = f"{registry.host}/me/catalog:v1"
        everpath("catalog", "push", "catalog", target, *login, cwd=tmp_path, input="secret")
        everpath("catalog", "pull", target, "-o", "back", *login, cwd=tmp_path, input="secret")
    assert (tmp_path / "back/p.yaml").read_bytes() == (tmp_path / "catalog/p.yaml").read_bytes()
    assert len(storage.request_headers) >= 2
    assert not [
        name for headers in storage.request_headers for name in headers if "auth" in name or "cookie" in name
    ]
    assert "secret" not in str(storage.request_headers)


HOSTILE: dict[str, Callable[[Path], Members]] = {
    "a path that leaves the folder": lambda _: [special_member("configs/../../evil", tarfile.REGTYPE)],
    "a path that starts outside the folder": lambda _: [special_member("../evil", tarfile.REGTYPE)],
    "an absolute path": lambda out: [special_member(f"{out}/evil", tarfile.REGTYPE)],
    "a symbolic link out of the folder": lambda _: [
        special_member("configs/a", tarfile.SYMTYPE, "../../evil")
    ],
    "a symbolic link to a file of the machine": lambda _: [
        special_member("configs/a", tarfile.SYMTYPE, "/etc/passwd")
    ],
    "a path through a symbolic link": lambda out: [
        special_member("configs/a", tarfile.SYMTYPE, str(out)),
        special_member("configs/a/evil", tarfile.REGTYPE),
    ],
    "a hard link out of the folder": lambda _: [special_member("configs/a", tarfile.LNKTYPE, "../../evil")],
    "a hard link to a file of the machine": lambda _: [
        special_member("configs/a", tarfile.LNKTYPE, "/etc/passwd")
    ],
    "a character device": lambda _: [special_member("configs/a", tarfile.CHRTYPE)],
    "a block device": lambda _: [special_member("configs/a", tarfile.BLKTYPE)],
    "a named pipe": lambda _: [special_member("configs/a", tarfile.FIFOTYPE)],
}


@pytest.mark.parametrize("content", HOSTILE)
def test_hostile_image_is_rejected_and_nothing_is_written(
    registry: DockerRegistry, tmp_path: Path, content: str
) -> None:
    sandbox = tmp_path / "sandbox"
    sandbox.mkdir()
    (tmp_path / "evil").write_bytes(b"mine")
    layers = (
        tar_with_files({"configs/p.yaml": b"schema: olm.package\n"}),
        tar_with_members(HOSTILE[content](sandbox)),
    )
    labels = {"operators.operatorframework.io.index.configs.v1": "/configs"}
    target = push_to(image_with_layers(*layers, compress=True, labels=labels), registry)
    done = everpath("catalog", "pull", target, "-o", "sandbox/back", "--insecure", cwd=tmp_path, check=False)
    assert done.returncode == 3, done.stderr
    assert "the image contains " in done.stderr
    assert list(sandbox.iterdir()) == []
    assert (tmp_path / "evil").read_bytes() == b"mine"


def test_truncated_blob_in_the_registry_is_an_error(
    registry: DockerRegistry,
) -> None:
    """docker-registry keeps its file of a digest and ignores uploads: an administrator must delete it."""
    image = small_image(b"a whole layer")
    reference, options = (
        Reference(registry.host, "me/large", "v1"),
        RegistryOptions(insecure=True, environment={}),
    )
    push_image(image, reference, options)
    blob = registry.blob(last_layer(image).digest)
    blob.write_bytes(b"a whole")
    with pytest.raises(Unreachable, match="has a damaged copy"):
        push_image(image, reference, options)
    blob.unlink()
    push_image(image, reference, options)
    assert blob.read_bytes() == b"a whole layer"
