"""`everpath init`: the first releases.yaml."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from commandline import Everpath
from everpath.formats.reading import Reading, read
from everpath.formats.releases.reading import read_releases
from everpath.releases.source import Additions
from operator_sdk_projects import write_project, write_webhook
from projects import RELEASES, catalog, tree, write_operator, write_releases

PUBLISHED = """\
---
schema: olm.package
name: acme
defaultChannel: stable
description: All of it
---
schema: olm.channel
package: acme
name: stable
entries:
  - {name: acme.v0.1.0}
  - {name: acme.v0.2.0, replaces: acme.v0.1.0, skipRange: "<0.2.0"}
---
schema: olm.channel
package: acme
name: fast
entries:
  - {name: acme.v0.2.0, skips: [acme-old]}
---
schema: olm.bundle
package: acme
name: acme.v0.1.0
image: example.com/acme@sha256:11
properties: [{type: olm.package, value: {packageName: acme, version: 0.1.0}}]
---
schema: olm.bundle
package: acme
name: acme.v0.2.0
image: example.com/acme@sha256:22
properties: [{type: olm.package, value: {packageName: acme, version: 0.2.0}}]
---
schema: olm.deprecations
package: acme
entries:
  - {reference: {schema: olm.bundle, name: acme.v0.1.0}, message: old}
"""


def test_a_project_of_operator_sdk_is_recognised(everpath: Everpath, here: Path) -> None:
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
    found = read_releases(str(RELEASES))
    assert found.operator == (
        "../config/manifests/bases",
        "../config/crd/bases",
        "../config/rbac",
        "../config/manager",
    )
    assert found.image == "example.com/memcached-operator-bundle"
    assert found.images == {"controller": "example.com/memcached-operator"}


def test_a_release_may_follow_at_once(everpath: Everpath, here: Path) -> None:
    write_operator(here)
    (here / "config").mkdir()
    (here / "operator").rename(here / "config/manifests")
    assert everpath("init", "--package", "acme", "--channel", "alpha").code == 0
    assert everpath("release", "0.1.0", "-q").code == 0
    assert everpath("release", "0.2.0", "-q").code == 0
    assert everpath("validate-graph", "catalog").code == 0
    assert [c["name"] for c in catalog(here / "catalog/acme/catalog.yaml")["olm.channel"]] == ["alpha"]


def test_a_project_that_says_nothing_must_be_named(everpath: Everpath, here: Path) -> None:
    answer = everpath("init")
    assert answer.code == 2
    assert "everpath init --package NAME" in answer.err


def test_the_package_may_be_named_by_its_base_csv(everpath: Everpath, here: Path) -> None:
    (here / "config/manifests/bases").mkdir(parents=True)
    (here / "config/manifests/bases/acme.clusterserviceversion.yaml").write_text(
        "kind: ClusterServiceVersion\n"
    )
    assert everpath("init").code == 0
    assert read_releases(str(RELEASES)).package == "acme"


def test_nothing_that_exists_is_overwritten(everpath: Everpath, here: Path) -> None:
    write_releases(here, "- {version: 0.1.0, channels: [stable]}")
    before = tree(here)
    answer = everpath("init", "--package", "acme")
    assert answer.code == 2
    assert "catalog/releases.yaml exists already" in answer.err
    assert tree(here) == before


@pytest.mark.parametrize("from_pipe", [True, False])
def test_a_catalog_is_reconstructed_and_comes_back_the_same(
    everpath: Everpath, here: Path, from_pipe: bool
) -> None:
    (here / "published").mkdir()
    (here / "published/catalog.yaml").write_text(PUBLISHED)
    if from_pipe:
        answer = everpath("init", "--from", "-", stdin=PUBLISHED)
    else:
        answer = everpath("init", "--from", "published")
    assert answer.code == 0, answer
    assert "acme with 2 releases; 3 files written." in answer.err
    assert (
        (here / RELEASES).read_text().partition("package:")[2]
        == """\
 acme
defaultChannel: stable
releases:
  - version: 0.1.0
    channels: [stable]
    deprecated: old
    image: example.com/acme@sha256:11
    bundle: published
  - version: 0.2.0
    channels: {stable: {replaces: 0.1.0, range: "<0.2.0"}, fast: {skips: [acme-old]}}
    image: example.com/acme@sha256:22
    bundle: published
