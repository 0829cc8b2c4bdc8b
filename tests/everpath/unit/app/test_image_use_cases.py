"""The use cases of images and of serving, called from Python: they return data, and print nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from everpath.app.convert_manifests import flatten, nest
from everpath.app.images.build import BuildRejected, ImageBuildOptions
from everpath.app.images.bundle import build_bundle_image
from everpath.app.images.catalog import build_catalog_image
from everpath.app.images.pull import pull
from everpath.app.images.push import push
from everpath.app.render_catalog import CatalogRenderer
from everpath.app.serve import check_catalog, serve
from everpath.errors import ExitCode, UsageError
from everpath.oci.registry import RegistryOptions, TransferProgress
from everpath.server.address import Address
from everpath.server.settings import ServerSettings
from tests.support.commandline import ROOT
from tests.support.everpath.bundles import write
from tests.support.everpath.image_samples import BUNDLE, CATALOG, files_in
from tests.support.everpath.registry_server import FakeRegistry, run_registry

PACKAGE_MANIFESTS = ROOT / "examples" / "10-package-manifests" / "manifests"


@pytest.fixture(autouse=True)
def _prints_nothing(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def server() -> Iterator[FakeRegistry]:
    with run_registry() as running:
        yield running


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write(tmp_path / "bundle", BUNDLE)


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    return write(tmp_path / "catalog", CATALOG)


def test_bundle_image_is_built_in_memory_and_then_written(bundle: Path, tmp_path: Path) -> None:
    write(bundle, {"manifests/.swp": "x"})
    warnings: list[str] = []
    output = tmp_path / "bundle.tar"
    built = build_bundle_image(
        str(bundle), ImageBuildOptions(output=f"oci-archive:{output}"), on_warning=warnings.append
    )
    assert not output.exists()
    assert len(warnings) == 1
    assert "manifests/acme.clusterserviceversion.yaml" in built.files
    built.write()
    assert output.is_file()


def test_rejected_catalog_has_its_errors(catalog: Path) -> None:
    file = catalog / "acme" / "catalog.yaml"
    file.write_text(file.read_text().replace("defaultChannel: stable", "defaultChannel: gone"))
    options = ImageBuildOptions(output="oci-archive:out.tar")
    with pytest.raises(BuildRejected) as rejection:
        build_catalog_image(str(catalog), options)
    assert rejection.value.exit_code is ExitCode.FINDINGS
    assert [error.place.file for error in rejection.value.errors] == [str(file)]


def test_label_that_contradicts_the_content_is_rejected(bundle: Path) -> None:
    key = "operators.operatorframework.io.bundle.package.v1"
    options = ImageBuildOptions(output="oci-archive:out.tar", labels={key: "other"})
    with pytest.raises(UsageError, match="contradicts the content"):
        build_bundle_image(str(bundle), options)


def test_pushed_catalog_is_pulled(server: FakeRegistry, catalog: Path, tmp_path: Path) -> None:
    registry = RegistryOptions(insecure=True)
    target = f"{server.address.removeprefix('http://')}/me/catalog:v1"
    progress: list[TransferProgress] = []
    pushed = push("catalog", str(catalog), target, registry, on_progress=progress.append)
    assert {each.kind for each in progress} == {"blob", "manifest"}
    out = tmp_path / "pulled"
    pulled = pull("catalog", target, str(out), registry)
    assert pulled.digest == pushed.digest
    assert files_in(out) == files_in(catalog)


def test_other_kind_of_image_is_not_pulled(server: FakeRegistry, bundle: Path, tmp_path: Path) -> None:
    registry = RegistryOptions(insecure=True)
    target = f"{server.address.removeprefix('http://')}/me/bundle:v1"
    push("bundle", str(bundle), target, registry)
    with pytest.raises(UsageError, match="is a bundle, not a catalog"):
        pull("catalog", target, str(tmp_path / "out"), registry)


def test_check_returns_the_size_of_a_catalog(catalog: Path) -> None:
    assert check_catalog(str(catalog)) == "1 package, 1 bundle"


def test_serve_calls_back_when_it_accepts_calls_and_ends_on_a_signal(catalog: Path) -> None:
    ready: list[str] = []
    log: list[str] = []

    def on_ready(address: Address, summary: str) -> None:
        ready.append(f"{address.host} {summary}")
        os.kill(os.getpid(), signal.SIGTERM)

    settings = ServerSettings(Address("127.0.0.1", 0), grace=0)
    serve(str(catalog), settings, log=log.append, on_ready=on_ready)
    assert ready == ["127.0.0.1 1 package, 1 bundle"]
    assert len(log) == 1


def test_image_cannot_be_watched() -> None:
    settings = ServerSettings(Address("127.0.0.1", 0), watch=True)
    with pytest.raises(UsageError, match="cannot be watched"):
        serve("quay.io/me/catalog:v1", settings)


def test_flattened_manifests_are_nested_again(tmp_path: Path) -> None:
    flat = flatten(str(PACKAGE_MANIFESTS), str(tmp_path / "flat"))
    assert not flat.folder.exists()
    for name, content in flat.files.items():
        write(flat.folder, {name: content.decode()})
    nested = nest(str(flat.folder), str(tmp_path / "nested"))
    assert sorted(Path(name).parent.name for name in nested.files if name.endswith("version.yaml")) == [
        "0.10.0",
        "0.8.0",
        "0.9.0",
    ]


def test_rendered_paths_errors_and_ignored_files_are_returned(bundle: Path, tmp_path: Path) -> None:
    owners = tmp_path / "OWNERS"
    owners.write_text("me\n")
    invalid = write(tmp_path / "invalid", {**BUNDLE, "metadata/annotations.yaml": "annotations: {}\n"})
    rendered = CatalogRenderer().render_all([str(bundle), str(invalid), str(owners)])
    assert [blob["name"] for blob in rendered.blobs] == ["acme.v1.0.0"]
    assert len(rendered.errors) == 1
    assert rendered.ignored == [str(owners)]
