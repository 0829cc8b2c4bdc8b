"""`everpath generate`: bundles and catalogs from releases.yaml."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import yaml

from everpath.loaders.releases.bundle_digests import bundle_digest, read_files
from tests.support.commandline import Everpath
from tests.support.everpath.projects import RELEASES, catalog, tree, write_operator, write_releases
from tests.support.schemas import conforms

TWO = """
    - {version: 0.1.0, channels: [stable]}
    - {version: 0.2.0, channels: [stable, fast], from: {replaces: 0.1.0}}
"""


@pytest.fixture
def project(here: Path) -> Path:
    write_operator(here)
    write_releases(here, TWO)
    return here


def test_bundles_and_catalog_are_written_and_a_second_run_changes_nothing(
    everpath: Everpath, project: Path
) -> None:
    answer = everpath("generate")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.endswith("7 files written.\n")
    assert [name for name in tree(project) if name.startswith(("bundles", "catalog"))] == [
        "bundles/acme/0.1.0/manifests/acme.clusterserviceversion.yaml",
        "bundles/acme/0.1.0/metadata/annotations.yaml",
        "bundles/acme/0.2.0/manifests/acme.clusterserviceversion.yaml",
        "bundles/acme/0.2.0/metadata/annotations.yaml",
        "bundles/acme/ci.yaml",
        "catalog/.indexignore",
        "catalog/acme/catalog.yaml",
        "catalog/releases.yaml",
    ]
    before = tree(project)
    again = everpath("generate")
    assert again.out == "All files are up to date.\n"
    assert tree(project) == before


def test_the_catalog_has_the_channels_of_the_releases_file(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    found = catalog(project / "catalog/acme/catalog.yaml")
    assert found["olm.package"] == [
        {
            "schema": "olm.package",
            "name": "acme",
            "defaultChannel": "stable",
            "description": "Keeps acmes.",
        }
    ]
    assert [(c["name"], c["entries"]) for c in found["olm.channel"]] == [
        ("fast", [{"name": "acme.v0.2.0", "replaces": "acme.v0.1.0"}]),
        ("stable", [{"name": "acme.v0.1.0"}, {"name": "acme.v0.2.0", "replaces": "acme.v0.1.0"}]),
    ]
    assert [b["image"] for b in found["olm.bundle"]] == [
        "example.com/acme-bundle:v0.1.0",
        "example.com/acme-bundle:v0.2.0",
    ]
    assert everpath("validate-graph", "catalog").code == 0


def test_deprecations_and_withdrawals_are_documents(everpath: Everpath, project: Path) -> None:
    write_releases(
        project,
        """
        - {version: 0.1.0, channels: [stable], withdrawn: it loses shards}
        - {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}}
        """,
        "channels: [{name: stable, deprecated: use fast}]\n",
    )
    everpath("generate")
    [document] = catalog(project / "catalog/acme/catalog.yaml")["olm.deprecations"]
    assert document["entries"] == [
        {"reference": {"schema": "olm.channel", "name": "stable"}, "message": "use fast"},
        {
            "reference": {"schema": "olm.bundle", "name": "acme.v0.1.0"},
            "message": "withdrawn: it loses shards",
        },
    ]


def test_check_writes_nothing_and_fails_on_drift(everpath: Everpath, project: Path) -> None:
    before = tree(project)
    answer = everpath("generate", "--check")
    assert answer.code == 1
    assert "7 files out of date: run everpath generate" in answer.out
    assert tree(project) == before
    everpath("generate")
    assert everpath("generate", "--check").out == "All files are up to date.\n"
    file = project / "catalog/acme/catalog.yaml"
    file.write_text(file.read_text().replace("acme-bundle:v0.2.0", "acme-bundle:v9"))
    answer = everpath("generate", "--check")
    assert answer.code == 1
    assert "change  catalog/acme/catalog.yaml" in answer.out
    assert "+image: example.com/acme-bundle:v0.2.0" in answer.out


def test_quiet_prints_nothing(everpath: Everpath, project: Path) -> None:
    assert everpath("generate", "--check", "-q").out == ""
    assert everpath("generate", "-q").out == ""


def test_each_variant_has_a_catalog_and_that_of_a_removed_variant_is_deleted(
    everpath: Everpath, project: Path
) -> None:
    variants = "catalogs: [{name: v4.18, releases: '<0.2.0'}, {name: v4.19, channels: [fast]}]\n"
    everpath("generate")
    write_releases(project, TWO, variants)
    assert "delete  catalog/acme/catalog.yaml" in everpath("generate").out
    assert not (project / "catalog/acme").exists()
    old = catalog(project / "catalog/v4.18/acme/catalog.yaml")
    assert [b["name"] for b in old["olm.bundle"]] == ["acme.v0.1.0"]
    new = catalog(project / "catalog/v4.19/acme/catalog.yaml")
    assert [(c["name"], c["defaultChannel"]) for c in new["olm.package"]] == [("acme", "fast")]
    assert [b["name"] for b in new["olm.bundle"]] == ["acme.v0.2.0"]


def test_a_catalog_may_be_json_and_stays_so(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    answer = everpath("generate", "--format", "json")
    assert "add     catalog/acme/catalog.json\ndelete  catalog/acme/catalog.yaml" in answer.out
    first, _ = json.JSONDecoder().raw_decode((project / "catalog/acme/catalog.json").read_text())
    assert first["schema"] == "olm.package"
    assert everpath("generate").out.startswith("All files are up to date")
    assert everpath("validate-graph", "catalog").code == 0


def test_files_that_are_not_generated_any_more_are_deleted(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    stray = project / "bundles/acme/0.2.0/manifests/old_crd.yaml"
    stray.write_text("kind: X\n")
    assert "delete  bundles/acme/0.2.0/manifests/old_crd.yaml" in everpath("generate").out
    assert not stray.exists()


def test_a_released_bundle_does_not_change_with_the_manifests(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    everpath("release", "0.3.0", "-q")
    released = tree(project / "bundles/acme/0.1.0")
    file = project / "operator/manifests.yaml"
    file.write_text(file.read_text().replace("Keeps acmes.", "Keeps many acmes."))
    assert everpath("generate").code == 0
    assert tree(project / "bundles/acme/0.1.0") == released
    assert b"many" in tree(project)["bundles/acme/0.3.0/manifests/acme.clusterserviceversion.yaml"]


def test_a_rewritten_bundle_without_digest_is_a_warning_with_the_line_to_add(
    everpath: Everpath, project: Path
) -> None:
    everpath("generate")
    folder = project / "bundles/acme/0.1.0"
    frozen = bundle_digest(read_files(folder))
    manifests = project / "operator/manifests.yaml"
    manifests.write_text(manifests.read_text().replace("Keeps acmes.", "Keeps many acmes."))
    for arguments, code in ((["--check"], 1), ([], 0)):
        answer = everpath("generate", *arguments)
        assert answer.code == code
        [warning] = [line for line in answer.err.splitlines() if "0.1.0" in line]
        assert warning.startswith("warning: catalog/releases.yaml:")
        assert "git restore bundles/acme/0.1.0" in warning
        assert f"`bundle: {frozen}`" in warning
        # The newest may still change.
        assert "0.2.0 is not the newest" not in answer.err


def test_an_unchanged_bundle_without_digest_is_no_warning(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    (project / "bundles/acme/0.2.0/metadata/annotations.yaml").write_text("")
    (project / "catalog/acme/catalog.yaml").unlink()
    assert everpath("generate").err == ""


def test_bundles_that_are_not_generated_are_used_unchanged(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    text = (project / RELEASES).read_text().replace("operator: ../operator\n", "")
    (project / RELEASES).write_text(text)
    assert everpath("generate").out.startswith("All files are up to date")


def test_documents_of_other_schemas_and_package_fields_are_kept(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    text = (project / RELEASES).read_text().replace("operator: ../operator\n", "")
    (project / RELEASES).write_text(text)
    file = project / "catalog/acme/catalog.yaml"
    other = "---\nschema: example.com/note\npackage: acme\nname: other\nvalue: {b: 1, a: 2}\n"
    file.write_text(file.read_text().replace("Keeps acmes.", "All of it", 1) + other)
    assert everpath("generate").code == 0
    found = catalog(file)
    assert found["olm.package"][0]["description"] == "All of it"
    assert found["example.com/note"][0]["value"] == {"b": 1, "a": 2}


def test_other_lines_of_indexignore_are_kept(everpath: Everpath, project: Path) -> None:
    (project / "catalog/.indexignore").write_text("notes.md")
    everpath("generate")
    assert (project / "catalog/.indexignore").read_text() == "notes.md\n/releases.yaml\n"


def test_without_a_releases_file_the_hint_is_init(everpath: Everpath, here: Path) -> None:
    answer = everpath("generate")
    assert answer.code == 3
    assert "there is no catalog/releases.yaml in the current folder" in answer.err
    assert "run everpath init to create one" in answer.err


def test_the_releases_file_may_be_in_another_folder(everpath: Everpath, project: Path) -> None:
    (project / "catalog").rename(project / "else")
    assert everpath("generate", "--file", "else/releases.yaml").code == 0
    assert (project / "else/acme/catalog.yaml").exists()
    assert everpath("generate", "--check", "-f", "else").code == 0
    assert everpath("generate", "-f", " ").code == 2


def test_a_bundle_is_one_line_and_verbose_lists_each_file(everpath: Everpath, project: Path) -> None:
    answer = everpath("generate", "--check")
    assert answer.out.splitlines()[:2] == [
        "add     bundles/acme/0.1.0 (2 files)",
        "add     bundles/acme/0.2.0 (2 files)",
    ]
    assert "add     bundles/acme/0.1.0/metadata/annotations.yaml\n" in everpath("generate", "-v").out
    manifests = project / "operator/manifests.yaml"
    manifests.write_text(manifests.read_text().replace("Keeps acmes.", "Keeps many."))
    (project / "bundles/acme/0.2.0/metadata/annotations.yaml").unlink()
    answer = everpath("generate", "--check")
    assert "change  bundles/acme/0.1.0/manifests/acme.clusterserviceversion.yaml\n" in answer.out
    assert "change  bundles/acme/0.2.0 (2 files)\n" in answer.out


def test_icon_and_description_come_from_the_csv(everpath: Everpath, project: Path) -> None:
    picture = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
    (project / "operator/icon.svg").write_bytes(picture)
    for suffix in ("json", "yaml"):
        assert everpath("generate", "--format", suffix).code == 0
        text = (project / f"catalog/acme/catalog.{suffix}").read_text()
        found = json.JSONDecoder().raw_decode(text)[0] if suffix == "json" else next(yaml.safe_load_all(text))
        icon = {"base64data": b64encode(picture).decode(), "mediatype": "image/svg+xml"}
        assert found == {
            "schema": "olm.package",
            "name": "acme",
            "defaultChannel": "stable",
            "icon": icon,
            "description": "Keeps acmes.",
        }
        if suffix == "json":
            assert list(found) == ["schema", "name", "defaultChannel", "icon", "description"]
    (project / "catalog/acme/catalog.yaml").unlink()
    assert everpath("generate").code == 0
    assert (project / "catalog/acme/catalog.yaml").read_text() == text
    assert everpath("generate").out.startswith("All files are up to date")


def test_metadata_of_a_bundle_comes_from_the_releases_file(everpath: Everpath, project: Path) -> None:
    write_releases(
        project,
        """
        - version: 0.1.0
          channels: [stable]
        - version: 0.2.0
          channels: [stable]
          from: {replaces: 0.1.0}
          properties: []
          dependencies: [{type: olm.package, value: {packageName: other, version: ">1.0.0"}}]
          annotations: {com.redhat.openshift.versions: v4.18}
        """,
        "properties: [{type: olm.maxOpenShiftVersion, value: '4.18'}]\n"
        "annotations: {com.redhat.openshift.versions: v4.12, example.com/note: all}\n",
    )
    assert everpath("generate").code == 0
    older, newer = (project / f"bundles/acme/0.{n}.0/metadata" for n in (1, 2))
    assert yaml.safe_load((older / "properties.yaml").read_text()) == {
        "properties": [{"type": "olm.maxOpenShiftVersion", "value": "4.18"}]
    }
    assert not (older / "dependencies.yaml").exists()
    assert not (newer / "properties.yaml").exists()
    assert yaml.safe_load((newer / "dependencies.yaml").read_text()) == {
        "dependencies": [{"type": "olm.package", "value": {"packageName": "other", "version": ">1.0.0"}}]
    }
    said = [yaml.safe_load((m / "annotations.yaml").read_text())["annotations"] for m in (older, newer)]
    assert [each["com.redhat.openshift.versions"] for each in said] == ["v4.12", "v4.18"]
    assert [each["example.com/note"] for each in said] == ["all", "all"]
    first, second = catalog(project / "catalog/acme/catalog.yaml")["olm.bundle"]
    assert {"type": "olm.maxOpenShiftVersion", "value": "4.18"} in first["properties"]
    required = {
        "type": "olm.package.required",
        "value": {"packageName": "other", "versionRange": ">1.0.0"},
    }
    assert required in second["properties"]


def test_a_version_with_build_metadata_gets_a_valid_object_name(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    assert everpath("release", "0.3.0-RC.1+build.5", "-q").code == 0
    assert (
        catalog(project / "catalog/acme/catalog.yaml")["olm.bundle"][-1]["name"] == "acme.v0.3.0-rc.1-build.5"
    )
    assert everpath("generate", "--check").code == 0


def test_byte_order_mark_and_line_ends_are_kept(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    file = project / RELEASES
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert everpath("release", "0.3.0", "-q").code == 0
    text = file.read_bytes()
    assert text.startswith(b"\xef\xbb\xbfpackage: acme\r\n")
    assert text.count(b"\n") == text.count(b"\r\n")


def test_extension_keys_may_contain_anchors(everpath: Everpath, project: Path) -> None:
    write_releases(project, "- {version: 0.1.0, channels: *all}", "x-channels: &all [stable]\n")
    assert everpath("generate").code == 0


def test_json_lists_every_file(everpath: Everpath, project: Path) -> None:
    def run_json(*arguments: str) -> dict[str, Any]:
        document = json.loads(everpath("generate", "-o", "json", *arguments).out)
        conforms("generate", document)
        return dict(document)

    assert run_json("--check")["state"] == "outOfDate"
    manifests = project / "operator/manifests.yaml"
    good = manifests.read_text()
    manifests.write_text(good.replace("displayName: Acme", "minKubeVersion: new"))
    refused = run_json()
    assert (refused["state"], bool(refused["findings"])) == ("refused", True)
    assert {finding["file"] for finding in refused["findings"]} == {
        f"bundles/acme/0.{n}.0/manifests/acme.clusterserviceversion.yaml" for n in (1, 2)
    }
    assert not (project / "bundles").exists()
    manifests.write_text(good)
    written = run_json()
    assert (written["state"], written["findings"]) == ("written", [])
    first = "bundles/acme/0.1.0/manifests/acme.clusterserviceversion.yaml"
    assert written["files"][0] == {"action": "add", "path": first}
    assert len(written["files"]) == 7
    assert run_json() == {"version": 1, "package": "acme", "state": "upToDate", "files": [], "findings": []}


class TestBundlesWithoutTheCatalog:
    """An operators repository of the bundles has the upgrade paths of the catalog, if possible."""

    def test_the_bundles_have_the_graph_of_the_catalog(self, everpath: Everpath, here: Path) -> None:
        write_operator(here)
        write_releases(
            here,
            """
            - {version: 0.1.0, channels: [stable, fast]}
            - {version: 0.1.1, channels: [stable, fast], from: {replaces: 0.1.0}}
            - {version: 0.2.0, channels: [fast], from: {replaces: 0.1.1}}
            - {version: 0.2.1, channels: [fast], from: {replaces: 0.2.0}}
            - version: 0.2.2
              channels: {stable: {replaces: 0.1.1}, fast: {replaces: 0.2.1, range: ">=0.2.0 <0.2.2"}}
            """,
        )
        assert everpath("generate").err == ""
        assert (here / "bundles/acme/ci.yaml").read_text() == "updateGraph: replaces-mode\n"
        assert everpath("compare", "catalog", "bundles").code == 0
        csv = yaml.safe_load(
            (here / "bundles/acme/0.2.2/manifests/acme.clusterserviceversion.yaml").read_text()
        )
        assert (csv["spec"]["replaces"], csv["spec"]["skips"]) == (
            "acme.v0.1.1",
            ["acme.v0.2.1", "acme.v0.2.0"],
        )
        assert csv["metadata"]["annotations"]["olm.skipRange"] == ">=0.2.0 <0.2.2"

    def test_an_existing_ci_file_is_kept(self, everpath: Everpath, project: Path) -> None:
        own = project / "bundles/acme/ci.yaml"
        own.parent.mkdir(parents=True)
        own.write_text("updateGraph: semver-mode\nreviewers: [me]\n")
        assert everpath("generate").code == 0
        assert own.read_text() == "updateGraph: semver-mode\nreviewers: [me]\n"
        own.rename(own.with_suffix(".yml"))
        assert everpath("generate").out.startswith("All files are up to date")

    def test_bundles_that_strand_versions_are_a_warning(self, everpath: Everpath, project: Path) -> None:
        everpath("generate")
        folder = project / "bundles/acme/0.2.0"
        csv = folder / "manifests/acme.clusterserviceversion.yaml"
        csv.write_text(csv.read_text().replace("  replaces: acme.v0.1.0\n", ""))
        more = "    - {version: 0.3.0, channels: [stable, fast], from: {replaces: 0.2.0}}\n"
        two = TWO.replace("0.1.0}}", f"0.1.0}}, bundle: {bundle_digest(read_files(folder))}}}")
        write_releases(project, two + more)
        answer = everpath("generate")
        assert answer.code == 0
        assert "warning: as an operators repository, without the catalog, the bundles strand" in answer.err
        assert "To list the versions: `everpath compare catalog bundles`" in answer.err
        assert everpath("compare", "catalog", "bundles").code == 1