"""
    )
    same = everpath("compare", "published", "catalog", "--all", "-o", "json")
    assert '"stranded": 0' in same.out
    assert '"same": 6' in same.out
    old, new = catalog(here / "published/catalog.yaml"), catalog(here / "catalog/acme/catalog.yaml")
    assert new["olm.package"] == old["olm.package"]
    assert new["olm.bundle"] == old["olm.bundle"]
    assert new["olm.deprecations"] == old["olm.deprecations"]
    assert everpath("generate", "--check").code == 0


def test_a_repository_is_reconstructed_with_its_bundles(everpath: Everpath, here: Path) -> None:
    write_operator(here)
    write_releases(
        here,
        """
        - {version: 0.1.0, channels: [stable]}
        - {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}}
        """,
    )
    everpath("generate")
    (here / "bundles").rename(here / "operators")
    answer = everpath("init", "--from", "operators", "--file", "new/releases.yaml")
    assert answer.code == 0, answer
    found = read_releases("new/releases.yaml")
    assert found.bundles == "../operators"
    assert [release.version for release in found.releases] == ["0.1.0", "0.2.0"]
    assert len(catalog(here / "new/acme/catalog.yaml")["olm.bundle"]) == 2


def test_several_packages_need_a_choice(everpath: Everpath, here: Path) -> None:
    other = PUBLISHED.replace("acme", "other")
    (here / "published.yaml").write_text(PUBLISHED + other)
    answer = everpath("init", "--from", "published.yaml")
    assert answer.code == 2
    assert "there are 2: acme, other" in answer.err
    assert everpath("init", "--from", "published.yaml", "-p", "nope").code == 2
    assert everpath("init", "--from", "published.yaml", "-p", "other").code == 0
    assert read_releases(str(RELEASES)).package == "other"


def test_the_old_catalog_must_not_stay_beside_the_new_one(everpath: Everpath, here: Path) -> None:
    (here / "catalog").mkdir()
    (here / "catalog/mine.yaml").write_text(PUBLISHED)
    before = tree(here)
    answer = everpath("init", "--from", "catalog")
    assert answer.code == 2
    assert "would lie beside catalog/acme/catalog.yaml" in answer.err
    assert tree(here) == before


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("name: fast", "name: stable", "declares the channel 'stable' twice"),
        (
            "- {name: acme.v0.1.0}",
            "- {name: acme.v0.1.0}\n  - {name: ghost}",
            "the entry ghost of the channel",
        ),
        ("version: 0.1.0", "version: v1", "'v1' is not a version"),
    ],
)
def test_what_opm_refuses_must_be_mended_first(
    everpath: Everpath, here: Path, old: str, new: str, words: str
) -> None:
    (here / "published.yaml").write_text(PUBLISHED.replace(old, new, 1))
    answer = everpath("init", "--from", "published.yaml")
    assert answer.code == 2
    assert words in answer.err
    assert "mend it first" in answer.err
    assert not (here / "catalog").exists()


def test_released_bundles_stay_what_they_are_when_an_operator_is_named(
    everpath: Everpath, here: Path
) -> None:
    write_operator(here)
    (here / "published.yaml").write_text(PUBLISHED)
    assert everpath("init", "--from", "published.yaml").code == 0
    text = (here / RELEASES).read_text()
    (here / RELEASES).write_text(text.replace("releases:\n", "operator: ../operator\nreleases:\n", 1))
    assert everpath("generate").out.startswith("Nothing to write")
    assert everpath("release", "0.3.0", "-q", "-c", "stable").code == 0
    assert {path.name for path in (here / "bundles/acme").iterdir()} == {"0.3.0", "ci.yaml"}
    old, new = catalog(here / "published.yaml"), catalog(here / "catalog/acme/catalog.yaml")
    assert new["olm.bundle"][:2] == old["olm.bundle"]


def test_bundles_of_a_repository_are_frozen(everpath: Everpath, here: Path) -> None:
    write_operator(here)
    write_releases(here, "- {version: 0.1.0, channels: [stable]}")
    everpath("generate")
    (here / "bundles").rename(here / "operators")
    assert everpath("init", "--from", "operators", "--file", "new/releases.yaml").code == 0
    [release] = read_releases("new/releases.yaml").releases
    assert (release.bundle or "").startswith("sha256:")
    (here / "operators/acme/0.1.0/metadata/annotations.yaml").write_text("annotations: {}\n")
    assert "has changed since it was released" in everpath("generate", "-f", "new").err


def test_properties_tell_of_the_metadata_folder(everpath: Everpath, here: Path) -> None:
    stated = """[
      {type: olm.package, value: {packageName: acme, version: 0.2.0}},
      {type: olm.gvk, value: {group: g, kind: K, version: v1}},
      {type: olm.maxOpenShiftVersion, value: "4.18"},
      {type: example.com/large, value: 123456789012345678901},
      {type: olm.package.required, value: {packageName: other, versionRange: ">1.0.0"}},
      {type: olm.constraint, value: {failureMessage: no, package: {packageName: p, versionRange: "1"}}}]"""
    text = PUBLISHED.replace("[{type: olm.package, value: {packageName: acme, version: 0.2.0}}]", stated)
    (here / "published.yaml").write_text(text)
    answer = everpath("init", "--from", "published.yaml")
    assert answer.code == 0, answer
    older, newer = read_releases(str(RELEASES)).releases
    assert older.additions == Additions()
    assert newer.additions.properties == ({"type": "olm.maxOpenShiftVersion", "value": "4.18"},)
    constraint = {"failureMessage": False, "package": {"packageName": "p", "versionRange": "1"}}
    assert newer.additions.dependencies == (
        {"type": "olm.package", "value": {"packageName": "other", "version": ">1.0.0"}},
        {"type": "olm.constraint", "value": constraint},
    )


def test_what_operator_sdk_scaffolds_is_released_without_a_word_of_editing(
    everpath: Everpath, here: Path
) -> None:
    write_project(here)
    started = everpath("init")
    assert started.code == 0
    assert (
        "warning: what config/default changes (namePrefix, patches) is not in these manifests" in started.err
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


def test_opm_takes_what_is_made_of_a_project_of_operator_sdk(everpath: Everpath, here: Path) -> None:
    opm = os.environ.get("EVERPATH_OPM")
    if not opm:
        pytest.skip("EVERPATH_OPM does not name an opm")
    write_project(here)
    assert everpath("init").code == 0
    assert everpath("release", "0.0.1", "-q").code == 0
    for arguments in (["validate", "catalog"], ["render", "bundles/memcached-operator/0.0.1"]):
        done = subprocess.run([opm, *arguments], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr


def test_a_base_is_written_where_operator_sdk_has_none_yet(everpath: Everpath, here: Path) -> None:
    write_project(here)
    base = here / "config/manifests/bases/memcached-operator.clusterserviceversion.yaml"
    base.unlink()
    base.parent.rmdir()
    assert "memcached-operator with 0 releases; 2 files written." in everpath("init").err
    assert read_releases(str(RELEASES)).operator[-1] == "../config/manifests/bases"
    assert yaml.safe_load(base.read_text())["spec"]["displayName"] == "Memcached Operator"
    answer = everpath("release", "0.0.1", "-q")
    assert answer.code == 0, answer
    checked = everpath("bundle", "validate", "bundles", "--select-optional", "all", "-o", "concise")
    assert {line.split()[1] for line in checked.out.splitlines()[:-1]} == {"EP632", "EP665"}


def test_webhooks_of_operator_sdk_are_stated_in_the_csv(everpath: Everpath, here: Path) -> None:
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


def test_what_nothing_here_says_is_left_open_in_the_file(everpath: Everpath, here: Path) -> None:
    answer = everpath("init", "-p", "acme")
    assert "commented out in it. Then:\nThe first release: everpath release 0.1.0" in answer.err
    text = (here / RELEASES).read_text()
    write_operator(here)
    for key, value in (("operator", "../config"), ("image", ""), ("images", "{controller:")):
        assert f"\n# {key}: {value}" in text
    text = text.replace("../config", "../operator").replace("controller", "acme").replace("\n# ", "\n")
    (here / RELEASES).write_text(text)
    answer = everpath("release", "0.1.0", "-q")
    assert (answer.code, answer.err) == (0, "acme 0.1.0: 6 files written.\n")


def test_a_file_without_releases_makes_nothing_and_says_what_to_do(everpath: Everpath, here: Path) -> None:
    everpath("init", "-p", "acme")
    answer = everpath("generate")
    told = "warning: catalog/releases.yaml has no release yet: everpath release 0.1.0 cuts the first\n"
    assert (answer.code, answer.err) == (0, told)


def test_of_a_repository_only_the_wanted_package_is_read(
    everpath: Everpath, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_operator(here)
    write_releases(here, "    - {version: 0.1.0, channels: [stable]}\n")
    everpath("generate")
    shutil.copytree(here / "bundles", here / "repository/operators")
    shutil.copytree(here / "bundles/acme", here / "repository/operators/other")
    asked: list[str] = []

    def watched(path: str, **more: Any) -> Reading:
        asked.append(path)
        return read(path, **more)

    monkeypatch.setattr("everpath.cli.init.read", watched)
    new = ("--file", "new/releases.yaml")
    assert everpath("init", "--from", "repository", "-p", "acme", *new).code == 0
    assert asked == ["repository/operators/acme"]
    assert (
        "no package is called 'acmee'"
        in everpath("init", "--from", "repository", "-p", "acmee", "-f", "newer.yaml").err
    )


def test_a_bundle_that_opm_refuses_today_stays_as_it_was_published(everpath: Everpath, here: Path) -> None:
    write_operator(here)
    two = "    - {version: 0.1.0, channels: [stable]}\n"
    two += "    - {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}}\n"
    write_releases(here, two)
    everpath("generate")
    (here / "bundles").rename(here / "operators")
    csv = here / "operators/acme/0.1.0/manifests/acme.clusterserviceversion.yaml"
    owned = "    owned:\n    - {group: acme.io, kind: Widget, name: widgets.acme.io, version: v1}\n"
    csv.write_text(csv.read_text().replace("    owned: []\n", owned))
    answer = everpath("init", "--from", "operators", "--file", "new/releases.yaml")
    assert answer.code == 0
    assert "warning: kept as `published`, since opm refuses it today: operators/acme/0.1.0/" in answer.err
    older, newer = read_releases("new/releases.yaml").releases
    assert older.bundle == "published"
    assert (newer.bundle or "").startswith("sha256:")
    assert everpath("compare", "operators", "new").code == 0
    assert everpath("generate", "--check", "-f", "new").code == 0
    [kept] = [b for b in catalog(here / "new/acme/catalog.yaml")["olm.bundle"] if b["name"] == "acme.v0.1.0"]
    assert {"type": "olm.package", "value": {"packageName": "acme", "version": "0.1.0"}} in kept["properties"]


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--file", "", "--file names no file"),
        ("--package", "../evil", "'../evil' cannot be the name of a package"),
    ],
)
def test_what_is_no_name_is_refused_before_anything_is_written(
    everpath: Everpath, here: Path, option: str, value: str, told: str
) -> None:
    answer = everpath("init", "--package", "acme", option, value)
    assert answer.code == 2
    assert answer.err.startswith(f"error: {told}")
    assert not list(here.iterdir())


def test_a_bundle_in_no_channel_is_left_out_and_told(everpath: Everpath, here: Path) -> None:
    (here / "old").mkdir()
    lost = PUBLISHED.replace("acme.v0.1.0", "acme.v0.0.1").split("---\n")[4].replace("0.1.0", "0.0.1")
    (here / "old/catalog.yaml").write_text(f"{PUBLISHED}---\n{lost}")
    answer = everpath("init", "--from", "old")
    assert answer.code == 0
    assert "warning: left out, since no channel has it and opm refuses that: acme.v0.0.1\n" in answer.err
    assert everpath("generate", "--check").code == 0


def test_properties_of_a_channel_stay(everpath: Everpath, here: Path) -> None:
    (here / "old").mkdir()
    text = PUBLISHED.replace("name: fast\n", "name: fast\nproperties: [{type: x, value: 1}]\n")
    (here / "old/catalog.yaml").write_text(text)
    assert everpath("init", "--from", "old").code == 0
    for _ in range(2):
        channels = catalog(here / "catalog/acme/catalog.yaml")["olm.channel"]
        found = {each["name"]: each.get("properties") for each in channels}
        assert found == {"fast": [{"type": "x", "value": 1}], "stable": None}
        assert everpath("generate", "--check").code == 0


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
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
def test_images_go_by_the_names_that_the_manifests_have(
    everpath: Everpath, here: Path, file: str, old: str, new: str, told: str
) -> None:
    write_project(here)
    path = here / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert everpath("init").code == 0
    assert f"images: {told}\n" in (here / RELEASES).read_text()
    assert everpath("release", "0.0.1", "-q").code == 0


def test_a_version_of_the_makefile_that_is_none_is_not_proposed(everpath: Everpath, here: Path) -> None:
    write_project(here)
    (here / "Makefile").write_text("VERSION ?= v1.2\n")
    assert "The first release: everpath release 0.1.0\n" in everpath("init").err
