"""`everpath generate`: errors in the input and in generated files."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.support.commandline import Everpath
from tests.support.everpath.projects import RELEASES, tree, write_operator, write_releases

TWO = """
    - {version: 0.1.0, channels: [stable]}
    - {version: 0.2.0, channels: [stable, fast], from: {replaces: 0.1.0}}
"""
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


@pytest.fixture
def project(here: Path) -> Path:
    write_operator(here)
    write_releases(here, TWO)
    return here


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
    what = "is missing: it was released" if is_gone else "has changed since it was released"
    assert f"error: bundles/acme/0.1.0 {what} (catalog/releases.yaml:" in answer.err
    assert "restore it with git, and release changes as a new version" in answer.err
    assert tree(project) == before


def test_an_incomplete_bundle_is_an_error(everpath: Everpath, project: Path) -> None:
    everpath("generate")
    shutil.rmtree(project / "bundles/acme/0.1.0/metadata")
    before = tree(project)
    answer = everpath("release", "0.3.0")
    assert answer.code == 2
    assert "bundles/acme/0.1.0 is incomplete: it has no metadata folder" in answer.err
    assert tree(project) == before


def test_a_release_without_a_bundle_is_an_error_with_the_folder(everpath: Everpath, project: Path) -> None:
    text = (project / RELEASES).read_text().replace("operator: ../operator\n", "")
    (project / RELEASES).write_text(text)
    answer = everpath("generate")
    assert answer.code == 2
    assert "catalog/releases.yaml:7: there is no bundle of 0.1.0" in answer.err
    assert "put it into bundles/acme/0.1.0" in answer.err


def test_a_bundle_that_cannot_be_rendered_is_an_error_with_its_line(
    everpath: Everpath, project: Path
) -> None:
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


def test_a_catalog_that_cannot_be_read_is_an_error_with_its_line(everpath: Everpath, project: Path) -> None:
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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "{type: AllNamespaces, supported: true}",
            "AllNamespaces",
            "it is generated from operator/manifests.yaml",
        ),
        (
            "0.1.0, channels: [stable]",
            "0.1.0, channels: [stable], dependencies: [{type: olm.gvk, value: 3}]",
            "it is generated from catalog/releases.yaml",
        ),
    ],
)
def test_a_bundle_that_opm_rejects_is_reported_with_its_origin(
    everpath: Everpath, project: Path, old: str, new: str, message: str
) -> None:
    for file in (project / "operator/manifests.yaml", project / RELEASES):
        file.write_text(file.read_text().replace(old, new))
    answer = everpath("generate")
    assert answer.code == 2
    assert message in answer.err


def test_a_bundle_image_with_a_tag_is_an_error(everpath: Everpath, project: Path) -> None:
    file = project / RELEASES
    file.write_text(file.read_text().replace("example.com/acme-bundle", "example.com/acme-bundle:latest"))
    answer = everpath("generate")
    assert answer.code == 2
    assert "every release would have the same bundle image example.com/acme-bundle:latest" in answer.err
    assert "remove its tag" in answer.err


def test_a_catalog_without_a_release_is_a_warning(everpath: Everpath, project: Path) -> None:
    write_releases(project, TWO, "catalogs: [{name: old}, {name: new, releases: '>=1.0.0'}]\n")
    answer = everpath("generate")
    assert answer.code == 0
    assert answer.err == (
        "warning: catalog/releases.yaml:6: no release is in the catalog 'new'; it is not written\n"
    )


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
class TestManifestsBehindSymbolicLinks:
    """Links among the manifests are followed, and a broken link is an error."""

    def test_a_linked_folder_is_loaded(self, everpath: Everpath, project: Path) -> None:
        (project / "operator").rename(project / "elsewhere")
        (project / "operator").mkdir()
        (project / "operator/linked").symlink_to("../elsewhere")
        assert everpath("generate").code == 0

    @pytest.mark.parametrize(
        ("name", "target", "message"),
        [
            ("rbac.yaml", "nowhere", "cannot read operator/rbac.yaml"),
            ("icon.png", "nowhere", "cannot read operator/icon.png"),
            ("again", ".", "operator/again is a link to a folder that it is in"),
        ],
    )
    def test_a_broken_or_circular_link_is_an_error(
        self, everpath: Everpath, project: Path, name: str, target: str, message: str
    ) -> None:
        (project / "operator" / name).symlink_to(target)
        answer = everpath("generate")
        assert answer.code == 3
        assert message in answer.err


def test_an_icon_of_an_unsupported_type_is_an_error(everpath: Everpath, project: Path) -> None:
    (project / "operator/icon.webp").write_bytes(b"RIFF")
    answer = everpath("generate")
    assert answer.code == 3
    assert "save it as one of icon.svg, icon.png" in answer.err


class TestGeneratedFilesAreChecked:
    """With an error of `bundle validate` or `validate-graph`, nothing is written."""

    def test_a_bundle_with_an_error_is_not_written(self, everpath: Everpath, project: Path) -> None:
        manifests = project / "operator/manifests.yaml"
        manifests.write_text(manifests.read_text().replace("displayName: Acme", "minKubeVersion: new"))
        before = tree(project)
        answer = everpath("generate")
        assert answer.code == 1
        assert "error[EP" in answer.out
        assert "--> bundles/acme/0.2.0/manifests/acme.clusterserviceversion.yaml:" in answer.out
        assert "minKubeVersion" in answer.out
        assert "it is generated from operator/manifests.yaml\n" in answer.out
        assert answer.err == "error: nothing was written, because the files would have the errors above\n"
        assert tree(project) == before
        assert everpath("release", "0.3.0").code == 1
        assert tree(project) == before

    def test_a_waived_finding_does_not_fail(self, everpath: Everpath, project: Path) -> None:
        manifests = project / "operator/manifests.yaml"
        manifests.write_text(manifests.read_text().replace("displayName: Acme", "minKubeVersion: new"))
        told = everpath("generate").out
        rules = sorted(set(re.findall(r"error\[(EP\d+) ", told)))
        waivers = "".join(f"  - {{rule: {rule}, reason: a test}}\n" for rule in rules)
        (project / "everpath.yaml").write_text(f"waivers:\n{waivers}")
        assert everpath("generate").code == 0
        assert everpath("generate", "--no-config").out.startswith("All files are up to date")

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

    def test_findings_of_the_catalog_on_disk_do_not_fail(self, everpath: Everpath, here: Path) -> None:
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

    def test_an_upgrade_that_breaks_existing_objects_is_not_written(
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
