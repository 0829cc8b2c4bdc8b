"""Images we build, in the hands of skopeo, umoci and opm."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from bundles import write
from commandline import ROOT
from e2e.images.registries import docker_registry
from e2e.images.trusted import inspected, program, ran
from e2e.servers.binaries import Binaries
from e2e.servers.grpc_catalogs import is_listening
from e2e.servers.loopback import free_ports
from e2e.servers.polling import wait_until
from everpath.cli.app import run
from everpath.images.archives import open_archive
from everpath.images.building import Recipe, build
from everpath.images.content import Platform
from everpath.images.docker_archives import open_docker_archive
from everpath.images.layers import Member
from everpath.images.layouts import open_layout, write_layout
from everpath.images.unpacking import unpack
from images_made import ANNOTATIONS, BUNDLE, CATALOG, files_in

pytestmark = pytest.mark.e2e

CONFIGS = {"operators.operatorframework.io.index.configs.v1": "/configs"}
_NOBODY = 65534


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "catalog", CATALOG)
    write(tmp_path / "bundle", BUNDLE)
    return tmp_path


def built(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The digest of what was built."""
    capsys.readouterr()
    assert run((*arguments, "--print-digest")) == 0
    return capsys.readouterr().out.strip()


@pytest.mark.parametrize("where", ["oci:x", "oci-archive:x"])
def test_skopeo_reads_the_digest_we_print(where: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    digest = built(capsys, "bundle", "build", "bundle", "-o", where, "--tag", "v1")
    for image in (where, f"{where}:v1"):
        assert f"sha256:{hashlib.sha256(_raw(image)).hexdigest()}" == digest
        said = inspected(image)
        assert said["Labels"] == ANNOTATIONS
        assert (said["Created"], said["Os"]) == ("1970-01-01T00:00:00Z", "linux")


def _raw(image: str) -> bytes:
    done = subprocess.run([program("skopeo"), "inspect", "--raw", image], capture_output=True, check=True)
    return done.stdout


def test_skopeo_finds_every_platform(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built(capsys, "catalog", "build", "catalog", "-o", "oci:x")
    for architecture in ("amd64", "arm64", "ppc64le", "s390x"):
        done = ran("skopeo", "--override-arch", architecture, "inspect", "--config", "oci:x")
        config = json.loads(done)
        assert (config["architecture"], config["config"]["Labels"]) == (architecture, CONFIGS)


def test_skopeo_copies_without_a_change(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    digest = built(capsys, "catalog", "build", "catalog", "-o", "oci:x:v1")
    ran("skopeo", "copy", "--all", "oci:x:v1", "oci-archive:copy.tar:v1")
    assert open_archive("copy.tar", "v1").root.digest == digest
    ran("skopeo", "copy", "--all", "oci-archive:copy.tar:v1", "oci:copy:v1")
    assert open_layout("copy", "v1").root.digest == digest
    unpack(open_layout("copy", "v1"), "out")
    assert files_in(here / "out") == {f"configs/{name}": text.encode() for name, text in CATALOG.items()}


def test_skopeo_reads_our_docker_archives_and_we_its_own(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digest = built(
        capsys, "catalog", "build", "catalog", "-o", "docker-archive:x", "--tag", "acme/catalog:v1"
    )
    assert inspected("docker-archive:x:acme/catalog:v1")["Labels"] == CONFIGS
    config = ran("skopeo", "inspect", "--raw", "--config", "docker-archive:x")
    assert f"sha256:{hashlib.sha256(config.encode()).hexdigest()}" == digest
    ran("skopeo", "copy", "docker-archive:x", "docker-archive:copy:acme/catalog:v1")
    unpack(open_docker_archive("copy", "acme/catalog:v1"), "out")
    assert list(files_in(here / "out")) == ["configs/acme/catalog.yaml"]


@pytest.mark.parametrize("compression", ["gzip", "none"])
def test_umoci_unpacks_what_was_packed(
    compression: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--platform", "linux/amd64", "--compression", compression)
    built(capsys, "bundle", "build", "bundle", "-o", "oci:x:v1", *options)
    ran("umoci", "unpack", "--rootless", "--image", "x:v1", "out")
    assert files_in(here / "out" / "rootfs") == {name: text.encode() for name, text in BUNDLE.items()}
    for path in (here / "out" / "rootfs").rglob("*"):
        assert path.stat().st_mode & 0o7777 == (0o755 if path.is_dir() else 0o644)


def test_we_unpack_layers_as_umoci_does(here: Path) -> None:
    """Layers of umoci's own making, with whiteouts, links, and files and folders that change places."""
    ran("umoci", "init", "--layout", "x")
    ran("umoci", "new", "--image", "x:v0")
    root = _unpacked("x:v0", "v0")
    write(root, {"a/1": "1", "a/2": "2", "b": "3", "c/d/e": "4", "f/g": "5", "h": "6"})
    (root / "link").symlink_to("a/1")
    ran("umoci", "repack", "--image", "x:v1", "v0")
    root = _unpacked("x:v1", "v1")
    for gone in ("a/1", "b", "f/g"):
        (root / gone).unlink()
    (root / "link").unlink()
    (root / "f").rmdir()
    write(root, {"a/3": "7", "b/now": "8", "f": "9", "h": "10"})
    os.link(root / "h", root / "i")
    (root / "link").symlink_to("/a/3")
    ran("umoci", "repack", "--image", "x:v2", "v1")
    umocis = _unpacked("x:v2", "v2")
    unpack(open_layout("x", "v2"), "ours")
    # On this machine the link leads nowhere; in the image it leads to a file, of which we make a copy.
    assert str((umocis / "link").readlink()) == "/a/3"
    assert files_in(here / "ours") == {**files_in(umocis), "link": b"7"}
    assert sorted(files_in(umocis)) == ["a/2", "a/3", "b/now", "c/d/e", "f", "h", "i"]


def _unpacked(image: str, folder: str) -> Path:
    ran("umoci", "unpack", "--rootless", "--image", image, folder)
    return Path(folder) / "rootfs"


@pytest.fixture(scope="module")
def on_opm(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a layout `x` that has a catalog on an image with opm and a catalog of its own, unpacked
    to `out`.
    """
    folder = tmp_path_factory.mktemp("on-opm")
    stale = {"configs/stale.yaml": b"stale", "tmp/cache/pogreb.v1/digest": b"stale"}
    members = [Member("bin/opm", str(binaries.opm.resolve()), 0o755)]
    members += [Member(name, content) for name, content in stale.items()]
    base = build(Recipe(members, platforms=[Platform("linux", "amd64")], compression="none"))
    write_layout(base, str(folder / "opm"))
    catalog = str(write(folder / "catalog", CATALOG))
    assert run(("catalog", "build", catalog, "--base", f"oci:{folder}/opm", "-o", f"oci:{folder}/x:v1")) == 0
    ran("umoci", "unpack", "--rootless", "--image", f"{folder}/x:v1", f"{folder}/out")
    return folder


def test_umoci_hides_the_catalog_of_the_base(on_opm: Path) -> None:
    root = on_opm / "out" / "rootfs"
    assert list(files_in(root / "configs")) == ["acme/catalog.yaml"]
    assert (root / "tmp").stat().st_mode & 0o7777 == 0o1777


def test_opm_starts_with_what_the_image_says_as_a_user_without_rights(on_opm: Path) -> None:
    """In a container the paths begin at the image's root; here each is put below the unpacked one."""
    root = on_opm / "out" / "rootfs"
    process = inspected(f"oci:{on_opm}/x:v1", "--config")["config"]
    words = [*process["Entrypoint"], *process["Cmd"]]
    command = [f"{root}{word}" if word.startswith("/") else word for word in words]
    (port,) = free_ports(1)
    _let_nobody_pass(root)
    is_root = os.geteuid() == 0
    with subprocess.Popen(
        [*command, "--port", str(port), "--termination-log", os.devnull],
        env={"TMPDIR": str(root / "tmp")},
        stderr=subprocess.PIPE,
        text=True,
        user=_NOBODY if is_root else None,
        extra_groups=[] if is_root else None,
    ) as server:
        try:
            wait_until("opm answers or has ended", lambda: is_listening(port) or server.poll() is not None)
            assert server.poll() is None, server.communicate()[1]
        finally:
            server.terminate()
            server.communicate()


def test_opm_refuses_a_cache_folder_without_a_cache(on_opm: Path, binaries: Binaries) -> None:
    """Why the image does not say --cache-dir, as opm's own Dockerfile does."""
    done = subprocess.run(
        [binaries.opm, "serve", on_opm / "catalog", "--cache-dir", on_opm / "empty"],
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 1
    assert "integrity check failed" in done.stderr


def test_a_base_may_be_in_a_registry(here: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """skopeo puts it there, for two platforms, as Docker's kind of image; the build fetches what it needs."""
    platforms = [Platform("linux", each) for each in ("amd64", "arm64")]
    members = [Member("bin/opm", b"#!", 0o755), Member("configs/stale.yaml", b"stale")]
    write_layout(build(Recipe(members, platforms=platforms)), "opm", "v1")
    registry_folder = tmp_path / "registry"
    registry_folder.mkdir()
    with docker_registry(registry_folder) as registry:
        where = f"{registry.host}/opm:v1"
        copied = ("--all", "--format", "v2s2", "--dest-tls-verify=false", "oci:opm:v1", f"docker://{where}")
        ran("skopeo", "copy", *copied)
        digest = built(capsys, "catalog", "build", "catalog", "--base", where, "--insecure", "-o", "oci:x")
    assert open_layout("x").root.digest == digest
    for architecture in ("amd64", "arm64"):
        config = json.loads(ran("skopeo", "--override-arch", architecture, "inspect", "--config", "oci:x"))
        assert (config["architecture"], len(config["rootfs"]["diff_ids"])) == (architecture, 2)
    unpack(open_layout("x"), "out", platform=platforms[1])
    assert sorted(files_in(here / "out")) == ["bin/opm", "configs/acme/catalog.yaml"]


def _let_nobody_pass(folder: Path) -> None:
    """Through the folders that pytest and umoci keep for their user."""
    for above in (folder, *folder.parents):
        if above.name == "tmp" or above.stat().st_uid != os.geteuid():
            return
        above.chmod(0o755)


def test_our_own_catalog_and_bundles_are_built(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built(capsys, "catalog", "build", str(ROOT / "catalog"), "-o", "oci:x:catalog")
    for folder in sorted((ROOT / "bundles" / "searchkeeper").glob("[0-9]*")):
        built(capsys, "bundle", "build", str(folder), "-o", f"oci:x:{folder.name}")
        assert inspected(f"oci:x:{folder.name}")["Os"] == "linux"
    assert inspected("oci:x:catalog")["Labels"] == CONFIGS
