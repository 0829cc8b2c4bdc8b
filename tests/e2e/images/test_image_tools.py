"""Images built by everpath, read with skopeo, umoci and opm."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from everpath.cli.entry_point import run
from everpath.oci.build import ImageSpec, build_image
from everpath.oci.descriptors import Platform
from everpath.oci.docker_archives import open_docker_archive
from everpath.oci.layouts import open_layout, write_layout
from everpath.oci.oci_archives import open_oci_archive
from everpath.oci.tar_writer import TarMember
from everpath.oci.unpack import unpack_image
from tests.e2e.images.docker_registry import docker_registry
from tests.e2e.images.image_tools import inspect_image, program, run_tool
from tests.e2e.servers.binaries import Binaries
from tests.e2e.servers.grpc_catalogs import is_listening
from tests.e2e.servers.loopback import free_ports
from tests.e2e.servers.polling import wait_until
from tests.support.commandline import ROOT
from tests.support.everpath.bundles import write
from tests.support.everpath.image_samples import ANNOTATIONS, BUNDLE, CATALOG, files_in

pytestmark = pytest.mark.e2e

CONFIGS = {"operators.operatorframework.io.index.configs.v1": "/configs"}
_NOBODY_UID = 65534


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "catalog", CATALOG)
    write(tmp_path / "bundle", BUNDLE)
    return tmp_path


def run_build(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a build command, and return the digest."""
    capsys.readouterr()
    assert run((*arguments, "--print-digest")) == 0
    return capsys.readouterr().out.strip()


