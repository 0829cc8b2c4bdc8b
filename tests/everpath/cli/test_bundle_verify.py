"""`everpath bundle verify`: package manifests, linted as bundles and as a catalog."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commandline import ROOT, Everpath
from tests.support.everpath.bundles import csv, write
from tests.support.everpath.package_manifests import crd, owning, package_file
from tests.support.schemas import conforms

EXAMPLE = ROOT / "examples/10-package-manifests/manifests"


@pytest.fixture
def manifests(here: Path) -> Path:
    """A copy of the example, which has no findings."""
    for file in EXAMPLE.rglob("*.yaml"):
        write(here / "m", {file.relative_to(EXAMPLE).as_posix(): file.read_bytes()})
    return here / "m"


def rules(everpath: Everpath, *arguments: str) -> set[str]:
    answer = everpath("bundle", "verify", *arguments, "-o", "json")
    document = json.loads(answer.out)
    conforms("bundle-validate", document)
    return {finding["rule"] for finding in document["findings"]}


@pytest.mark.usefixtures("manifests")
def test_good_manifests_are_clean_flat_and_nested(everpath: Everpath) -> None:
    assert everpath("bundle", "flatten", "m", "flat").code == 0
    for folder in ("m", "flat"):
        answer = everpath("bundle", "verify", folder, "--show", "note")
        assert (answer.code, answer.out) == (0, "Nothing wrong in 1 package and 3 bundles.\n")


def test_a_package_file_is_linted(everpath: Everpath, manifests: Path) -> None:
    write(manifests, {"acme-cache.package.yaml": package_file(a="", b="acme-cache.v0.10.0")})
    found = rules(everpath, "m")
    assert found >= {"EP692", "EP693"}
    # Package manifests have no annotations.
    assert not found & {"EP601", "EP603", "EP604", "EP605"}
    assert everpath("bundle", "verify", "m").code == 1


def test_a_csv_is_linted_with_its_objects(everpath: Everpath, manifests: Path) -> None:
    (manifests / "0.9.0/caches.crd.yaml").unlink()
    answer = everpath("bundle", "verify", "m", "-o", "concise")
    assert answer.code == 1
    (line, _) = answer.out.splitlines()
    assert line.startswith("m/0.9.0/acme-cache.clusterserviceversion.yaml:")
    assert "EP654" in line


def test_upgrades_are_linted(everpath: Everpath, manifests: Path) -> None:
    file = manifests / "0.8.0/acme-cache.clusterserviceversion.yaml"
    file.write_text(file.read_text().replace("minKube", "replaces: acme-cache.v0.9.0\n  minKube"))
    assert {rule for rule in rules(everpath, "m") if rule.startswith("EP2")}


def test_a_csv_in_no_channel_is_reported(everpath: Everpath, manifests: Path) -> None:
    write(manifests, {"0.1.0/a.yaml": csv("acme-cache.v0.1.0")})
    answer = everpath("bundle", "verify", "m", "-o", "concise", "--select", "EP402")
    assert "acme-cache.v0.1.0" in answer.out


def test_an_unparsable_manifest_is_a_finding_and_the_rest_is_linted(
    everpath: Everpath, manifests: Path
) -> None:
    write(manifests, {"0.9.0/caches.crd.yaml": "kind: [\n", "acme-cache.package.yaml": package_file()})
    answer = everpath("bundle", "verify", "m", "-o", "concise")
    assert answer.code == 3
    assert sum("m/0.9.0/caches.crd.yaml" in line for line in answer.out.splitlines()) == 1
    assert "EP692" in answer.out


def test_a_shared_crd_of_a_flat_folder_is_linted_for_its_owners(everpath: Everpath, here: Path) -> None:
    write(
        here / "flat",
        {
            "op.package.yaml": package_file(stable="op.v1.1.0"),
            "one.yaml": csv("op.v1.0.0", **owning("things.example.com")),
            "two.yaml": csv("op.v1.1.0", **owning("more.example.com"), replaces="op.v1.0.0"),
            "things.yaml": crd(),
            "more.yaml": crd("more.example.com"),
        },
    )
    assert not rules(everpath, "flat") & {"EP654", "EP655"}


def test_a_folder_without_a_package_file_is_an_error(everpath: Everpath, here: Path) -> None:
    write(here / "m", {"a.yaml": csv()})
    answer = everpath("bundle", "verify", "m")
    assert answer.code == 3
    assert answer.err.startswith("error: m contains no package file\nhint: add PACKAGE.package.yaml")


@pytest.mark.usefixtures("manifests")
def test_a_missing_folder_is_an_error_with_a_hint(everpath: Everpath) -> None:
    answer = everpath("bundle", "verify", "nowhere")
    assert answer.code == 3
    assert answer.err == (
        "error: cannot read nowhere: No such file or directory\n"
        "hint: check the path; choose a folder with a package file\n"
    )


def test_rules_can_be_selected_and_waived(everpath: Everpath, here: Path) -> None:
    write(here / "m", {"acme-cache.package.yaml": package_file(a="", b="acme-cache.v0.10.0")})
    assert rules(everpath, "m", "--select", "EP693") == {"EP693"}
    assert "EP693" not in rules(everpath, "m", "--ignore", "EP693")
    write(here, {"everpath.yaml": "waivers:\n- {rule: EP693, reason: it is old}\n"})
    assert "EP693" not in rules(everpath, "m")


def test_several_folders_are_linted_one_by_one(everpath: Everpath, manifests: Path) -> None:
    other = {"other.package.yaml": package_file(stable="op.v1.0.0"), "a.yaml": csv()}
    write(manifests.parent / "n", other)
    answer = everpath("bundle", "verify", "m", "n", "--statistics")
    assert " in 2 packages and 4 bundles; " in answer.out


def test_a_package_file_may_begin_with_a_byte_order_mark(everpath: Everpath, manifests: Path) -> None:
    file = manifests / "acme-cache.package.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert everpath("bundle", "verify", "m").code == 0
    assert everpath("bundle", "flatten", "m", "flat", "-q").code == 0


def test_an_unparsable_package_file_is_an_error_with_its_line(everpath: Everpath, manifests: Path) -> None:
    (manifests / "acme-cache.package.yaml").write_text("packageName: acme-cache\n\tchannels: []\n")
    answer = everpath("bundle", "verify", "m")
    assert answer.code == 3
    assert answer.err.startswith("error: m/acme-cache.package.yaml:2: not YAML: found a tab")
