"""The operator's manifests, read from folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.bundlegen import Operator
from everpath.errors import UnreadableInput
from everpath.loaders.operator_manifests import read_operator
from everpath.loaders.sources import Sources

BASE = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: acme}\n"
ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: %s}\n"


def written(folder: Path, **texts: str | bytes) -> Operator:
    for name, text in {"base.yaml": BASE, **texts}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_operator([str(folder)], Sources())


def test_every_document_of_every_file_below_a_folder_is_read(tmp_path: Path) -> None:
    found = written(
        tmp_path, **{"rbac/two.yaml": f"{ROLE % 'a'}---\n{ROLE % 'b'}", "rbac/deep/c.yml": ROLE % "c"}
    )
    assert [role.name for role in found.roles] == ["a", "b", "c"]


def test_a_single_file_will_do(tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(f"{BASE}---\n{ROLE % 'a'}", encoding="utf-8")
    assert [role.name for role in read_operator([str(file)], Sources()).roles] == ["a"]


def test_hidden_files_and_kustomizations_are_passed_over(tmp_path: Path) -> None:
    hidden = {
        ".draft.yaml": "kind: [",
        "kustomization.yaml": "namePrefix: a-",
        "kustomizeconfig.yaml": "a: b",
    }
    assert written(tmp_path, **hidden).roles == ()


def test_what_a_plain_kustomization_does_not_list_is_left_out(tmp_path: Path) -> None:
    texts = {f"rbac/{name}.yaml": ROLE % name for name in "abc"} | {"rbac/deep/d.yaml": ROLE % "d"}
    listed = "kind: Kustomization\nresources: [a.yaml, ./deep/, ../elsewhere]\n"
    found = written(tmp_path, **texts, **{"rbac/kustomization.yaml": listed})
    assert [role.name for role in found.roles] == ["a", "d"]
    assert found.base.name == "acme"


@pytest.mark.parametrize("more", ["patches: [{path: b.yaml}]", "namePrefix: acme-"])
def test_a_kustomization_that_changes_things_leaves_nothing_out(tmp_path: Path, more: str) -> None:
    texts = {f"rbac/{name}.yaml": ROLE % name for name in "ab"}
    found = written(tmp_path, **texts, **{"rbac/kustomization.yml": f"{more}\nresources: [a.yaml]\n"})
    assert [role.name for role in found.roles] == ["a", "b"]


def test_a_kustomization_that_is_not_yaml_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"kustomization\.yaml:\d:\d+: not YAML"):
        written(tmp_path, **{"kustomization.yaml": "resources: ["})


def test_an_icon_needs_no_listing(tmp_path: Path) -> None:
    listed = {"kustomization.yaml": "resources: [base.yaml]"}
    assert written(tmp_path, **listed, **{"icon.png": b"\x89PNG\r\n\x1a\nrest"}).icon is not None


def test_text_that_is_not_yaml_is_named_by_file_line_and_column(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"bad\.yaml:6:\d+: not YAML"):
        written(tmp_path, **{"bad.yaml": f"{ROLE % 'a'}---\nkind: [\n"})


def test_a_document_that_is_no_manifest_is_named_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"values\.yaml:1: not a manifest") as refused:
        written(tmp_path, **{"values.yaml": "replicas: 1\n"})
    assert "patches and values" in str(refused.value.hint)


def test_an_icon_is_recognised_by_its_name_and_its_beginning(tmp_path: Path) -> None:
    found = written(tmp_path, **{"icon.png": b"\x89PNG\r\n\x1a\nrest"})
    assert found.icon is not None
    assert found.icon.media_type == "image/png"


def test_a_picture_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"icon\.png: not a picture"):
        written(tmp_path, **{"icon.png": b"<html>"})


def test_two_icons_are_one_too_many(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="an operator has one icon"):
        written(tmp_path, **{"icon.png": b"\x89PNG\r\n\x1a\n", "more/icon.svg": b"<svg/>"})


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="nowhere"):
        read_operator([str(tmp_path / "nowhere")], Sources())


SCORECARD = """\
apiVersion: scorecard.operatorframework.io/v1alpha3
kind: Configuration
metadata: {name: config}
stages: [{parallel: true, tests: []}]
"""


def test_tests_that_patches_add_to_a_scorecard_are_in_it(tmp_path: Path) -> None:
    patch = "- {op: add, path: /stages/0/tests/-, value: {image: %s}}\n"
    elsewhere = "- {op: add, path: /stages/7/tests/-, value: {image: c}}\n"
    found = written(
        tmp_path,
        **{"bases/config.yaml": SCORECARD, "patches/a.yaml": patch % "a", "patches/b.yaml": patch % "b"},
        **{"patches/c.yaml": elsewhere},
    )
    [scorecard] = found.scorecard
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
def test_any_other_patch_is_refused(tmp_path: Path, patch: str) -> None:
    with pytest.raises(UnreadableInput, match=r"patch\.yaml:1: not a manifest"):
        written(tmp_path, **{"config.yaml": SCORECARD, "patch.yaml": patch})