@pytest.mark.parametrize("target", ["oci:x", "oci-archive:x"])
def test_skopeo_reads_the_printed_digest(target: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    digest = run_build(capsys, "bundle", "build", "bundle", "-o", target, "--tag", "v1")
    for image in (target, f"{target}:v1"):
        assert f"sha256:{hashlib.sha256(_raw_manifest(image)).hexdigest()}" == digest
        image_info = inspect_image(image)
        assert image_info["Labels"] == ANNOTATIONS
        assert (image_info["Created"], image_info["Os"]) == ("1970-01-01T00:00:00Z", "linux")


def _raw_manifest(image: str) -> bytes:
    done = subprocess.run([program("skopeo"), "inspect", "--raw", image], capture_output=True, check=True)
    return done.stdout


def test_skopeo_finds_every_platform(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_build(capsys, "catalog", "build", "catalog", "-o", "oci:x")
    for architecture in ("amd64", "arm64", "ppc64le", "s390x"):
        done = run_tool("skopeo", "--override-arch", architecture, "inspect", "--config", "oci:x")
        config = json.loads(done)
        assert (config["architecture"], config["config"]["Labels"]) == (architecture, CONFIGS)


def test_skopeo_copies_an_image_unchanged(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    digest = run_build(capsys, "catalog", "build", "catalog", "-o", "oci:x:v1")
    run_tool("skopeo", "copy", "--all", "oci:x:v1", "oci-archive:copy.tar:v1")
    assert open_oci_archive("copy.tar", "v1").root.digest == digest
    run_tool("skopeo", "copy", "--all", "oci-archive:copy.tar:v1", "oci:copy:v1")
    assert open_layout("copy", "v1").root.digest == digest
    unpack_image(open_layout("copy", "v1"), "out")
    assert files_in(here / "out") == {f"configs/{name}": text.encode() for name, text in CATALOG.items()}


def test_docker_archives_of_everpath_and_skopeo_are_compatible(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digest = run_build(
        capsys, "catalog", "build", "catalog", "-o", "docker-archive:x", "--tag", "acme/catalog:v1"
    )
    assert inspect_image("docker-archive:x:acme/catalog:v1")["Labels"] == CONFIGS
    config = run_tool("skopeo", "inspect", "--raw", "--config", "docker-archive:x")
    assert f"sha256:{hashlib.sha256(config.encode()).hexdigest()}" == digest
    run_tool("skopeo", "copy", "docker-archive:x", "docker-archive:copy:acme/catalog:v1")
    unpack_image(open_docker_archive("copy", "acme/catalog:v1"), "out")
    assert list(files_in(here / "out")) == ["configs/acme/catalog.yaml"]


@pytest.mark.parametrize("compression", ["gzip", "none"])
def test_umoci_unpacks_the_files_of_the_bundle(
    compression: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--platform", "linux/amd64", "--compression", compression)
    run_build(capsys, "bundle", "build", "bundle", "-o", "oci:x:v1", *options)
    run_tool("umoci", "unpack", "--rootless", "--image", "x:v1", "out")
    assert files_in(here / "out" / "rootfs") == {name: text.encode() for name, text in BUNDLE.items()}
    for path in (here / "out" / "rootfs").rglob("*"):
        assert path.stat().st_mode & 0o7777 == (0o755 if path.is_dir() else 0o644)


def test_everpath_unpacks_layers_like_umoci(here: Path) -> None:
    """Layers created by umoci, with whiteouts, links, and files that replace folders and vice versa."""
    run_tool("umoci", "init", "--layout", "x")
    run_tool("umoci", "new", "--image", "x:v0")
    root = _unpack("x:v0", "v0")
    write(root, {"a/1": "1", "a/2": "2", "b": "3", "c/d/e": "4", "f/g": "5", "h": "6"})
    (root / "link").symlink_to("a/1")
    run_tool("umoci", "repack", "--image", "x:v1", "v0")
    root = _unpack("x:v1", "v1")
    for removed in ("a/1", "b", "f/g"):
        (root / removed).unlink()
    (root / "link").unlink()
    (root / "f").rmdir()
    write(root, {"a/3": "7", "b/now": "8", "f": "9", "h": "10"})
    os.link(root / "h", root / "i")
    (root / "link").symlink_to("/a/3")
    run_tool("umoci", "repack", "--image", "x:v2", "v1")
    expected = _unpack("x:v2", "v2")
    unpack_image(open_layout("x", "v2"), "unpacked")
    # The absolute link is broken on this machine. In the image it leads to a file, which everpath copies.
    assert str((expected / "link").readlink()) == "/a/3"
    assert files_in(here / "unpacked") == {**files_in(expected), "link": b"7"}
    assert sorted(files_in(expected)) == ["a/2", "a/3", "b/now", "c/d/e", "f", "h", "i"]


def _unpack(image: str, folder: str) -> Path:
    run_tool("umoci", "unpack", "--rootless", "--image", image, folder)
    return Path(folder) / "rootfs"


@pytest.fixture(scope="module")
def opm_based_catalog(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the layout `x`, unpacked to `out`: a catalog based on an image with opm and a catalog."""
    folder = tmp_path_factory.mktemp("on-opm")
    stale = {"configs/stale.yaml": b"stale", "tmp/cache/pogreb.v1/digest": b"stale"}
    members = [TarMember("bin/opm", str(binaries.opm.resolve()), 0o755)]
    members += [TarMember(name, content) for name, content in stale.items()]
    base = build_image(ImageSpec(members, platforms=[Platform("linux", "amd64")], compression="none"))
    write_layout(base, str(folder / "opm"))
    catalog = str(write(folder / "catalog", CATALOG))
    assert run(("catalog", "build", catalog, "--base", f"oci:{folder}/opm", "-o", f"oci:{folder}/x:v1")) == 0
    run_tool("umoci", "unpack", "--rootless", "--image", f"{folder}/x:v1", f"{folder}/out")
    return folder


def test_umoci_hides_the_catalog_of_the_base(opm_based_catalog: Path) -> None:
    root = opm_based_catalog / "out" / "rootfs"
    assert list(files_in(root / "configs")) == ["acme/catalog.yaml"]
    assert (root / "tmp").stat().st_mode & 0o7777 == 0o1777


def test_opm_runs_the_command_of_the_image_as_an_unprivileged_user(opm_based_catalog: Path) -> None:
    """Absolute paths of the command are replaced by paths below the unpacked root."""
    root = opm_based_catalog / "out" / "rootfs"
    process = inspect_image(f"oci:{opm_based_catalog}/x:v1", "--config")["config"]
    words = [*process["Entrypoint"], *process["Cmd"]]
    command = [f"{root}{word}" if word.startswith("/") else word for word in words]
    (port,) = free_ports(1)
    _allow_all_users(root)
    is_root = os.geteuid() == 0
    with subprocess.Popen(
        [*command, "--port", str(port), "--termination-log", os.devnull],
        env={"TMPDIR": str(root / "tmp")},
        stderr=subprocess.PIPE,
        text=True,
        user=_NOBODY_UID if is_root else None,
        extra_groups=[] if is_root else None,
    ) as server:
        try:
            wait_until("opm listens or has exited", lambda: is_listening(port) or server.poll() is not None)
            assert server.poll() is None, server.communicate()[1]
        finally:
            server.terminate()
            server.communicate()


def test_opm_rejects_an_empty_cache_folder(opm_based_catalog: Path, binaries: Binaries) -> None:
    """The reason why the image has no --cache-dir, unlike opm's own Dockerfile."""
    done = subprocess.run(
        [binaries.opm, "serve", opm_based_catalog / "catalog", "--cache-dir", opm_based_catalog / "empty"],
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 1
    assert "integrity check failed" in done.stderr


def test_base_image_can_be_in_a_registry(
    here: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """skopeo pushes a Docker image for two platforms; the build pulls its blobs."""
    platforms = [Platform("linux", each) for each in ("amd64", "arm64")]
    members = [TarMember("bin/opm", b"#!", 0o755), TarMember("configs/stale.yaml", b"stale")]
    write_layout(build_image(ImageSpec(members, platforms=platforms)), "opm", "v1")
    registry_folder = tmp_path / "registry"
    registry_folder.mkdir()
    with docker_registry(registry_folder) as registry:
        reference = f"{registry.host}/opm:v1"
        copy_options = (
            "--all",
            "--format",
            "v2s2",
            "--dest-tls-verify=false",
            "oci:opm:v1",
            f"docker://{reference}",
        )
        run_tool("skopeo", "copy", *copy_options)
        digest = run_build(
            capsys, "catalog", "build", "catalog", "--base", reference, "--insecure", "-o", "oci:x"
        )
    assert open_layout("x").root.digest == digest
    for architecture in ("amd64", "arm64"):
        config = json.loads(
            run_tool("skopeo", "--override-arch", architecture, "inspect", "--config", "oci:x")
        )
        assert (config["architecture"], len(config["rootfs"]["diff_ids"])) == (architecture, 2)
    unpack_image(open_layout("x"), "out", platform=platforms[1])
    assert sorted(files_in(here / "out")) == ["bin/opm", "configs/acme/catalog.yaml"]


def _allow_all_users(folder: Path) -> None:
    """Make the folders of pytest and umoci accessible for other users."""
    for parent in (folder, *folder.parents):
        if parent.name == "tmp" or parent.stat().st_uid != os.geteuid():
            return
        parent.chmod(0o755)


def test_catalog_and_bundles_of_searchkeeper_are_built(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_build(capsys, "catalog", "build", str(ROOT / "catalog"), "-o", "oci:x:catalog")
    for folder in sorted((ROOT / "bundles" / "searchkeeper").glob("[0-9]*")):
        run_build(capsys, "bundle", "build", str(folder), "-o", f"oci:x:{folder.name}")
        assert inspect_image(f"oci:x:{folder.name}")["Os"] == "linux"
    assert inspect_image("oci:x:catalog")["Labels"] == CONFIGS
