"""The registry client of everpath with docker-registry, skopeo and opm."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from everpath.errors import Unreachable
from everpath.oci.references import Reference
from everpath.oci.registry import RegistryOptions, TransferProgress, push_image
from everpath.oci.registry.options import RetryPolicy
from tests.e2e.images.commands import everpath, run_command, skopeo
from tests.e2e.images.docker_registry import DockerRegistry, docker_registry
from tests.support.everpath.bundle_folders import good_bundle, lay_out
from tests.support.everpath.catalogs import write_fbc
from tests.support.everpath.registry_server import run_registry as fake_registry
from tests.support.everpath.small_images import last_layer, small_image

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        "EVERPATH_REAL" not in os.environ, reason="EVERPATH_REAL is not set; `make e2e` sets it"
    ),
]

SENDING = ("POST", "PATCH", "PUT")


@pytest.fixture
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DockerRegistry]:
    with docker_registry(tmp_path_factory.mktemp("registry")) as started:
        yield started


@pytest.fixture
def protected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DockerRegistry]:
    with docker_registry(tmp_path_factory.mktemp("registry"), protected=True) as started:
        yield started


@pytest.fixture
def opm() -> Path:
    return Path(os.environ["EVERPATH_REAL"], "opm")


def push_catalog(registry: DockerRegistry, tmp_path: Path) -> str:
    write_fbc(tmp_path, "b: a\na")
    done = everpath(
        *("catalog", "push", "catalog", f"{registry.host}/me/catalog:v1", "--insecure", "--print-digest"),
        cwd=tmp_path,
    )
    return done.stdout.strip()


def test_skopeo_reads_an_image_that_everpath_pushed(registry: DockerRegistry, tmp_path: Path) -> None:
    digest = push_catalog(registry, tmp_path)
    name = f"docker://{registry.host}/me/catalog:v1"
    seen = json.loads(skopeo("inspect", "--tls-verify=false", name, cwd=tmp_path))
    assert seen["Digest"] == digest
    assert seen["Labels"] == {"operators.operatorframework.io.index.configs.v1": "/configs"}
    skopeo("copy", "--all", "--src-tls-verify=false", name, "oci:copied:v1", cwd=tmp_path)
    assert everpath("list", "packages", "oci:copied:v1", cwd=tmp_path).stdout.splitlines()[1].startswith("p ")


@pytest.mark.parametrize("kind", ["oci", "v2s2"])
def test_everpath_reads_an_image_that_skopeo_pushed(
    registry: DockerRegistry, tmp_path: Path, kind: str
) -> None:
    write_fbc(tmp_path, "b: a\na")
    everpath("catalog", "build", "catalog", "-o", "oci:out:v1", "--platform", "linux/amd64", cwd=tmp_path)
    target = f"{registry.host}/me/catalog:{kind}"
    skopeo(
        "copy", "--dest-tls-verify=false", "--format", kind, "oci:out:v1", f"docker://{target}", cwd=tmp_path
    )
    everpath("catalog", "pull", target, "-o", "back", "--insecure", cwd=tmp_path)
    assert (tmp_path / "back/p.yaml").read_bytes() == (tmp_path / "catalog/p.yaml").read_bytes()


def test_opm_renders_images_of_everpath_identically(
    registry: DockerRegistry, tmp_path: Path, opm: Path
) -> None:
    push_catalog(registry, tmp_path)
    lay_out(good_bundle(), tmp_path / "bundle")
    everpath("bundle", "push", "bundle", f"{registry.host}/me/op:v1", "--insecure", cwd=tmp_path)
    for name in ("catalog", "op"):
        image = f"{registry.host}/me/{name}:v1"
        expected = run_command(opm, "render", image, "--use-http", "-o", "yaml", cwd=tmp_path).stdout
        rendered = everpath("catalog", "render", image, cwd=tmp_path, trusted=registry.host).stdout
        assert rendered == expected


def test_second_push_uploads_no_blob(registry: DockerRegistry, tmp_path: Path) -> None:
    first = push_catalog(registry, tmp_path)
    before = len(registry.requests())
    assert push_catalog(registry, tmp_path) == first
    assert {method for method, _ in registry.requests()[before:]} <= {"HEAD", "GET"}


def test_mount_uploads_no_blob(registry: DockerRegistry, tmp_path: Path) -> None:
    push_catalog(registry, tmp_path)
    before = len(registry.requests())
    arguments = (
        "catalog",
        "push",
        "catalog",
        f"{registry.host}/you/catalog:v1",
        "--mount-from",
        "me/catalog",
    )
    done = everpath(*arguments, "--insecure", cwd=tmp_path)
    assert done.stderr.count("mounted") == 5
    sent = registry.requests()[before:]
    assert [path for method, path in sent if method in ("PUT", "PATCH") and "/blobs/" in path] == []


def test_protected_registry_requires_a_password(protected: DockerRegistry, tmp_path: Path) -> None:
    write_fbc(tmp_path, "b: a\na")
    target = f"{protected.host}/me/catalog:v1"
    arguments = ("catalog", "push", "catalog", target, "--insecure")
    denied = everpath(*arguments, cwd=tmp_path, check=False)
    assert denied.returncode == 4
    assert f"podman login {protected.host}" in denied.stderr
    login = (*arguments, "--username", "ann", "--password-stdin")
    assert everpath(*login, cwd=tmp_path, check=False, input="wrong").returncode == 4
    everpath(*login, cwd=tmp_path, input="secret\n")


def test_everpath_uses_the_authfile_of_skopeo(protected: DockerRegistry, tmp_path: Path) -> None:
    write_fbc(tmp_path, "b: a\na")
    login = (
        "login",
        "--tls-verify=false",
        "--authfile",
        "auth.json",
        "-u",
        "ann",
        "-p",
        "secret",
        protected.host,
    )
    skopeo(*login, cwd=tmp_path)
    target = f"{protected.host}/me/catalog:v1"
    everpath("catalog", "push", "catalog", target, "--insecure", "--authfile", "auth.json", cwd=tmp_path)
    everpath("catalog", "pull", target, "-o", "back", "--insecure", "--authfile", "auth.json", cwd=tmp_path)


def test_skopeo_works_with_the_fake_registry_of_the_tests(tmp_path: Path) -> None:
    """The unit tests of bearer tokens rely on that server."""
    write_fbc(tmp_path, "b: a\na")
    with fake_registry() as fake:
        fake.scheme, fake.users = "bearer", {"ann": "secret"}
        target = f"{fake.address.removeprefix('http://')}/me/catalog:v1"
        arguments = ("catalog", "push", "catalog", target, "--insecure", "--print-digest")
        login = ("--username", "ann", "--password-stdin")
        digest = everpath(*arguments, *login, cwd=tmp_path, input="secret").stdout.strip()
        inspect = ("inspect", "--tls-verify=false", "--creds", "ann:secret", f"docker://{target}")
        seen = json.loads(skopeo(*inspect, "--no-tags", cwd=tmp_path))
        assert seen["Digest"] == digest
        skopeo(
            *("copy", "--all", "--src-tls-verify=false", "--src-creds", "ann:secret"),
            *(f"docker://{target}", "oci:copied:v1"),
            cwd=tmp_path,
        )
    assert everpath("list", "packages", "oci:copied:v1", cwd=tmp_path).stdout.splitlines()[1].startswith("p ")


@pytest.mark.parametrize("change", [lambda data: data[:-10], lambda data: data[:-1] + b"?"])
def test_damaged_blob_is_rejected(registry: DockerRegistry, tmp_path: Path, change: Any) -> None:
    push_catalog(registry, tmp_path)
    blobs = (registry.folder / "images/docker/registry/v2/blobs/sha256").glob("*/*/data")
    layer = next(file for file in blobs if file.read_bytes().startswith(b"\x1f\x8b"))
    layer.write_bytes(change(layer.read_bytes()))
    target = f"{registry.host}/me/catalog:v1"
    done = everpath("catalog", "pull", target, "-o", "back", "--insecure", cwd=tmp_path, check=False)
    assert done.returncode == 3
    assert "has the wrong content" in done.stderr
    assert not (tmp_path / "back").exists()


DATA = os.urandom(4 << 20)


def push_options(attempts: int = 240) -> RegistryOptions:
    """Retry for two minutes: on a busy machine the registry may need that long to restart."""
    patience = RetryPolicy(attempts=attempts, first_delay=0.1, max_delay=0.5)
    return RegistryOptions(insecure=True, chunk_size=256 << 10, retry=patience, environment={})


def test_push_continues_after_a_restart_of_the_registry(registry: DockerRegistry) -> None:
    image, reference = small_image(DATA), Reference(registry.host, "me/large", "v1")
    was_killed = threading.Event()
    done: list[object] = []

    def kill_registry(step: TransferProgress) -> None:
        if step.state == "sending" and step.transferred >= len(DATA) // 2 and not was_killed.is_set():
            registry.kill()
            was_killed.set()

    def push_in_thread() -> None:
        try:
            done.append(push_image(image, reference, push_options(), kill_registry))
        except Unreachable as error:
            done.append(error)

    thread = threading.Thread(target=push_in_thread)
    thread.start()
    assert was_killed.wait(60)
    time.sleep(0.5)
    # Not in the other thread: a process is killed when the thread that started it ends.
    registry.start()
    thread.join(180)
    assert done == [image.root]
    assert registry.blob(last_layer(image).digest).read_bytes() == DATA
    patches = [path for method, path in registry.requests() if method == "PATCH"]
    # Sixteen chunks, none of them twice: the upload continued where it was interrupted.
    assert len(patches) == 16


def test_failed_push_leaves_no_tag_and_the_next_push_continues(registry: DockerRegistry) -> None:
    image, reference = small_image(b"small", DATA), Reference(registry.host, "me/large", "v1")

    def kill_registry(step: TransferProgress) -> None:
        if step.state == "sending" and step.transferred >= len(DATA) // 2:
            registry.kill()

    with pytest.raises(Unreachable, match="connection refused"):
        push_image(image, reference, push_options(3), kill_registry)
    registry.start()
    tags = [path for method, path in registry.requests() if method == "PUT" and "/manifests/" in path]
    assert tags == []
    steps: list[TransferProgress] = []
    push_image(image, reference, push_options(), steps.append)
    assert [step.state for step in steps if step.state != "sending"] == ["exists", "exists", "sent", "sent"]
