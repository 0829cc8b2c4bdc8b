"""Images as input of commands that read a path."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from everpath.cli import completion
from everpath.oci import cache
from everpath.oci.references import Reference
from everpath.oci.registry import RegistryOptions, push_image
from tests.support.commandline import Everpath
from tests.support.everpath.bundle_folders import good_bundle, lay_out
from tests.support.everpath.catalogs import write_fbc
from tests.support.everpath.registry_server import FakeRegistry, run_registry
from tests.support.everpath.small_images import small_image

FORKED = "c: a\nb: a\na"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeRegistry]:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    with run_registry() as registry:
        monkeypatch.setenv("EVERPATH_INSECURE", registry.address.removeprefix("http://"))
        yield registry


@pytest.fixture
def image(server: FakeRegistry, everpath: Everpath, here: Path) -> str:
    """Push the image of a catalog."""
    write_fbc(here, FORKED)
    name = f"{server.address.removeprefix('http://')}/me/catalog:v1"
    assert everpath("catalog", "push", "catalog", name, "--no-check").code == 0
    return name


@pytest.fixture
def bundle_image(server: FakeRegistry, everpath: Everpath, here: Path) -> str:
    lay_out(good_bundle(), here / "bundle")
    name = f"{server.address.removeprefix('http://')}/me/op:v1"
    assert everpath("bundle", "push", "bundle", name).code == 0
    return name


READERS = [
    ("validate-graph",),
    ("simulate",),
    ("paths",),
    ("graph",),
    ("list", "packages"),
    ("list", "bundles"),
    ("catalog", "render"),
    ("compare", "catalog"),
]


@pytest.mark.parametrize("command", READERS, ids=" ".join)
def test_image_has_the_same_output_as_its_folder(
    everpath: Everpath, image: str, command: tuple[str, ...]
) -> None:
    of_folder, of_image = everpath(*command, "catalog"), everpath(*command, image)
    assert of_image.code == of_folder.code
    shown = of_image.out.replace(f"{image}:/configs", "catalog").replace(image, "catalog")
    assert " ".join(shown.split()) == " ".join(of_folder.out.split())


def test_why_and_range_accept_images(everpath: Everpath, image: str) -> None:
    for command in (["why", "-p", "p", "--installed", "a"], ["range", "explain", ">=0.0.0", "--in"]):
        of_folder, of_image = everpath(*command, "catalog"), everpath(*command, image)
        assert of_image.code == of_folder.code
        assert len(of_image.out.splitlines()) == len(of_folder.out.splitlines()) > 1


def test_image_may_have_a_catalog_name_a_priority_and_a_digest(everpath: Everpath, image: str) -> None:
    digest = everpath("catalog", "push", "catalog", image, "--no-check", "--print-digest").out.strip()
    pinned = f"{image.removesuffix(':v1')}@{digest}"
    plain = everpath("simulate", "one=catalog@5", "-p", "p", "--olm", "v1")
    for named in (f"one={image}@5", f"one={pinned}", f"one={pinned}@5"):
        assert everpath("simulate", named, "-p", "p", "--olm", "v1").out == plain.out


def test_finding_names_the_file_in_the_image(everpath: Everpath, image: str) -> None:
    assert f"--> {image}:/configs/p.yaml:" in everpath("validate-graph", image).out


@pytest.mark.parametrize("kept", ["oci:out", "oci:out:v1", "oci-archive:out.tar", "oci-archive:out.tar:v1"])
def test_images_on_disk_are_read(everpath: Everpath, here: Path, kept: str) -> None:
    write_fbc(here, FORKED)
    everpath("catalog", "build", "catalog", "-o", kept.removesuffix(":v1"), "--tag", "v1", "--no-check")
    assert f"--> {kept}:/configs/p.yaml:" in everpath("validate-graph", kept).out


def test_existing_path_takes_precedence_over_an_image(everpath: Everpath, here: Path) -> None:
    (here / "quay.io" / "me").mkdir(parents=True)
    write_fbc(here, "b: a\na").rename(here / "quay.io/me/catalog:v1")
    assert everpath("validate-graph", "quay.io/me/catalog:v1").code == 0


@pytest.mark.parametrize("name", ["localhost:5000/catalog", "quay.io/me/catalog", "quay.io/me/Catalog:v1"])
def test_almost_valid_reference_is_reported_with_the_syntax(everpath: Everpath, name: str) -> None:
    done = everpath("validate-graph", name)
    assert done.code == 3
    assert "if it is an image: HOST/REPOSITORY:TAG in lower case" in done.err


@pytest.mark.parametrize("name", ["./nothere", "../nothere/x", "nothere/a.yaml"])
def test_misspelt_path_is_not_an_image(everpath: Everpath, name: str) -> None:
    done = everpath("validate-graph", name)
    assert done.code == 3
    assert "image" not in done.err


def test_tag_is_resolved_each_time_and_blobs_are_pulled_once(
    everpath: Everpath, server: FakeRegistry, image: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERPATH_CACHE", str(here / "cache"))
    everpath("list", "packages", image)
    server.requests.clear()
    assert everpath("list", "packages", image).code == 0
    assert server.paths("GET") == ["/v2/me/catalog/manifests/v1"]


def test_cached_digest_needs_no_request(
    everpath: Everpath, server: FakeRegistry, image: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERPATH_CACHE", str(here / "cache"))
    digest = everpath("catalog", "push", "catalog", image, "--no-check", "--print-digest").out.strip()
    pinned = f"{image.removesuffix(':v1')}@{digest}"
    everpath("list", "packages", pinned)
    server.requests.clear()
    assert everpath("list", "packages", pinned).code == 0
    assert server.requests == []


def test_moved_tag_is_pulled_again(
    everpath: Everpath, image: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERPATH_CACHE", str(here / "cache"))
    assert everpath("validate-graph", image).code == 1
    write_fbc(here, "b: a\na")
    everpath("catalog", "push", "catalog", image)
    assert everpath("validate-graph", image).code == 0


def test_fingerprint_of_a_finding_does_not_depend_on_the_cache_folder(
    everpath: Everpath, image: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = []
    for folder in (str(here / "one"), str(here / "two"), "off"):
        monkeypatch.setenv("EVERPATH_CACHE", folder)
        reports.append(everpath("validate-graph", image, "-o", "sarif").out)
    assert "partialFingerprints" in reports[0]
    assert len(set(reports)) == 1


def test_modified_cache_entry_is_extracted_again(
    everpath: Everpath, image: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERPATH_CACHE", str(here / "cache"))
    before = everpath("validate-graph", image)
    for file in (here / "cache" / "images").rglob("*.yaml"):
        file.write_text("")
    after = everpath("validate-graph", image)
    assert (after.code, after.out) == (before.code, before.out)
    assert before.code == 1


def test_unwritable_cache_is_replaced_by_a_temporary_folder(
    everpath: Everpath, image: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERPATH_CACHE", str(here / "cache"))
    monkeypatch.setattr(cache, "_checksum", _failing_once())
    assert everpath("validate-graph", image).code == 1
    assert list((here / "cache" / "images").iterdir()) == []


def _failing_once() -> Callable[[Path], str]:
    """The disk of the cache is full, that of temporary files is not."""
    real, left = cache._checksum, [OSError(errno.ENOSPC, "No space left on device")]

    def sum_of(folder: Path) -> str:
        if left:
            raise left.pop()
        return real(folder)

    return sum_of


def test_temporary_files_are_deleted_without_a_cache(
    process: Callable[..., subprocess.CompletedProcess[str]], image: str, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = process("list", "packages", image, EVERPATH_CACHE="off", TMPDIR=str(scratch))
    assert done.returncode == 0, done.stderr
    assert list(scratch.iterdir()) == []


def test_path_does_not_import_the_registry_client(
    process: Callable[..., subprocess.CompletedProcess[str]], here: Path
) -> None:
    write_fbc(here, "b: a\na")
    done = process("list", "packages", "catalog", PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0
    for heavy in ("http.client", "ssl", "tarfile", "everpath.oci"):
        assert f" {heavy}\n" not in done.stderr


def test_a_bundle_image_is_validated(everpath: Everpath, bundle_image: str) -> None:
    of_folder, of_image = (
        everpath("bundle", "validate", "bundle"),
        everpath("bundle", "validate", bundle_image),
    )
    assert (of_image.code, of_image.out.replace(f"{bundle_image}:", "bundle")) == (
        of_folder.code,
        of_folder.out,
    )


def test_rendered_bundle_has_the_reference_of_its_image(everpath: Everpath, bundle_image: str) -> None:
    for name in (bundle_image, f"docker://{bundle_image}"):
        answer = everpath("catalog", "render", name)
        assert f"\nimage: {bundle_image}\n" in answer.out


def test_template_pulls_its_images_with_pull(everpath: Everpath, bundle_image: str, here: Path) -> None:
    template = f"schema: olm.template.basic\nentries:\n- schema: olm.bundle\n  image: {bundle_image}\n"
    (here / "t.yaml").write_text(template)
    assert everpath("catalog", "render", "t.yaml").code == 1
    answer = everpath("catalog", "render", "t.yaml", "--pull")
    assert answer.code == 0
    assert answer.out == everpath("catalog", "render", bundle_image).out


def test_image_that_is_no_catalog_or_bundle_is_reported(everpath: Everpath, server: FakeRegistry) -> None:
    host = server.address.removeprefix("http://")
    push_image(small_image(b"no layer"), Reference(host, "me/other", "v1"), RegistryOptions())
    answer = everpath("validate-graph", f"{host}/me/other:v1")
    assert answer.code == 3
    assert f"{host}/me/other:v1 is neither a catalog nor a bundle" in answer.err


def test_missing_layout_is_reported(everpath: Everpath, here: Path) -> None:
    answer = everpath("validate-graph", "oci:nowhere")
    assert answer.code == 3
    assert "nowhere does not exist" in answer.err


def test_misspelt_path_that_looks_like_an_image_is_reported_as_both(
    everpath: Everpath, server: FakeRegistry, here: Path
) -> None:
    host = server.address.removeprefix("http://")
    answer = everpath("validate-graph", f"{host}/none:v1")
    assert answer.code == 4
    assert f"{host} cannot return v1 of none: not found (404)" in answer.err
    assert f"there is no file or folder {host}/none:v1 either" in answer.err


def test_completion_sends_no_request(everpath: Everpath, server: FakeRegistry, image: str) -> None:
    server.requests.clear()
    context = click.Context(click.Command("x"))
    context.params = {"paths": [image], "no_config": True}
    assert completion.packages(context, click.Option(["-p"]), "") == []
    assert server.requests == []
