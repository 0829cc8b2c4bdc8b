"""`everpath init --from` an existing catalog or repository."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from everpath.loaders.catalog_loader import LoadedCatalog, load
from everpath.loaders.releases.parser import load_releases
from everpath.releases.model import BundleMetadata
from tests.support.commandline import Everpath
from tests.support.everpath.projects import RELEASES, catalog, tree, write_operator, write_releases

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


@pytest.mark.parametrize("from_pipe", [True, False])
def test_a_reconstructed_catalog_is_generated_unchanged(
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
    found = load_releases("new/releases.yaml")
    assert found.bundles == "../operators"
    assert [release.version for release in found.releases] == ["0.1.0", "0.2.0"]
    assert len(catalog(here / "new/acme/catalog.yaml")["olm.bundle"]) == 2


def test_several_packages_require_the_option(everpath: Everpath, here: Path) -> None:
    other = PUBLISHED.replace("acme", "other")
    (here / "published.yaml").write_text(PUBLISHED + other)
    answer = everpath("init", "--from", "published.yaml")
    assert answer.code == 2
    assert "there are 2: acme, other" in answer.err
    assert everpath("init", "--from", "published.yaml", "-p", "nope").code == 2
    assert everpath("init", "--from", "published.yaml", "-p", "other").code == 0
    assert load_releases(str(RELEASES)).package == "other"


def test_the_old_catalog_beside_the_new_one_is_an_error(everpath: Everpath, here: Path) -> None:
    (here / "catalog").mkdir()
    (here / "catalog/mine.yaml").write_text(PUBLISHED)
    before = tree(here)
    answer = everpath("init", "--from", "catalog")
    assert answer.code == 2
    assert "would be beside catalog/acme/catalog.yaml" in answer.err
    assert tree(here) == before


def test_the_hint_for_an_old_catalog_works(everpath: Everpath, here: Path) -> None:
    (here / "catalog").mkdir()
    (here / "catalog/catalog.yaml").write_text(PUBLISHED)
    hint = everpath("init", "--from", "catalog").err.splitlines()[-1]
    assert "mv catalog old-catalog, then --from old-catalog; or " in hint
    assert hint.endswith("--file new/releases.yaml")
    assert everpath("init", "--from", "catalog", "--file", "new/releases.yaml").code == 0
    (here / "catalog").rename(here / "old-catalog")
    assert everpath("init", "--from", "old-catalog").code == 0


def test_the_hint_never_overwrites_a_folder(everpath: Everpath, here: Path) -> None:
    (here / "catalog").mkdir()
    (here / "catalog/catalog.yaml").write_text(PUBLISHED)
    assert "mv" not in everpath("init", "--from", ".").err
    (here / "old-catalog").mkdir()
    assert everpath("init", "--from", "catalog").err.endswith(
        "\nhint: write to another folder, then delete the old catalog: --file new/releases.yaml\n"
    )


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
def test_a_catalog_that_opm_rejects_is_an_error(
    everpath: Everpath, here: Path, old: str, new: str, words: str
) -> None:
    (here / "published.yaml").write_text(PUBLISHED.replace(old, new, 1))
    answer = everpath("init", "--from", "published.yaml")
    assert answer.code == 2
    assert words in answer.err
    assert "fix the catalog first" in answer.err
    assert not (here / "catalog").exists()


def test_released_bundles_do_not_change_when_operator_is_declared(everpath: Everpath, here: Path) -> None:
    write_operator(here)
    (here / "published.yaml").write_text(PUBLISHED)
    assert everpath("init", "--from", "published.yaml").code == 0
    text = (here / RELEASES).read_text()
    (here / RELEASES).write_text(text.replace("releases:\n", "operator: ../operator\nreleases:\n", 1))
    assert everpath("generate").out.startswith("All files are up to date")
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
    [release] = load_releases("new/releases.yaml").releases
    assert (release.bundle or "").startswith("sha256:")
    (here / "operators/acme/0.1.0/metadata/annotations.yaml").write_text("annotations: {}\n")
    assert "has changed since it was released" in everpath("generate", "-f", "new").err


def test_properties_of_the_metadata_folder_are_listed(everpath: Everpath, here: Path) -> None:
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
    older, newer = load_releases(str(RELEASES)).releases
    assert older.metadata == BundleMetadata()
    assert newer.metadata.properties == ({"type": "olm.maxOpenShiftVersion", "value": "4.18"},)
    constraint = {"failureMessage": False, "package": {"packageName": "p", "versionRange": "1"}}
    assert newer.metadata.dependencies == (
        {"type": "olm.package", "value": {"packageName": "other", "version": ">1.0.0"}},
        {"type": "olm.constraint", "value": constraint},
    )


def test_only_the_selected_package_of_a_repository_is_loaded(
    everpath: Everpath, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_operator(here)
    write_releases(here, "    - {version: 0.1.0, channels: [stable]}\n")
    everpath("generate")
    shutil.copytree(here / "bundles", here / "repository/operators")
    shutil.copytree(here / "bundles/acme", here / "repository/operators/other")
    asked: list[str] = []

    def watched(path: str, **more: Any) -> LoadedCatalog:
        asked.append(path)
        return load(path, **more)

    monkeypatch.setattr("everpath.app.project.import_catalog.load", watched)
    new = ("--file", "new/releases.yaml")
    assert everpath("init", "--from", "repository", "-p", "acme", *new).code == 0
    assert asked == ["repository/operators/acme"]
    assert (
        "there is no package 'acmee'"
        in everpath("init", "--from", "repository", "-p", "acmee", "-f", "newer.yaml").err
    )


def test_a_bundle_that_opm_rejects_today_is_kept_as_published(everpath: Everpath, here: Path) -> None:
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
    assert "warning: kept as `published`, because opm rejects it today: operators/acme/0.1.0/" in answer.err
    older, newer = load_releases("new/releases.yaml").releases
    assert older.bundle == "published"
    assert (newer.bundle or "").startswith("sha256:")
    assert everpath("compare", "operators", "new").code == 0
    assert everpath("generate", "--check", "-f", "new").code == 0
    [kept] = [b for b in catalog(here / "new/acme/catalog.yaml")["olm.bundle"] if b["name"] == "acme.v0.1.0"]
    assert {"type": "olm.package", "value": {"packageName": "acme", "version": "0.1.0"}} in kept["properties"]


def test_a_bundle_in_no_channel_is_omitted_with_a_warning(everpath: Everpath, here: Path) -> None:
    (here / "old").mkdir()
    lost = PUBLISHED.replace("acme.v0.1.0", "acme.v0.0.1").split("---\n")[4].replace("0.1.0", "0.0.1")
    (here / "old/catalog.yaml").write_text(f"{PUBLISHED}---\n{lost}")
    answer = everpath("init", "--from", "old")
    assert answer.code == 0
    assert "warning: omitted, because it is in no channel and opm rejects that: acme.v0.0.1\n" in answer.err
    assert everpath("generate", "--check").code == 0


def test_properties_of_a_channel_are_kept(everpath: Everpath, here: Path) -> None:
    (here / "old").mkdir()
    text = PUBLISHED.replace("name: fast\n", "name: fast\nproperties: [{type: x, value: 1}]\n")
    (here / "old/catalog.yaml").write_text(text)
    assert everpath("init", "--from", "old").code == 0
    for _ in range(2):
        channels = catalog(here / "catalog/acme/catalog.yaml")["olm.channel"]
        found = {each["name"]: each.get("properties") for each in channels}
        assert found == {"fast": [{"type": "x", "value": 1}], "stable": None}
        assert everpath("generate", "--check").code == 0
