"""`everpath migrate`: package manifests or bundles to a file-based catalog."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from everpath import atomic_files
from everpath.loaders.catalog_loader import load
from tests.support.commandline import ROOT, Everpath
from tests.support.everpath.bundles import csv, write, write_bundle
from tests.support.everpath.package_manifests import package_file, tree, walks

EXAMPLE = ROOT / "examples/10-package-manifests/manifests"


@pytest.fixture
def manifests(here: Path) -> Path:
    return write(
        here / "m",
        {
            "op.package.yaml": package_file(stable="op.v1.1.0"),
            "1.0.0/op.yaml": csv("op.v1.0.0"),
            "1.1.0/op.yaml": csv("op.v1.1.0", replaces="op.v1.0.0"),
        },
    )


def test_bundles_and_a_catalog_are_written(everpath: Everpath, manifests: Path) -> None:
    before = tree(manifests)
    answer = everpath("migrate", "m/", "new")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (
        "add     new/bundles/op/1.0.0/manifests/op.yaml\n"
        "add     new/bundles/op/1.0.0/metadata/annotations.yaml\n"
        "add     new/bundles/op/1.1.0/manifests/op.yaml\n"
        "add     new/bundles/op/1.1.0/metadata/annotations.yaml\n"
        "add     new/bundles/op/ci.yaml\n"
        "add     new/catalog/op/catalog.yaml\n"
        "6 files written.\n"
        "next: everpath validate-graph new/catalog\n"
    )
    assert tree(manifests) == before
    assert walks(load("new/catalog").catalog) == walks(load("m").catalog)
    assert walks(load("new/bundles").catalog) == walks(load("m").catalog)


@pytest.mark.usefixtures("manifests")
def test_the_same_input_gives_the_same_bytes(everpath: Everpath, here: Path) -> None:
    everpath("migrate", "m", "one")
    everpath("migrate", "m", "two")
    assert tree(here / "one") == tree(here / "two")
    assert everpath("migrate", "m", "one", "--force").out.startswith("0 files written.\n")


@pytest.mark.usefixtures("manifests")
def test_the_next_command_is_printed_quoted_after_writing(
    everpath: Everpath,
) -> None:
    answer = everpath("migrate", "m", "my new")
    assert answer.out.endswith("\nnext: everpath validate-graph 'my new/catalog'\n")
    assert everpath("validate-graph", "my new/catalog", "--select", "EP0").code == 0
    assert "next:" not in everpath("migrate", "m", "none", "--dry-run").out
    assert everpath("migrate", "m", "quiet", "--quiet").out == ""


@pytest.mark.conformance
def test_opm_accepts_the_output(everpath: Everpath, here: Path, opm: str) -> None:
    assert everpath("migrate", str(EXAMPLE), "new").code == 0
    done = subprocess.run([opm, "validate", "new/catalog"], cwd=here, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_bundles_of_the_example_are_clean(everpath: Everpath, here: Path) -> None:
    assert everpath("migrate", str(EXAMPLE), "new", "--format", "json").code == 0
    assert (here / "new/catalog/acme-cache/catalog.json").is_file()
    assert everpath("bundle", "validate", "new/bundles").out == "Nothing wrong in 1 package and 3 bundles.\n"
    assert everpath("validate-graph", "new/catalog").code == 0


def test_a_repository_is_migrated_to_a_catalog_for_each_package(everpath: Everpath, here: Path) -> None:
    for package in ("a", "b"):
        for version in ("1.0.0", "1.1.0"):
            write_bundle(here / f"operators/{package}/{version}", f"{package}.v{version}")
            file = here / f"operators/{package}/{version}/metadata/annotations.yaml"
            file.write_text(file.read_text().replace(": op\n", f": {package}\n"))
    answer = everpath("migrate", "operators", "new")
    assert (answer.code, answer.err) == (0, "")
    assert sorted(tree(here / "new")) == ["catalog/a/catalog.yaml", "catalog/b/catalog.yaml"]
    assert walks(load("new/catalog").catalog) == walks(load("operators").catalog)
    everpath("migrate", "operators", "one", "-p", "b", "--default-update-mode", "replaces-mode")
    assert sorted(tree(here / "one")) == ["catalog/b/catalog.yaml"]
    (found,) = load("one/catalog").catalog.packages
    assert [entry.replaces for entry in found.channels[0].entries] == [None, None]
    answer = everpath("migrate", "operators", "two", "-p", "bb")
    assert (answer.code, answer.err) == (
        2,
        "error: no package is called 'bb'\nhint: did you mean 'b'?\n",
    )


@pytest.mark.usefixtures("manifests")
def test_a_dry_run_writes_nothing(everpath: Everpath, here: Path) -> None:
    answer = everpath("migrate", "m", "new", "--dry-run")
    assert answer.code == 0
    assert answer.out.endswith("6 files to write.\n")
    assert not (here / "new").exists()


@pytest.mark.parametrize("out", ["m", "m/new", "."])
def test_an_output_that_overlaps_with_the_input_is_an_error(
    everpath: Everpath, manifests: Path, out: str
) -> None:
    before = tree(manifests.parent)
    answer = everpath("migrate", "m", out, "--force")
    assert answer.code == 2
    assert "overlap" in answer.err
    assert tree(manifests.parent) == before


def test_every_error_is_reported_and_nothing_is_written(everpath: Everpath, here: Path) -> None:
    for name in ("a", "b", "c"):
        write(
            here / "operators" / name,
            {
                f"{name}.package.yaml": package_file(stable="op.v1.0.0").replace("Name: op", f"Name: {name}"),
                "1.0.0/op.clusterserviceversion.yaml": csv("op.v1.0.0" if name == "a" else "op.v2.0.0"),
            },
        )
    answer = everpath("migrate", "operators", "new")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.count("error: no file contains op.v1.0.0 of the channel stable\n") == 2
    assert "  --> operators/b/b.package.yaml:2:15\n" in answer.err
    assert not (here / "new").exists()
    answer = everpath("migrate", "operators", "new", "--skip-refused")
    assert answer.code == 0
    assert answer.err.count("error: ") == 2
    assert "catalog/a/catalog.yaml" in tree(here / "new")
    assert everpath("migrate", "operators", "other", "-p", "b", "--skip-refused").code == 1


def test_omitted_csvs_are_reported(everpath: Everpath, manifests: Path) -> None:
    write(manifests, {"0.1.0/op.yaml": csv("op.v0.1.0")})
    answer = everpath("migrate", "m", "new")
    assert answer.code == 0
    assert answer.err.startswith("warning: not migrated: op.v0.1.0 is in no channel of op\n")


def test_an_unreadable_file_is_named(everpath: Everpath, manifests: Path) -> None:
    write(manifests, {"1.0.0/op.yaml": csv("op.v1.0.0") + "  broken: [\n"})
    answer = everpath("migrate", "m", "new")
    assert answer.code == 3
    assert answer.err.startswith("error: m/1.0.0/op.yaml:8: not YAML")
    write(manifests, {"1.0.0/op.yaml": csv("op.v1.0.0"), "1.0.0/crd.yaml": "kind: [\n"})
    answer = everpath("migrate", "m", "new")
    assert answer.code == 3
    assert answer.err.startswith("error: m/1.0.0/crd.yaml:2: not YAML")
    assert not (manifests.parent / "new").exists()


def test_a_catalog_as_input_is_an_error(everpath: Everpath, here: Path) -> None:
    write(here / "c", {"catalog.yaml": "schema: olm.package\nname: op\n"})
    answer = everpath("migrate", "c", "new")
    assert answer.code == 2
    assert answer.err.startswith("error: c has no package manifests and no bundles\nhint: ")


@pytest.mark.usefixtures("manifests")
def test_a_failure_leaves_no_files(everpath: Everpath, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = atomic_files._rename

    def failing(old: Path, new: Path) -> None:
        if new.name == "catalog.yaml":
            raise OSError(5, "Input/output error", str(new))
        rename(old, new)

    monkeypatch.setattr(atomic_files, "_rename", failing)
    answer = everpath("migrate", "m", "new")
    assert answer.code == 2
    assert not (here / "new").exists()


def test_a_missing_folder_cannot_be_read(everpath: Everpath, here: Path) -> None:
    answer = everpath("migrate", "nowhere", "out")
    assert answer.code == 3
    assert answer.err == (
        "error: cannot read nowhere: No such file or directory\n"
        "hint: check the path; package manifests and bundles are folders\n"
    )
    assert not (here / "out").exists()
