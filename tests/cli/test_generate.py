"""`everpath generate`: bundles and catalogs from releases.yaml."""

from __future__ import annotations

import json
import os
import re
import shutil
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import yaml

from commandline import Everpath
from everpath.cli import placing
from everpath.formats.releases.frozen import digest, files_below
from projects import RELEASES, catalog, tree, write_operator, write_releases
from schemas import conforms

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
    assert again.out == "Nothing to write: all is up to date.\n"
    assert tree(project) == before


def test_the_catalog_says_what_the_source_says(everpath: Everpath, project: Path) -> None:
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


def test_deprecations_and_withdrawals_are_told(everpath: Everpath, project: Path) -> None:
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
    assert everpath("generate", "--check").out == "All is up to date.\n"
    file = project / "catalog/acme/catalog.yaml"
    file.write_text(file.read_text().replace("acme-bundle:v0.2.0", "acme-bundle:v9"))
    answer = everpath("generate", "--check")
    assert answer.code == 1
    assert "change  catalog/acme/catalog.yaml" in answer.out
    assert "+image: example.com/acme-bundle:v0.2.0" in answer.out


def test_quiet_says_nothing(everpath: Everpath, project: Path) -> None:
    assert everpath("generate", "--check", "-q").out == ""
    assert everpath("generate", "-q").out == ""


