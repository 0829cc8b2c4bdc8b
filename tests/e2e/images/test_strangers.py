"""What strangers may have put into a real registry, and where a real one may send us."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from catalogs import write_fbc
from e2e.images.registries import DockerRegistry, docker_registry, elsewhere
from e2e.images.running import everpath
from everpath.errors import Unreachable
from everpath.oci.content import Image
from everpath.oci.references import Reference
from everpath.oci.registry import Options, push
from images_made import hostile, layered, special, tar_of
from small_images import layer_of, single

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        "EVERPATH_REAL" not in os.environ, reason="EVERPATH_REAL is not set; `make e2e` sets it"
    ),
]

Members = list[tuple[tarfile.TarInfo, bytes]]


@pytest.fixture
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DockerRegistry]:
    with docker_registry(tmp_path_factory.mktemp("registry")) as made:
        yield made


def brought(image: Image, registry: DockerRegistry) -> str:
    """The name of an image that is in the registry now."""
    push(image, Reference(registry.host, "me/catalog", "v1"), Options(insecure=True, environment={}))
    return f"{registry.host}/me/catalog:v1"


def test_credentials_do_not_follow_a_redirect(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    write_fbc(tmp_path, "b: a\na")
    folder = tmp_path_factory.mktemp("registry")
    login = ("--insecure", "--username", "ann", "--password-stdin")
    with elsewhere() as other, docker_registry(folder, protected=True, elsewhere=other.address) as registry:
        other.folder = folder / "images"
        target = f"{registry.host}/me/catalog:v1"
        everpath("catalog", "push", "catalog", target, *login, cwd=tmp_path, input="secret")
        everpath("catalog", "pull", target, "-o", "back", *login, cwd=tmp_path, input="secret")
    assert (tmp_path / "back/p.yaml").read_bytes() == (tmp_path / "catalog/p.yaml").read_bytes()
    assert len(other.heard) >= 2
    assert not [name for headers in other.heard for name in headers if "auth" in name or "cookie" in name]
    assert "secret" not in str(other.heard)


HOSTILE: dict[str, Callable[[Path], Members]] = {
    "a path that climbs out": lambda _: [special("configs/../../evil", tarfile.REGTYPE)],
    "a path that begins outside": lambda _: [special("../evil", tarfile.REGTYPE)],
    "an absolute path": lambda out: [special(f"{out}/evil", tarfile.REGTYPE)],
    "a link out": lambda _: [special("configs/a", tarfile.SYMTYPE, "../../evil")],
    "a link to the machine's files": lambda _: [special("configs/a", tarfile.SYMTYPE, "/etc/passwd")],
    "a path through a link": lambda out: [
        special("configs/a", tarfile.SYMTYPE, str(out)),
        special("configs/a/evil", tarfile.REGTYPE),
    ],
    "a hard link out": lambda _: [special("configs/a", tarfile.LNKTYPE, "../../evil")],
    "a hard link to the machine's files": lambda _: [special("configs/a", tarfile.LNKTYPE, "/etc/passwd")],
    "a character device": lambda _: [special("configs/a", tarfile.CHRTYPE)],
    "a block device": lambda _: [special("configs/a", tarfile.BLKTYPE)],
    "a named pipe": lambda _: [special("configs/a", tarfile.FIFOTYPE)],
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_hostile_is_refused_and_nothing_is_written(
    registry: DockerRegistry, tmp_path: Path, what: str
) -> None:
    sandbox = tmp_path / "sandbox"
    sandbox.mkdir()
    (tmp_path / "evil").write_bytes(b"mine")
    layers = tar_of({"configs/p.yaml": b"schema: olm.package\n"}), hostile(HOSTILE[what](sandbox))
    labels = {"operators.operatorframework.io.index.configs.v1": "/configs"}
    target = brought(layered(*layers, compress=True, labels=labels), registry)
    done = everpath("catalog", "pull", target, "-o", "sandbox/back", "--insecure", cwd=tmp_path, check=False)
    assert done.returncode == 3, done.stderr
    assert "the image holds" in done.stderr
    assert list(sandbox.iterdir()) == []
    assert (tmp_path / "evil").read_bytes() == b"mine"


def test_a_copy_that_the_registry_has_lost_the_end_of_is_not_taken_for_whole(
    registry: DockerRegistry,
) -> None:
    """docker-registry keeps the file it has for a digest, whatever is sent: who runs it has to delete it."""
    image = single(b"a whole layer")
    reference, options = Reference(registry.host, "me/large", "v1"), Options(insecure=True, environment={})
    push(image, reference, options)
    blob = registry.blob(layer_of(image).digest)
    blob.write_bytes(b"a whole")
    with pytest.raises(Unreachable, match="has a damaged copy"):
        push(image, reference, options)
    blob.unlink()
    push(image, reference, options)
    assert blob.read_bytes() == b"a whole layer"
