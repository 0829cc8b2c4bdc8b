"""`everpath bundle build` and `everpath catalog build`."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from everpath.oci.build import ImageSpec, build_image
from everpath.oci.configs import load_config, load_labels
from everpath.oci.descriptors import Image, Platform
from everpath.oci.docker_archives import open_docker_archive
from everpath.oci.layouts import open_layout, write_layout
from everpath.oci.manifests import children
from everpath.oci.oci_archives import open_oci_archive
from everpath.oci.platforms import select_manifest
from everpath.oci.tar_writer import TarMember
from everpath.oci.unpack import unpack_image
from tests.support.commandline import Everpath
from tests.support.everpath.bundles import write
from tests.support.everpath.image_samples import ANNOTATIONS, BUNDLE, CATALOG, files_in

CONFIGS = "operators.operatorframework.io.index.configs.v1"
DATABASE = "operators.operatorframework.io.index.database.v1"


@pytest.fixture
def catalog(here: Path) -> Path:
    return write(here / "catalog", CATALOG)


@pytest.fixture
def bundle(here: Path) -> Path:
    return write(here / "bundle", BUNDLE)


def inside(image: Image, folder: Path) -> dict[str, bytes]:
    unpack_image(image, str(folder))
    return files_in(folder)


def encoded(files: dict[str, str], prefix: str = "") -> dict[str, bytes]:
    return {f"{prefix}{name}": content.encode() for name, content in files.items()}


def test_annotations_of_a_bundle_are_the_labels_of_its_image(
    everpath: Everpath, bundle: Path, here: Path
) -> None:
    answer = everpath("bundle", "build", "bundle")
    assert (answer.code, answer.err) == (0, "")
    image = open_oci_archive("acme.v1.0.0.oci.tar")
    assert answer.out == (
        "3 files for linux/amd64, linux/arm64, linux/ppc64le, linux/s390x "
        f"written to oci-archive:acme.v1.0.0.oci.tar\n{image.root.digest}\n"
    )
    assert load_labels(image, select_manifest(image)) == ANNOTATIONS
    assert inside(image, here / "out") == encoded(BUNDLE)


@pytest.mark.parametrize("name", ["../evil", "/evil", "a:b", ".hidden", "x" * 300])
def test_csv_name_that_is_unsafe_as_a_file_name_is_not_used(
    everpath: Everpath, bundle: Path, here: Path, name: str
) -> None:
    file = bundle / "manifests" / "acme.clusterserviceversion.yaml"
    file.write_text(file.read_text().replace("acme.v1.0.0", name))
    everpath("bundle", "build", "bundle", "--no-check")
    assert sorted(path.name for path in here.iterdir()) == ["bundle", "image.oci.tar"]


def test_catalog_image_contains_only_the_catalog(everpath: Everpath, catalog: Path, here: Path) -> None:
    assert everpath("catalog", "build", "catalog/").code == 0
    image = open_oci_archive("catalog.oci.tar")
    assert load_labels(image, select_manifest(image)) == {CONFIGS: "/configs"}
    assert "Entrypoint" not in load_config(image, select_manifest(image))["config"]
    assert inside(image, here / "out") == encoded(CATALOG, "configs/")


def test_catalog_may_be_a_single_file(everpath: Everpath, catalog: Path, here: Path) -> None:
    assert everpath("catalog", "build", "catalog/acme/catalog.yaml").code == 0
    files = inside(open_oci_archive("catalog.oci.tar"), here / "out")
    assert files == {"configs/catalog.yaml": CATALOG["acme/catalog.yaml"].encode()}


def test_files_in_indexignore_are_not_in_the_image(everpath: Everpath, catalog: Path, here: Path) -> None:
    write(catalog, {"README.md": "# no catalog", ".indexignore": "README.md\n"})
    assert everpath("catalog", "build", "catalog").code == 0
    assert inside(open_oci_archive("catalog.oci.tar"), here / "out") == encoded(CATALOG, "configs/")


def test_output_and_tag_are_as_requested(everpath: Everpath, catalog: Path) -> None:
    made = [
        everpath("catalog", "build", "catalog", "-o", where, "--tag", "op:v1")
        for where in ("oci:layout", "oci-archive:a.tar", "docker-archive:d.tar")
    ]
    assert [answer.code for answer in made] == [0, 0, 0]
    assert open_layout("layout", "op:v1").root.digest == open_oci_archive("a.tar", "op:v1").root.digest
    docker = open_docker_archive("d.tar", "op:v1")
    assert made[2].out.splitlines()[1] in {child.digest for child in children(docker.blobs, docker.root)}
    assert everpath("catalog", "build", "catalog", "-o", "oci:layout:v2").code == 0
    assert open_layout("layout", "v2")


def test_labels_annotations_and_platforms_are_added(everpath: Everpath, bundle: Path) -> None:
    options = ("--label", "a=b=c", "--annotation", "d=", "--platform", "linux/arm64")
    assert everpath("bundle", "build", "bundle", "-o", "oci:x", *options).code == 0
    image = open_layout("x")
    assert image.root.is_manifest
    assert load_labels(image, image.root) == {**ANNOTATIONS, "a": "b=c"}


def test_print_digest_prints_only_the_digest_and_dry_run_writes_nothing(
    everpath: Everpath, catalog: Path, here: Path
) -> None:
    built = everpath("catalog", "build", "catalog", "--print-digest")
    assert built.out == f"{open_oci_archive('catalog.oci.tar').root.digest}\n"
    (here / "catalog.oci.tar").unlink()
    answer = everpath("catalog", "build", "catalog", "--dry-run")
    assert answer.out.splitlines()[0] == "add     /configs/acme/catalog.yaml"
    assert "would be written" in answer.out
    assert everpath("catalog", "build", "catalog", "--dry-run", "--print-digest").out == built.out
    assert [path.name for path in here.iterdir()] == ["catalog"]


def opm_image(here: Path) -> None:
    members = [TarMember("bin/opm", b"#!"), TarMember("configs/old.yaml", b"x"), TarMember("etc/os", b"y")]
    image = build_image(
        ImageSpec(members, {DATABASE: "/db", "kept": "1"}, platforms=[Platform("linux", "amd64")])
    )
    write_layout(image, str(here / "opm"))


def test_image_on_a_base_with_opm_serves_the_catalog(everpath: Everpath, catalog: Path, here: Path) -> None:
    opm_image(here)
    assert everpath("catalog", "build", "catalog", "--base", "oci:opm", "-o", "oci:x").code == 0
    image = open_layout("x")
    config = load_config(image, image.root)["config"]
    assert (config["Entrypoint"], config["Cmd"]) == (["/bin/opm"], ["serve", "/configs"])
    assert config["Labels"] == {CONFIGS: "/configs", "kept": "1"}
    # The catalog of the base is gone.
    assert inside(image, here / "out") == {**encoded(CATALOG, "configs/"), "bin/opm": b"#!", "etc/os": b"y"}
    assert (here / "out" / "tmp").is_dir()


def test_base_may_be_in_an_archive(everpath: Everpath, catalog: Path, here: Path) -> None:
    opm_image(here)
    for kind in ("oci-archive", "docker-archive"):
        assert everpath("catalog", "build", "catalog", "--base", "oci:opm", "-o", f"{kind}:{kind}").code == 0
        assert (
            everpath("catalog", "build", "catalog", "--base", f"{kind}:{kind}", "-o", f"oci:{kind}.d").code
            == 0
        )
        assert len(load_config(made := open_layout(f"{kind}.d"), made.root)["rootfs"]["diff_ids"]) == 3


def test_missing_base_is_reported(everpath: Everpath, catalog: Path, here: Path) -> None:
    answer = everpath("catalog", "build", "catalog", "--base", "oci:nowhere")
    assert (answer.code, answer.err) == (
        3,
        "error: nowhere does not exist\nhint: give the folder that holds index.json\n",
    )
    assert everpath("catalog", "build", "catalog", "--base", "").code == 2
    assert [path.name for path in here.iterdir()] == ["catalog"]


def test_catalog_that_opm_rejects_is_not_built(everpath: Everpath, catalog: Path, here: Path) -> None:
    file = catalog / "acme" / "catalog.yaml"
    file.write_text(file.read_text().replace("defaultChannel: stable", "defaultChannel: gone"))
    answer = everpath("catalog", "build", "catalog")
    assert answer.code == 1
    assert f"--> {Path('catalog/acme/catalog.yaml')}:4:17" in answer.err
    assert "error: no image was built: opm would reject the catalog" in answer.err
    assert [path.name for path in here.iterdir()] == ["catalog"]
    assert everpath("catalog", "build", "catalog", "--no-check").code == 0


def test_channel_without_a_head_is_not_built(everpath: Everpath, catalog: Path) -> None:
    file = catalog / "acme" / "catalog.yaml"
    file.write_text(
        file.read_text().replace("- name: acme.v1.0.0", "- {name: acme.v1.0.0, replaces: acme.v1.0.0}")
    )
    answer = everpath("catalog", "build", "catalog")
    assert answer.code == 1
    assert "package acme, channel stable: no channel head found in graph" in answer.err


def test_unreadable_catalog_is_reported(everpath: Everpath, catalog: Path) -> None:
    write(catalog, {"broken.yaml": "schema: [\n"})
    answer = everpath("catalog", "build", "catalog")
    assert answer.code == 3
    assert "broken.yaml" in answer.err


def test_bundle_that_olm_cannot_use_is_not_built(everpath: Everpath, bundle: Path, here: Path) -> None:
    file = bundle / "metadata" / "annotations.yaml"
    key = "operators.operatorframework.io.bundle.manifests.v1"
    file.write_text(file.read_text().replace(f"{key}: manifests/", f"{key}: deploy/"))
    answer = everpath("bundle", "build", "bundle")
    assert answer.code == 1
    assert f"OLM does not find the files of the bundle: {key} is deploy/, but" in answer.err
    assert "hint: write manifests/" in answer.err
    assert "no image was built: OLM could not use the bundle" in answer.err
    assert [path.name for path in here.iterdir()] == ["bundle"]
    assert everpath("bundle", "build", "bundle", "--no-check").code == 0


CSV = "manifests/acme.clusterserviceversion.yaml"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (CSV, "kind: ConfigMap\n", "ClusterServiceVersion"),
        (CSV, BUNDLE[CSV].replace("version: 1.0.0", "version: new"), "version"),
        ("manifests/other.clusterserviceversion.yaml", BUNDLE[CSV], "a second ClusterServiceVersion"),
        ("manifests/broken.yaml", "kind: [\n", "not YAML"),
        ("metadata/annotations.yaml", "annotations: {}\n", "package and channels"),
    ],
)
def test_invalid_bundle_is_not_built_and_the_reason_is_reported(
    everpath: Everpath, bundle: Path, name: str, content: str, words: str
) -> None:
    write(bundle, {name: content})
    answer = everpath("bundle", "build", "bundle")
    assert answer.code in (1, 3)
    assert words in answer.err
    assert not Path("acme.v1.0.0.oci.tar").exists()


def test_files_that_olm_does_not_read_are_left_out_with_a_warning(
    everpath: Everpath, bundle: Path, here: Path
) -> None:
    write(bundle, {"manifests/more/a.yaml": "a: b", "manifests/.swp": "x", "metadata/.DS_Store": "x"})
    answer = everpath("bundle", "build", "bundle")
    assert answer.code == 0
    left_out = [line for line in answer.err.splitlines() if "is not in the image" in line]
    names = ("manifests/more/", "manifests/.swp", "metadata/.DS_Store")
    assert left_out == [f"warning: {name} is not in the image: OLM does not read it" for name in names]
    assert inside(open_oci_archive("acme.v1.0.0.oci.tar"), here / "out") == encoded(BUNDLE)


def test_hidden_metadata_file_that_opm_reads_is_in_the_image(
    everpath: Everpath, bundle: Path, here: Path
) -> None:
    (bundle / "metadata" / "annotations.yaml").rename(bundle / "metadata" / ".annotations.yaml")
    answer = everpath("bundle", "build", "bundle")
    assert (answer.code, answer.err) == (0, "")
    assert "metadata/.annotations.yaml" in inside(open_oci_archive("acme.v1.0.0.oci.tar"), here / "out")


@pytest.mark.parametrize("options", [(), ("--no-check",)], ids=" ".join)
def test_annotations_only_in_a_backup_file_are_not_enough(
    everpath: Everpath, bundle: Path, here: Path, options: tuple[str, ...]
) -> None:
    (bundle / "metadata/annotations.yaml").rename(bundle / "metadata/.annotations.yaml.5.new")
    answer = everpath("bundle", "build", "bundle", *options)
    assert answer.code == 3
    assert "bundle/metadata/.annotations.yaml.5.new would not be in the image" in answer.err
    assert not list(here.glob("*.tar"))


@pytest.mark.parametrize("prefix", ["bundle/", ""])
def test_other_layouts_of_a_bundle_are_normalized(everpath: Everpath, here: Path, prefix: str) -> None:
    """`bundle/manifests`, as repositories have it, and manifests in the folder itself."""
    files = {name.removeprefix("" if prefix else "manifests/"): text for name, text in BUNDLE.items()}
    write(here / "v1", {f"{prefix}{name}": text for name, text in files.items()})
    assert everpath("bundle", "build", "v1").code == 0
    assert inside(open_oci_archive("acme.v1.0.0.oci.tar"), here / "out") == encoded(BUNDLE)


def test_link_inside_the_folder_is_followed_and_one_to_the_outside_is_rejected(
    everpath: Everpath, catalog: Path, here: Path
) -> None:
    (here / "secret").write_text("schema: x.y\n")
    write(catalog, {"acme/notes.txt": "schema: acme.notes\npackage: acme\n"})
    (catalog / "acme" / "link.yaml").symlink_to("notes.txt")
    assert everpath("catalog", "build", "catalog").code == 0
    files = inside(open_oci_archive("catalog.oci.tar"), here / "out")
    assert files["configs/acme/link.yaml"] == files["configs/acme/notes.txt"]
    (catalog / "acme" / "link.yaml").unlink()
    (catalog / "acme" / "link.yaml").symlink_to(here / "secret")
    answer = everpath("catalog", "build", "catalog")
    assert answer.code == 3
    assert "outside of catalog" in answer.err


def test_whiteout_file_name_is_rejected(everpath: Everpath, catalog: Path) -> None:
    write(catalog, {"acme/.wh.other": "schema: acme.notes\npackage: acme\n"})
    answer = everpath("catalog", "build", "catalog")
    assert answer.code == 3
    assert "names that start with .wh. delete files there" in answer.err


def test_catalog_without_files_is_rejected(everpath: Everpath, here: Path) -> None:
    write(here / "catalog", {".indexignore": "*\n", "a.yaml": "schema: a\n"})
    for options in ((), ("--no-check",)):
        answer = everpath("catalog", "build", "catalog", *options)
        assert answer.code == 3
        assert answer.err.startswith(
            ("error: catalog contains no catalog", "error: catalog has no file of a catalog")
        )


def test_link_to_a_folder_in_tests_is_rejected(everpath: Everpath, bundle: Path) -> None:
    (bundle / "tests" / "again").symlink_to("..")
    answer = everpath("bundle", "build", "bundle")
    assert answer.code == 3
    assert "bundle/tests/again is a link to a folder" in answer.err


def test_folders_of_a_bundle_may_be_links_inside_it(everpath: Everpath, bundle: Path, here: Path) -> None:
    (bundle / "manifests").rename(bundle / "v1")
    (bundle / "manifests").symlink_to("v1")
    assert everpath("bundle", "build", "bundle").code == 0
    assert inside(open_oci_archive("acme.v1.0.0.oci.tar"), here / "out") == encoded(BUNDLE)
    (bundle / "manifests").unlink()
    (bundle / "v1").rename(here / "v1")
    (bundle / "manifests").symlink_to(here / "v1")
    assert everpath("bundle", "build", "bundle").code == 3


@pytest.mark.parametrize("kind", ["catalog", "bundle"])
def test_pipe_in_a_catalog_is_rejected(everpath: Everpath, here: Path, kind: str) -> None:
    folder = write(here / kind, CATALOG if kind == "catalog" else BUNDLE)
    os.mkfifo(folder / ("pipe" if kind == "catalog" else "manifests/pipe"))
    answer = everpath(kind, "build", kind, "--no-check")
    # OLM does not read this file of a bundle.
    assert answer.code == (3 if kind == "catalog" else 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-o", "quay.io/me/op:v1"), "build writes files"),
        (("-o", ""), "is not a repository"),
        (("-o", "oci:"), "the path is missing"),
        (("-o", "oci:x:v1", "--tag", "v2"), "name two tags"),
        (("--tag", "a b"), "is not a valid tag"),
        (("-o", "docker-archive:x", "--tag", "v1"), "docker load needs a name"),
        (("-o", "docker-archive:x", "--platform", "linux/amd64,linux/arm64"), "holds one platform"),
        (("-o", "oci-archive:catalog/x.tar"), "would be part of the next image"),
        (("--platform", "amd64"), "is not a platform"),
        (("--label", "a"), "is not KEY=VALUE"),
        (("--label", "=a"), "is not KEY=VALUE"),
        (("--label", "a=\udcff"), "is not KEY=VALUE"),
        (("--label", "a=b", "--label", "a=c"), "two values"),
        (("--label", f"{CONFIGS}=/else"), "contradicts the content of the image"),
        (("--annotation", "a"), "is not KEY=VALUE"),
        (("--compression", "zstd"), "is not one of"),
        (("-o", "oci-archive:no/where/x.tar"), "cannot write no/where/x.tar"),
        (("-o", "oci-archive:/dev/null"), "exists and is not a file"),
    ],
)  # fmt: skip
def test_invalid_options_are_reported(
    everpath: Everpath, catalog: Path, here: Path, options: tuple[str, ...], words: str
) -> None:
    answer = everpath("catalog", "build", "catalog", *options)
    assert answer.code == 2
    assert words in answer.err
    assert [path.name for path in here.iterdir()] == ["catalog"]
    assert files_in(catalog) == encoded(CATALOG)


@pytest.mark.parametrize("epoch", ["yesterday", "-1", "1.5", "8589934592", "9" * 30, "١"])
def test_invalid_source_date_epoch_is_reported(
    everpath: Everpath, catalog: Path, monkeypatch: pytest.MonkeyPatch, epoch: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    answer = everpath("catalog", "build", "catalog")
    assert answer.code == 2
    assert "SOURCE_DATE_EPOCH is" in answer.err


def test_wrong_kind_of_input_is_reported(everpath: Everpath, catalog: Path, bundle: Path, here: Path) -> None:
    taken = {
        ("catalog", "bundle"): (2, "everpath bundle build bundle"),
        ("catalog", "repository"): (2, "everpath migrate"),
        ("catalog", "-"): (2, "standard input"),
        ("catalog", "nowhere"): (3, "No such file"),
        ("bundle", "catalog"): (3, "is not a bundle"),
        ("bundle", "nowhere"): (3, "No such file"),
    }
    write(here / "repository" / "acme" / "1.0.0", BUNDLE)
    for (kind, path), (code, words) in taken.items():
        answer = everpath(kind, "build", path)
        assert (answer.code, words in answer.err) == (code, True), answer.err


def test_full_disk_leaves_no_file(
    everpath: Everpath, catalog: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for where in ("oci:x", "oci-archive:x", "docker-archive:x"):
        answer = _with_a_full_disk(everpath, monkeypatch, where)
        assert answer == (2, "error: cannot write x: No space left on device\n")
        assert [path.name for path in here.iterdir()] == ["catalog"]


def _with_a_full_disk(everpath: Everpath, monkeypatch: pytest.MonkeyPatch, where: str) -> tuple[int, str]:
    def full(*_: object) -> object:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        for name in ("layouts.copy_blob", "oci_archives.verified_chunks", "docker_archives.verified_chunks"):
            patched.setattr(f"everpath.oci.{name}", full)
        answer = everpath("catalog", "build", "catalog", "-o", where)
    return answer.code, answer.err.partition("hint")[0]
