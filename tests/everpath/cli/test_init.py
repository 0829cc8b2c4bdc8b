"""`everpath init` in a project without a catalog."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from everpath.loaders.releases.parser import load_releases
from tests.support.commandline import Everpath
from tests.support.everpath.operator_sdk_projects import write_project, write_webhook
from tests.support.everpath.projects import RELEASES, catalog, tree, write_operator, write_releases


def test_an_operator_sdk_project_is_recognised(everpath: Everpath, here: Path) -> None:
    (here / "PROJECT").write_text("domain: example.com\nprojectName: memcached-operator\n")
    (here / "Makefile").write_text("VERSION ?= 0.0.1\nIMAGE_TAG_BASE ?= example.com/memcached-operator\n")
    for folder in ("config/manifests/bases", "config/crd/bases", "config/rbac", "config/manager"):
        (here / folder).mkdir(parents=True)
    (here / "config/manifests/bases/csv.yaml").write_text("kind: ClusterServiceVersion\n")
    answer = everpath("init")
    assert answer.code == 0
    assert answer.err == (
        "catalog/releases.yaml: memcached-operator with 0 releases; 1 file written.\n"
        "The first release: everpath release 0.0.1\n"
    )
    text = (here / RELEASES).read_text()
    assert text.startswith("# yaml-language-server: $schema=https://")
    assert "\npackage: memcached-operator\n" in text
    found = load_releases(str(RELEASES))
    assert found.operator == (
        "../config/manifests/bases",
        "../config/crd/bases",
        "../config/rbac",
        "../config/manager",
    )
    assert found.image == "example.com/memcached-operator-bundle"
    assert found.images == {"controller": "example.com/memcached-operator"}


def test_a_release_can_follow_immediately(everpath: Everpath, here: Path) -> None:
    write_operator(here)
    (here / "config").mkdir()
    (here / "operator").rename(here / "config/manifests")
    assert everpath("init", "--package", "acme", "--channel", "alpha").code == 0
    assert everpath("release", "0.1.0", "-q").code == 0
    assert everpath("release", "0.2.0", "-q").code == 0
    assert everpath("validate-graph", "catalog").code == 0
    assert [c["name"] for c in catalog(here / "catalog/acme/catalog.yaml")["olm.channel"]] == ["alpha"]


def test_a_project_without_a_name_is_an_error(everpath: Everpath, here: Path) -> None:
    answer = everpath("init")
    assert answer.code == 2
    assert "everpath init --package NAME" in answer.err


def test_the_package_is_named_after_the_base_csv(everpath: Everpath, here: Path) -> None:
    (here / "config/manifests/bases").mkdir(parents=True)
    (here / "config/manifests/bases/acme.clusterserviceversion.yaml").write_text(
        "kind: ClusterServiceVersion\n"
    )
    assert everpath("init").code == 0
    assert load_releases(str(RELEASES)).package == "acme"


def test_existing_files_are_not_overwritten(everpath: Everpath, here: Path) -> None:
    write_releases(here, "- {version: 0.1.0, channels: [stable]}")
    before = tree(here)
    answer = everpath("init", "--package", "acme")
    assert answer.code == 2
    assert "catalog/releases.yaml exists already" in answer.err
    assert tree(here) == before


def test_a_scaffolded_project_is_released_without_editing(everpath: Everpath, here: Path) -> None:
    write_project(here)
    started = everpath("init")
    assert started.code == 0
    assert (
        "warning: the changes of config/default (namePrefix, patches) are not in these manifests"
        in started.err
    )
    assert started.err.endswith("The first release: everpath release 0.0.1\n")
    assert "# kustomize build config/manifests > operator.yaml" in (here / RELEASES).read_text()
    answer = everpath("release", "0.0.1", "-q")
    assert (answer.code, answer.err) == (0, "memcached-operator 0.0.1: 11 files written.\n")
    checked = everpath("bundle", "validate", "bundles", "--select-optional", "all", "-o", "concise")
    assert checked.code == 0
    assert {line.split()[1] for line in checked.out.splitlines()[:-1]} == {"EP632", "EP665"}
    assert everpath("validate-graph", "catalog", "--bundles", "bundles").code == 0
    bundle = here / "bundles/memcached-operator/0.0.1"
    assert sorted(path.name for path in (bundle / "manifests").iterdir()) == [
        "memcached-editor-role_clusterrole.yaml",
        "memcached-operator.clusterserviceversion.yaml",
        "memcached-viewer-role_clusterrole.yaml",
        "memcacheds.cache.example.com_customresourcedefinition.yaml",
        "metrics-reader_clusterrole.yaml",
    ]
    csv = yaml.safe_load((bundle / "manifests/memcached-operator.clusterserviceversion.yaml").read_text())
    assert "icon" not in csv["spec"]
    install = csv["spec"]["install"]["spec"]
    [container] = install["deployments"][0]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "example.com/memcached-operator:v0.0.1"
    assert [p["serviceAccountName"] for p in install["permissions"]] == ["controller-manager"]
    assert [len(p["rules"]) for p in install["clusterPermissions"]] == [2]
    tests = yaml.safe_load((bundle / "tests/scorecard/config.yaml").read_text())["stages"][0]["tests"]
    assert [test["labels"]["suite"] for test in tests] == ["basic", "olm"]


@pytest.mark.conformance
def test_opm_accepts_the_bundle_of_an_operator_sdk_project(everpath: Everpath, here: Path, opm: str) -> None:
    write_project(here)
    assert everpath("init").code == 0
    assert everpath("release", "0.0.1", "-q").code == 0
    for arguments in (["validate", "catalog"], ["render", "bundles/memcached-operator/0.0.1"]):
        done = subprocess.run([opm, *arguments], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr


def test_a_missing_base_csv_is_written(everpath: Everpath, here: Path) -> None:
    write_project(here)
    base = here / "config/manifests/bases/memcached-operator.clusterserviceversion.yaml"
    base.unlink()
    base.parent.rmdir()
    assert "memcached-operator with 0 releases; 2 files written." in everpath("init").err
    assert load_releases(str(RELEASES)).operator[-1] == "../config/manifests/bases"
    assert yaml.safe_load(base.read_text())["spec"]["displayName"] == "Memcached Operator"
    answer = everpath("release", "0.0.1", "-q")
    assert answer.code == 0, answer
    checked = everpath("bundle", "validate", "bundles", "--select-optional", "all", "-o", "concise")
    assert {line.split()[1] for line in checked.out.splitlines()[:-1]} == {"EP632", "EP665"}


def test_webhooks_of_operator_sdk_are_in_the_csv(everpath: Everpath, here: Path) -> None:
    write_webhook(here)
    assert everpath("init").code == 0
    answer = everpath("release", "0.0.1", "-q")
    assert answer.code == 0, answer
    checked = everpath("bundle", "validate", "bundles", "--select-optional", "all", "-o", "concise")
    assert {line.split()[1] for line in checked.out.splitlines()[:-1]} == {"EP632", "EP665"}
    manifests = here / "bundles/memcached-operator/0.0.1/manifests"
    assert not list(manifests.glob("*service.yaml"))
    csv = yaml.safe_load((manifests / "memcached-operator.clusterserviceversion.yaml").read_text())
    [webhook] = csv["spec"]["webhookdefinitions"]
    assert (webhook["deploymentName"], webhook["targetPort"]) == ("controller-manager", 9443)


def test_unknown_values_are_comments_in_the_file(everpath: Everpath, here: Path) -> None:
    answer = everpath("init", "-p", "acme")
    assert (
        "commented out in catalog/releases.yaml. Then:\nThe first release: everpath release 0.1.0"
        in answer.err
    )
    text = (here / RELEASES).read_text()
    write_operator(here)
    for key, value in (("operator", "../config"), ("image", ""), ("images", "{controller:")):
        assert f"\n# {key}: {value}" in text
    text = text.replace("../config", "../operator").replace("controller", "acme").replace("\n# ", "\n")
    (here / RELEASES).write_text(text)
    answer = everpath("release", "0.1.0", "-q")
    assert (answer.code, answer.err) == (0, "acme 0.1.0: 6 files written.\n")


def test_a_file_without_releases_generates_nothing_but_a_hint(everpath: Everpath, here: Path) -> None:
    everpath("init", "-p", "acme")
    answer = everpath("generate")
    message = (
        "warning: catalog/releases.yaml has no release yet: run everpath release 0.1.0 to cut the first\n"
    )
    assert (answer.code, answer.err) == (0, message)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--file", "", "--file is empty"),
        ("--package", "../evil", "'../evil' is not a valid package name"),
    ],
)
def test_invalid_names_are_errors_before_anything_is_written(
    everpath: Everpath, here: Path, option: str, value: str, message: str
) -> None:
    answer = everpath("init", "--package", "acme", option, value)
    assert answer.code == 2
    assert answer.err.startswith(f"error: {message}")
    assert not list(here.iterdir())


@pytest.mark.parametrize(
    ("file", "old", "new", "images"),
    [
        (
            "Makefile",
            "IMAGE_TAG_BASE ?= example.com/memcached-operator",
            "export IMAGE_TAG_BASE := example.com:5000/m # the base",
            "{controller: example.com:5000/m}",
        ),
        (
            "config/manager/manager.yaml",
            "controller:latest",
            "example.com/memcached-operator:v1",
            "{example.com/memcached-operator: example.com/memcached-operator}",
        ),
        (
            "config/manager/manager.yaml",
            "controller:latest",
            "example.com/other:v1",
            "{controller: registry.example.com/memcached-operator}    # by the manifests' names",
        ),
        (
            "Makefile",
            "example.com/memcached-operator",
            "example.com/memcached-operator:v1",
            "{controller: registry.example.com/memcached-operator}    # by the manifests' names",
        ),
    ],
)
def test_images_have_the_names_of_the_manifests(
    everpath: Everpath, here: Path, file: str, old: str, new: str, images: str
) -> None:
    write_project(here)
    path = here / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert everpath("init").code == 0
    assert f"images: {images}\n" in (here / RELEASES).read_text()
    assert everpath("release", "0.0.1", "-q").code == 0


def test_an_invalid_version_of_the_makefile_is_not_suggested(everpath: Everpath, here: Path) -> None:
    write_project(here)
    (here / "Makefile").write_text("VERSION ?= v1.2\n")
    assert "The first release: everpath release 0.1.0\n" in everpath("init").err