def test_each_variant_has_a_catalog_of_its_own_and_one_that_is_gone_is_deleted(
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
    assert everpath("generate").out.startswith("Nothing to write")
    assert everpath("validate-graph", "catalog").code == 0


def test_files_of_a_bundle_that_nothing_makes_are_deleted(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    stray = project / "bundles/acme/0.2.0/manifests/old_crd.yaml"
    stray.write_text("kind: X\n")
    assert "delete  bundles/acme/0.2.0/manifests/old_crd.yaml" in everpath("generate").out
    assert not stray.exists()


def test_a_released_bundle_stays_as_it_is_when_the_operator_moves_on(
    everpath: Everpath, project: Path
) -> None:
    everpath("generate")
    everpath("release", "0.3.0", "-q")
    released = tree(project / "bundles/acme/0.1.0")
    file = project / "operator/manifests.yaml"
    file.write_text(file.read_text().replace("Keeps acmes.", "Keeps many acmes."))
    assert everpath("generate").code == 0
    assert tree(project / "bundles/acme/0.1.0") == released
    assert b"many" in tree(project)["bundles/acme/0.3.0/manifests/acme.clusterserviceversion.yaml"]


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_released_bundle_that_has_changed_is_an_error(
    everpath: Everpath, project: Path, is_gone: bool
) -> None:
    everpath("generate")
    everpath("release", "0.3.0", "-q")
    folder = project / "bundles/acme/0.1.0"
    if is_gone:
        shutil.rmtree(folder)
    else:
        (folder / "metadata/annotations.yaml").write_text("annotations: {}\n")
    before = tree(project)
    answer = everpath("generate")
    assert answer.code == 2
    what = "is gone, and it was released" if is_gone else "has changed since it was released"
    assert f"error: bundles/acme/0.1.0 {what} (catalog/releases.yaml:" in answer.err
    assert "git restore it, and cut a new release" in answer.err
    assert tree(project) == before


def test_half_a_bundle_is_an_error(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    shutil.rmtree(project / "bundles/acme/0.1.0/metadata")
    before = tree(project)
    answer = everpath("release", "0.3.0")
    assert answer.code == 2
    assert "bundles/acme/0.1.0 is half a bundle: it has no metadata folder" in answer.err
    assert tree(project) == before


def test_bundles_that_others_made_are_taken_as_they_are(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    text = (project / RELEASES).read_text().replace("operator: ../operator\n", "")
    (project / RELEASES).write_text(text)
    assert everpath("generate").out.startswith("Nothing to write")


def test_a_release_without_a_bundle_says_where_to_put_it(everpath: Everpath, project: Path) -> None:
    text = (project / RELEASES).read_text().replace("operator: ../operator\n", "")
    (project / RELEASES).write_text(text)
    answer = everpath("generate")
    assert answer.code == 2
    assert "catalog/releases.yaml:7: there is no bundle of 0.1.0" in answer.err
    assert "put it into bundles/acme/0.1.0" in answer.err


def test_a_bundle_that_cannot_be_rendered_is_named_with_its_line(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    text = (project / RELEASES).read_text().replace("operator: ../operator\n", "")
    (project / RELEASES).write_text(text)
    (project / "bundles/acme/0.1.0/metadata/annotations.yaml").write_text("annotations:\n  a: b\n")
    answer = everpath("generate")
    assert answer.code == 2
    assert answer.err.startswith("error: bundles/acme/0.1.0")
    (project / "bundles/acme/0.1.0/manifests/acme.clusterserviceversion.yaml").write_text("kind: X\n")
    answer = everpath("generate")
    assert answer.code == 2
    assert answer.err.startswith("error: bundles/acme/0.1.0")


def test_a_catalog_that_cannot_be_read_is_named_with_its_line(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    (project / "catalog/acme/catalog.yaml").write_text("---\nschema: olm.package\nname: [x]\n")
    answer = everpath("generate")
    assert answer.code == 3
    assert answer.err.startswith("error: catalog/acme/catalog.yaml:3: ")


def test_a_bundle_of_another_version_is_an_error(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    text = (project / RELEASES).read_text().replace("operator: ../operator\n", "").replace("0.2.0", "0.2.1")
    (project / RELEASES).write_text(text)
    (project / "bundles/acme/0.2.0").rename(project / "bundles/acme/0.2.1")
    answer = everpath("generate")
    assert answer.code == 2
    assert "bundles/acme/0.2.1: the name of the bundle is acme.v0.2.0" in answer.err


def test_a_bundle_without_a_name_is_an_error(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    text = (project / RELEASES).read_text().replace("operator: ../operator\n", "")
    (project / RELEASES).write_text(text)
    csv = project / "bundles/acme/0.2.0/manifests/acme.clusterserviceversion.yaml"
    csv.write_text(csv.read_text().replace("name: acme.v0.2.0\n", "generateName: x\n"))
    answer = everpath("generate")
    assert answer.code == 2
    assert "bundles/acme/0.2.0: the name of the bundle is missing" in answer.err


def test_unknown_documents_and_what_the_package_says_of_itself_survive(
    everpath: Everpath, project: Path
) -> None:
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


def test_what_else_is_ignored_stays_so(everpath: Everpath, project: Path) -> None:
    (project / "catalog/.indexignore").write_text("notes.md")
    everpath("generate")
    assert (project / "catalog/.indexignore").read_text() == "notes.md\n/releases.yaml\n"


def test_a_full_disk_leaves_everything_as_it_was(
    everpath: Everpath, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everpath("generate")
    write_releases(project, TWO.replace("0.2.0", "0.2.1"))
    before = tree(project)

    def full(draft: Path, _: bytes) -> None:
        raise OSError(28, "No space left on device", str(draft))

    monkeypatch.setattr(placing, "_write", full)
    answer = everpath("generate")
    assert answer.code == 2
    assert "No space left on device" in answer.err
    assert tree(project) == before


def test_without_a_source_it_says_what_writes_one(everpath: Everpath, here: Path) -> None:
    answer = everpath("generate")
    assert answer.code == 3
    assert "there is no catalog/releases.yaml here" in answer.err
    assert "everpath init writes one" in answer.err


def test_the_file_may_lie_elsewhere(everpath: Everpath, project: Path) -> None:
    (project / "catalog").rename(project / "else")
    assert everpath("generate", "--file", "else/releases.yaml").code == 0
    assert (project / "else/acme/catalog.yaml").exists()
    assert everpath("generate", "--check", "-f", "else").code == 0
    assert everpath("generate", "-f", " ").code == 2


def test_a_bundle_is_one_line_and_each_file_one_if_that_is_wanted(everpath: Everpath, project: Path) -> None:
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


def test_the_package_is_described_by_the_operator(everpath: Everpath, project: Path) -> None:
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
    assert everpath("generate").out.startswith("Nothing to write")


class TestWhatItMadeIsJudged:
    """An error of `bundle validate` or `validate-graph` in what would be written: nothing is."""

    def test_a_bundle_with_an_error_is_not_written(self, everpath: Everpath, project: Path) -> None:
        manifests = project / "operator/manifests.yaml"
        manifests.write_text(manifests.read_text().replace("displayName: Acme", "minKubeVersion: new"))
        before = tree(project)
        answer = everpath("generate")
        assert answer.code == 1
        assert "error[EP" in answer.out
        assert "--> bundles/acme/0.2.0/manifests/acme.clusterserviceversion.yaml:" in answer.out
        assert "minKubeVersion" in answer.out
        assert "it is made from operator/manifests.yaml\n" in answer.out
        assert answer.err == "error: nothing was written: the files would have the errors above\n"
        assert tree(project) == before
        assert everpath("release", "0.3.0").code == 1
        assert tree(project) == before

    def test_a_waiver_excuses_it(self, everpath: Everpath, project: Path) -> None:
        manifests = project / "operator/manifests.yaml"
        manifests.write_text(manifests.read_text().replace("displayName: Acme", "minKubeVersion: new"))
        told = everpath("generate").out
        rules = sorted(set(re.findall(r"error\[(EP\d+) ", told)))
        waivers = "".join(f"  - {{rule: {rule}, reason: a test}}\n" for rule in rules)
        (project / "everpath.yaml").write_text(f"waivers:\n{waivers}")
        assert everpath("generate").code == 0
        assert everpath("generate", "--no-config").out.startswith("Nothing to write")

    def test_a_catalog_with_an_error_is_not_written(self, everpath: Everpath, project: Path) -> None:
        write_releases(
            project,
            """
            - {version: 0.1.0, channels: [stable]}
            - {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}}
            - {version: 0.3.0, channels: [stable], from: {replaces: 0.1.0}}
            """,
        )
        before = tree(project)
        answer = everpath("generate")
        assert answer.code == 1
        assert "error[EP203 fork]" in answer.out
        assert "--> catalog/acme/catalog.yaml:" in answer.out
        assert tree(project) == before

    def test_what_is_wrong_with_the_catalog_already_keeps_nobody_from_going_on(
        self, everpath: Everpath, here: Path
    ) -> None:
        write_operator(here)
        heads = "".join(f"  - {{name: acme.v0.{n}.0}}\n" for n in (1, 2))
        bundles = "".join(
            f"---\nschema: olm.bundle\npackage: acme\nname: acme.v0.{n}.0\nimage: example.com/acme:{n}\n"
            f"properties: [{{type: olm.package, value: {{packageName: acme, version: 0.{n}.0}}}}]\n"
            for n in (1, 2)
        )
        (here / "old.yaml").write_text(
            "schema: olm.package\nname: acme\ndefaultChannel: stable\n---\n"
            f"schema: olm.channel\npackage: acme\nname: stable\nentries:\n{heads}{bundles}"
        )
        assert everpath("init", "--from", "old.yaml").code == 0
        assert everpath("validate-graph", "catalog").code == 1
        text = (here / RELEASES).read_text()
        more = "stable\ndeprecated: soon over\noperator: ../operator\n"
        (here / RELEASES).write_text(text.replace("stable\n", more, 1))
        assert everpath("generate").code == 0
        assert everpath("release", "0.3.0", "--replaces", "0.2.0", "-q").code == 0
        assert everpath("validate-graph", "catalog").code == 1

    def test_a_step_that_breaks_what_people_have_is_not_written(
        self, everpath: Everpath, project: Path
    ) -> None:
        kind = project / "operator/crd.yaml"
        kind.write_text(CRD.format(type="string"))
        assert everpath("generate").code == 0, everpath("generate").out
        assert everpath("release", "0.3.0", "-q").code == 0
        kind.write_text(CRD.format(type="integer"))
        before = tree(project)
        answer = everpath("generate")
        assert answer.code == 1
        assert "error[EP70" in answer.out
        assert "acme.v0.2.0" in answer.out
        assert tree(project) == before


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: acmes.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{kind: Acme, listKind: AcmeList, plural: acmes, singular: acme}}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties: {{size: {{type: {type}}}}}
"""

DIGEST = "sha256:" + "a" * 64


class TestImagesArePinned:
    """By the file that `pins:` or --pin names."""

    @pytest.fixture
    def pinned(self, project: Path) -> Path:
        write_releases(
            project, "- {version: 0.1.0, channels: [stable]}", "images: {acme: example.com/acme}\n"
        )
        return project

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("pins.txt", f"# ours\n\nexample.com/acme:v0.1.0=example.com/acme@{DIGEST}\n"),
            ("pins.txt", f"\ufeffexample.com/acme:v0.1.0 = example.com/acme@{DIGEST}\r\n"),
            ("mapping.txt", f"x/y@{DIGEST}=mirror/y:1\nexample.com/acme:v0.1.0=m/acme@{DIGEST}\n"),
            ("pins.json", f'{{"example.com/acme:v0.1.0": "example.com/acme@{DIGEST}"}}'),
            ("pins.yaml", f"example.com/acme:v0.1.0: example.com/acme@{DIGEST}\n"),
        ],
    )
    def test_in_each_form_that_others_write(
        self, everpath: Everpath, pinned: Path, name: str, text: str
    ) -> None:
        (pinned / name).write_text(text)
        answer = everpath("generate", "--pin", name)
        assert answer.code == 0, answer
        csv = (pinned / "bundles/acme/0.1.0/manifests/acme.clusterserviceversion.yaml").read_text()
        assert f"acme@{DIGEST}" in csv
        assert "acme:v0.1.0\n" not in csv
        assert everpath("generate", "--check").code == 1
        source = (pinned / RELEASES).read_text()
        (pinned / RELEASES).write_text(f"pins: ../{name}\n{source}")
        assert everpath("generate", "--check").code == 0

    def test_an_image_of_a_bundle_is_pinned_where_its_digest_is_known(
        self, everpath: Everpath, pinned: Path
    ) -> None:
        (pinned / "pins.txt").write_text(
            f"example.com/acme:v0.1.0=example.com/acme@{DIGEST}\n"
            f"example.com/acme-bundle:v0.1.0=example.com/acme-bundle@{DIGEST}\n"
        )
        assert everpath("generate", "--pin", "pins.txt").code == 0
        [bundle] = catalog(pinned / "catalog/acme/catalog.yaml")["olm.bundle"]
        assert bundle["image"] == f"example.com/acme-bundle@{DIGEST}"

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "no digest is known for example.com/acme:v0.1.0"),
            ("\nacme\n", "pins.txt:2: 'acme' says nothing of a digest"),
            ("a:1=b:1\n", "pins.txt:1: a:1 is to be pinned to b:1, which has no digest"),
            ("a:1=\n", "pins.txt:1: a:1 is to be pinned to nothing, which has no digest"),
            (f"a:1=b@{DIGEST}\na:1=c@{DIGEST}\n", "pins.txt:2: a:1 is pinned twice"),
            ("{a: [}", "pins.txt:1: "),
            ("{a: 1}", "pins.txt:1: a is to be pinned to 1"),
        ],
    )
    def test_what_is_wrong_with_the_file_is_told_with_its_line(
        self, everpath: Everpath, pinned: Path, text: str, words: str
    ) -> None:
        (pinned / "pins.txt").write_text(text)
        before = tree(pinned)
        answer = everpath("generate", "--pin", "pins.txt")
        assert answer.code == 2
        assert words in answer.err
        assert "IMAGE:TAG=IMAGE@sha256:…" in answer.err
        assert tree(pinned) == before

    @pytest.mark.usefixtures("pinned")
    def test_a_file_that_is_not_there_is_named(self, everpath: Everpath) -> None:
        assert everpath("generate", "--pin", "nope.txt").code == 3
        assert everpath("generate", "--pin", " ").code == 2
        assert everpath("release", "0.2.0", "--pin", "nope.txt").code == 2

    def test_a_release_remembers_it(self, everpath: Everpath, pinned: Path) -> None:
        assert everpath("generate").code == 0
        lines = (f"example.com/acme:v0.{n}.0=example.com/acme@{DIGEST}\n" for n in (2, 3))
        (pinned / "pins.txt").write_text("".join(lines))
        assert everpath("release", "0.2.0", "-q", "--pin", "pins.txt").code == 0
        assert "\ndefaultChannel: stable\npins: ../pins.txt\n" in (pinned / RELEASES).read_text()
        assert everpath("generate", "--check").code == 0
        (pinned / "pins.txt").rename(pinned / "digests.txt")
        assert everpath("release", "0.3.0", "-q", "--pin", "digests.txt").code == 0
        assert "\npins: ../digests.txt\n" in (pinned / RELEASES).read_text()
        assert everpath("generate", "--check").code == 0


def test_metadata_of_a_bundle_comes_from_the_source(everpath: Everpath, project: Path) -> None:
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


def test_what_a_killed_run_has_left_is_cleared_away_and_freezes_nothing(
    everpath: Everpath, project: Path
) -> None:
    everpath("generate")
    left = project / "bundles/acme/0.2.0/manifests/.acme.clusterserviceversion.yaml.123.new"
    left.write_text("half")
    assert everpath("generate", "--check").code == 1
    assert everpath("release", "0.3.0", "-q").code == 0
    left.unlink()
    assert everpath("generate", "--check").code == 0
    left = project / "bundles/acme/0.3.0/manifests/.acme.clusterserviceversion.yaml.123.old"
    left.write_text("half")
    assert everpath("generate").code == 0
    assert not left.exists()


def test_a_second_run_waits_for_the_first(
    everpath: Everpath, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")
    holder = os.open(project / "catalog", os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    real = fcntl.flock

    def flock(handle: int, how: int) -> None:
        if not how & fcntl.LOCK_NB:
            os.close(holder)
        real(handle, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    answer = everpath("generate")
    assert answer.err == "waiting for another everpath at work in catalog\n"
    assert (project / "bundles/acme/0.2.0").is_dir()


@pytest.mark.parametrize("looking", [("generate", "--check"), ("release", "0.3.0", "--dry-run")])
def test_runs_that_only_look_do_not_wait_for_each_other(
    everpath: Everpath, project: Path, looking: tuple[str, ...]
) -> None:
    fcntl = pytest.importorskip("fcntl")
    everpath("generate")
    holder = os.open(project / "catalog", os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_SH)
    answer = everpath(*looking)
    os.close(holder)
    assert "waiting" not in answer.err


def test_a_version_that_no_object_may_be_called_after_is_spelled_so_that_it_may(
    everpath: Everpath, project: Path
) -> None:
    everpath("generate")
    assert everpath("release", "0.3.0-RC.1+build.5", "-q").code == 0
    assert (
        catalog(project / "catalog/acme/catalog.yaml")["olm.bundle"][-1]["name"] == "acme.v0.3.0-rc.1-build.5"
    )
    assert everpath("generate", "--check").code == 0


def test_a_byte_order_mark_and_line_ends_stay(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    file = project / RELEASES
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert everpath("release", "0.3.0", "-q").code == 0
    text = file.read_bytes()
    assert text.startswith(b"\xef\xbb\xbfpackage: acme\r\n")
    assert text.count(b"\n") == text.count(b"\r\n")


def test_keys_of_the_author_may_hold_what_releases_share(everpath: Everpath, project: Path) -> None:
    write_releases(project, "- {version: 0.1.0, channels: *all}", "x-channels: &all [stable]\n")
    assert everpath("generate").code == 0


def test_json_says_what_became_of_every_file(everpath: Everpath, project: Path) -> None:
    def told(*arguments: str) -> dict[str, Any]:
        document = json.loads(everpath("generate", "-o", "json", *arguments).out)
        conforms("generate", document)
        return dict(document)

    assert told("--check")["state"] == "outOfDate"
    manifests = project / "operator/manifests.yaml"
    good = manifests.read_text()
    manifests.write_text(good.replace("displayName: Acme", "minKubeVersion: new"))
    refused = told()
    assert (refused["state"], bool(refused["findings"])) == ("refused", True)
    assert {finding["file"] for finding in refused["findings"]} == {
        f"bundles/acme/0.{n}.0/manifests/acme.clusterserviceversion.yaml" for n in (1, 2)
    }
    assert not (project / "bundles").exists()
    manifests.write_text(good)
    written = told()
    assert (written["state"], written["findings"]) == ("written", [])
    first = "bundles/acme/0.1.0/manifests/acme.clusterserviceversion.yaml"
    assert written["files"][0] == {"action": "add", "path": first}
    assert len(written["files"]) == 7
    assert told() == {"version": 1, "package": "acme", "state": "upToDate", "files": [], "findings": []}


class TestImages:
    """A release with the wrong image of the operator is refused, or warned of where it may be meant."""

    @pytest.mark.parametrize("at", ["top", "release"])
    def test_a_name_that_no_container_has_is_refused(self, everpath: Everpath, here: Path, at: str) -> None:
        write_operator(here)
        images = "images: {amce: example.com/acme}\n"
        own = "" if at == "top" else ", images: {amce: 'example.com/acme:v1'}"
        write_releases(
            here, f"    - {{version: 0.1.0, channels: [stable]{own}}}\n", images if at == "top" else ""
        )
        answer = everpath("generate")
        assert answer.code == 2
        line = 5 if at == "top" else 7
        assert f"catalog/releases.yaml:{line}: no container has an image called 'amce'" in answer.err
        assert "did you mean 'acme'? the manifests have acme: that is the key" in answer.err
        assert not (here / "bundles").exists()

    @pytest.mark.parametrize(
        ("image", "fault"),
        [
            ("acme:latest", "in no registry"),
            ("acme/acme:v1", "in no registry"),
            ("example.com/acme:latest", "which may be another tomorrow"),
            ("example.com:5000/acme", "which may be another tomorrow"),
        ],
    )
    def test_an_image_that_is_hardly_meant_is_warned_of(
        self, everpath: Everpath, here: Path, image: str, fault: str
    ) -> None:
        write_operator(here)
        manifests = here / "operator/manifests.yaml"
        manifests.write_text(manifests.read_text().replace("acme:latest", image))
        write_releases(here, TWO, "x-images: none\n")
        answer = everpath("generate")
        assert answer.code == 0
        assert f"warning: the operator's image is {image}, {fault}: say under `images:`" in answer.err

    @pytest.mark.parametrize("image", ["localhost/acme:v1", f"example.com/acme@sha256:{'a' * 64}"])
    def test_an_image_may_be_local_or_have_a_digest(self, everpath: Everpath, here: Path, image: str) -> None:
        write_operator(here)
        manifests = here / "operator/manifests.yaml"
        manifests.write_text(manifests.read_text().replace("acme:latest", image))
        write_releases(here, "    - {version: 0.1.0, channels: [stable]}\n", "x-images: none\n")
        assert everpath("generate").err == ""

    def test_a_release_with_the_image_of_the_last_one_is_warned_of(
        self, everpath: Everpath, here: Path
    ) -> None:
        write_operator(here)
        write_releases(here, TWO, "images: {acme: 'example.com/acme:v1'}\n")
        told = "warning: 0.2.0 has the operator's image of 0.1.0, example.com/acme:v1: an image without a tag"
        assert told in everpath("generate").err
        assert everpath("generate").err == ""
        told = "warning: 0.3.0 has the operator's image of 0.2.0, example.com/acme:v1"
        assert told in everpath("release", "0.3.0").err

    def test_a_catalog_without_images_is_warned_of(self, everpath: Everpath, project: Path) -> None:
        file = project / RELEASES
        file.write_text(file.read_text().replace("image: example.com/acme-bundle\n", ""))
        told = "warning: catalog/releases.yaml has no `image:`: the catalog names no image of the bundle"
        assert told in everpath("generate").err


class TestBundlesReadWithoutTheCatalog:
    """An operators repository of the same bundles leads everybody where the catalog does, where it can."""

    def test_they_are_the_graph_of_the_catalog(self, everpath: Everpath, here: Path) -> None:
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

    def test_somebody_s_own_file_is_kept(self, everpath: Everpath, project: Path) -> None:
        own = project / "bundles/acme/ci.yaml"
        own.parent.mkdir(parents=True)
        own.write_text("updateGraph: semver-mode\nreviewers: [me]\n")
        assert everpath("generate").code == 0
        assert own.read_text() == "updateGraph: semver-mode\nreviewers: [me]\n"
        own.rename(own.with_suffix(".yml"))
        assert everpath("generate").out.startswith("Nothing to write")

    def test_a_graph_that_strands_somebody_is_warned_of(self, everpath: Everpath, project: Path) -> None:
        everpath("generate")
        folder = project / "bundles/acme/0.2.0"
        csv = folder / "manifests/acme.clusterserviceversion.yaml"
        csv.write_text(csv.read_text().replace("  replaces: acme.v0.1.0\n", ""))
        more = "    - {version: 0.3.0, channels: [stable, fast], from: {replaces: 0.2.0}}\n"
        two = TWO.replace("0.1.0}}", f"0.1.0}}, bundle: {digest(files_below(folder))}}}")
        write_releases(project, two + more)
        answer = everpath("generate")
        assert answer.code == 0
        assert (
            "warning: read without the catalog, as an operators repository, the bundles strand" in answer.err
        )
        assert "`everpath compare catalog bundles` says whom" in answer.err
        assert everpath("compare", "catalog", "bundles").code == 1
