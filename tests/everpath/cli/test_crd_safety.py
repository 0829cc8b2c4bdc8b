"""`validate-graph --bundles`: the CRDs of the two versions of each upgrade."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from everpath.file_cache import FileCache
from tests.support.commandline import Everpath
from tests.support.everpath.cache_folders import much_later

CSV = """apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: acme.v%s}
spec: {version: %s%s}
"""
ANNOTATIONS = """annotations:
  operators.operatorframework.io.bundle.package.v1: acme
  operators.operatorframework.io.bundle.channels.v1: stable
"""
CRD = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: caches.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: caches, kind: Cache}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {%s}}}
"""
CATALOG = """---
schema: olm.package
name: acme
defaultChannel: stable
---
schema: olm.channel
package: acme
name: stable
entries:
- name: acme.v1.0.0
- {name: acme.v2.0.0, replaces: acme.v1.0.0}
"""
BUNDLE = """---
schema: olm.bundle
package: acme
name: acme.v%(v)s
image: registry.example/acme:v%(v)s
properties: [{type: olm.package, value: {packageName: acme, version: %(v)s}}]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalog and two bundles; the CRD of the second lacks a field of the first."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "catalog").mkdir()
    both = "".join(BUNDLE % {"v": v} for v in ("1.0.0", "2.0.0"))
    (tmp_path / "catalog/catalog.yaml").write_text(CATALOG + both, encoding="utf-8")
    bundle(tmp_path, "1.0.0", "", "size: {type: integer}, unit: {type: string}")
    bundle(tmp_path, "2.0.0", ", replaces: acme.v1.0.0", "size: {type: integer}")
    return tmp_path


def bundle(root: Path, version: str, edges: str, fields: str) -> None:
    folder = root / "bundles/acme" / version
    texts = {
        "manifests/acme.clusterserviceversion.yaml": CSV % (version, version, edges),
        "manifests/caches.yaml": CRD % fields,
        "metadata/annotations.yaml": ANNOTATIONS,
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def test_field_removed_by_an_upgrade_is_reported_with_its_line(project: Path, everpath: Everpath) -> None:
    done = everpath("validate-graph", "catalog", "--bundles", "bundles", "-o", "concise")
    assert done.code == 1
    assert done.out.startswith("bundles/acme/2.0.0/manifests/caches.yaml:12:")
    assert "EP702" in done.out
    assert "acme.v1.0.0 to acme.v2.0.0: caches.example.com v1: the field unit is removed" in done.out


def test_crds_are_not_checked_without_bundles(project: Path, everpath: Everpath) -> None:
    assert everpath("validate-graph", "catalog").code == 0


def test_the_finding_can_be_waived(project: Path, everpath: Everpath) -> None:
    waiver = "waivers: [{rule: field-removed, package: acme, reason: no object has the field}]"
    (project / "everpath.yaml").write_text(waiver, encoding="utf-8")
    assert everpath("validate-graph", "catalog", "--bundles", "bundles").code == 0


def test_upgrades_of_one_olm_version_can_be_selected(project: Path, everpath: Everpath) -> None:
    both = everpath("validate-graph", "catalog", "--bundles", "bundles").out
    assert "OLM v0 selects this hop in stable" in both
    assert "OLM v1 selects this hop in stable" in both
    one = everpath("validate-graph", "catalog", "--bundles", "bundles", "--olm", "v1").out
    assert "OLM v0 selects" not in one


def test_response_of_each_olm_version_is_reported(project: Path, everpath: Everpath) -> None:
    out = everpath("validate-graph", "catalog", "--bundles", "bundles").out
    assert "OLM v0 selects this hop in stable, and carries it out" in out
    assert "OLM v1 selects this hop in stable, and refuses it" in out


def test_changed_description_is_a_warning_about_olm_v1(project: Path, everpath: Everpath) -> None:
    bundle(project, "1.0.0", "", "size: {type: integer}")
    bundle(project, "2.0.0", ", replaces: acme.v1.0.0", "size: {type: integer, description: how many}")
    asked = "validate-graph", "catalog", "--bundles", "bundles", "-o", "concise"
    done = everpath(*asked)
    assert done.code == 0
    assert "EP710 warning" in done.out
    assert "OLM v1 does not recognise these changes as safe: size (description)" in done.out
    assert "EP710" not in everpath(*asked, "--olm", "v0").out


def test_a_folder_without_bundles_is_an_error_and_not_a_clean_catalog(
    project: Path, everpath: Everpath
) -> None:
    done = everpath("validate-graph", "catalog", "--bundles", "catalog")
    assert done.code == 3
    assert "there is no bundle in catalog" in done.err


def test_unreadable_crd_is_reported_with_file_and_line(project: Path, everpath: Everpath) -> None:
    (project / "bundles/acme/2.0.0/manifests/caches.yaml").write_text(
        "kind: CustomResourceDefinition\nspec: [\n", encoding="utf-8"
    )
    done = everpath("validate-graph", "catalog", "--bundles", "bundles")
    assert done.code == 3
    assert "2.0.0/manifests/caches.yaml:3: not YAML" in done.err


def test_cached_findings_are_not_used_after_a_crd_has_changed(
    project: Path, everpath: Everpath, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = FileCache(project / "cache", clock=much_later)
    monkeypatch.setattr("everpath.app.inputs.inputs._file_cache", lambda: cache)
    shutil.copytree("bundles", "operators")
    judge = ("validate-graph", "operators", "--bundles", "bundles", "--select", "EP702")
    bundle(project, "2.0.0", "", "size: {type: integer}, unit: {type: string}")
    assert everpath(*judge).code == 0
    bundle(project, "2.0.0", "", "size: {type: integer}")
    assert everpath(*judge).code == 1
