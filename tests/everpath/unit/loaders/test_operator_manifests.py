"""Loading the operator's manifests from folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.bundlegen import OperatorManifests
from everpath.errors import UnreadableInput
from everpath.loaders.operator_manifests import load_operator_manifests
from everpath.loaders.sources import Sources

BASE = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: acme}\n"
ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: %s}\n"


def load_files(folder: Path, **texts: str | bytes) -> OperatorManifests:
    for name, text in {"base.yaml": BASE, **texts}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_operator_manifests([str(folder)], Sources())


def test_all_documents_of_all_files_in_a_folder_are_loaded(tmp_path: Path) -> None:
    operator = load_files(
        tmp_path, **{"rbac/two.yaml": f"{ROLE % 'a'}---\n{ROLE % 'b'}", "rbac/deep/c.yml": ROLE % "c"}
    )
    assert [role.name for role in operator.roles] == ["a", "b", "c"]


def test_a_single_file_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(f"{BASE}---\n{ROLE % 'a'}", encoding="utf-8")
    assert [role.name for role in load_operator_manifests([str(file)], Sources()).roles] == ["a"]


def test_hidden_files_and_kustomizations_are_ignored(tmp_path: Path) -> None:
    hidden = {
        ".draft.yaml": "kind: [",
        "kustomization.yaml": "namePrefix: a-",
        "kustomizeconfig.yaml": "a: b",
    }
    assert load_files(tmp_path, **hidden).roles == ()


def test_files_that_a_plain_kustomization_does_not_list_are_ignored(tmp_path: Path) -> None:
    texts = {f"rbac/{name}.yaml": ROLE % name for name in "abc"} | {"rbac/deep/d.yaml": ROLE % "d"}
    kustomization = "kind: Kustomization\nresources: [a.yaml, ./deep/, ../elsewhere]\n"
    operator = load_files(tmp_path, **texts, **{"rbac/kustomization.yaml": kustomization})
    assert [role.name for role in operator.roles] == ["a", "d"]
    assert operator.base.name == "acme"


@pytest.mark.parametrize("more", ["patches: [{path: b.yaml}]", "namePrefix: acme-"])
def test_all_files_are_loaded_if_the_kustomization_changes_something(tmp_path: Path, more: str) -> None:
    texts = {f"rbac/{name}.yaml": ROLE % name for name in "ab"}
    operator = load_files(tmp_path, **texts, **{"rbac/kustomization.yml": f"{more}\nresources: [a.yaml]\n"})
    assert [role.name for role in operator.roles] == ["a", "b"]


def test_an_invalid_kustomization_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"kustomization\.yaml:\d:\d+: not YAML"):
        load_files(tmp_path, **{"kustomization.yaml": "resources: ["})


def test_an_icon_is_loaded_without_being_listed(tmp_path: Path) -> None:
    kustomization = {"kustomization.yaml": "resources: [base.yaml]"}
    assert load_files(tmp_path, **kustomization, **{"icon.png": b"\x89PNG\r\n\x1a\nrest"}).icon is not None


def test_invalid_yaml_is_reported_with_file_line_and_column(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"bad\.yaml:6:\d+: not YAML"):
        load_files(tmp_path, **{"bad.yaml": f"{ROLE % 'a'}---\nkind: [\n"})


def test_a_document_that_is_not_a_manifest_is_reported_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"values\.yaml:1: not a manifest") as refused:
        load_files(tmp_path, **{"values.yaml": "replicas: 1\n"})
    assert "patches and values" in str(refused.value.hint)


def test_an_icon_is_recognised_by_name_and_content(tmp_path: Path) -> None:
    operator = load_files(tmp_path, **{"icon.png": b"\x89PNG\r\n\x1a\nrest"})
    assert operator.icon is not None
    assert operator.icon.media_type == "image/png"


def test_an_invalid_icon_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"icon\.png: not a picture"):
        load_files(tmp_path, **{"icon.png": b"<html>"})


def test_two_icons_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="an operator has one icon"):
        load_files(tmp_path, **{"icon.png": b"\x89PNG\r\n\x1a\n", "more/icon.svg": b"<svg/>"})


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="nowhere"):
        load_operator_manifests([str(tmp_path / "nowhere")], Sources())


SCORECARD = """\
apiVersion: scorecard.operatorframework.io/v1alpha3
kind: Configuration
metadata: {name: config}
stages: [{parallel: true, tests: []}]
"""


def test_patches_add_tests_to_the_scorecard(tmp_path: Path) -> None:
    patch = "- {op: add, path: /stages/0/tests/-, value: {image: %s}}\n"
    elsewhere = "- {op: add, path: /stages/7/tests/-, value: {image: c}}\n"
    operator = load_files(
        tmp_path,
        **{"bases/config.yaml": SCORECARD, "patches/a.yaml": patch % "a", "patches/b.yaml": patch % "b"},
        **{"patches/c.yaml": elsewhere},
    )
    [scorecard] = operator.scorecard
    assert scorecard.body["stages"] == [{"parallel": True, "tests": [{"image": "a"}, {"image": "b"}]}]


@pytest.mark.parametrize(
    "patch",
    [
        "- {op: add, path: /spec/replicas, value: 2}",
        "- {op: remove, path: /stages/0/tests/-}",
        "- {op: add, path: /stages/0/tests/-, value: {}}\n- {op: remove, path: /stages/0}",
        "[]",
    ],
)
def test_other_patches_are_refused(tmp_path: Path, patch: str) -> None:
    with pytest.raises(UnreadableInput, match=r"patch\.yaml:1: not a manifest"):
        load_files(tmp_path, **{"config.yaml": SCORECARD, "patch.yaml": patch})
