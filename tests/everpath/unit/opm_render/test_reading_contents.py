"""Which files belong to a bundle, by the rules of opm."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.model.bundle_contents import Contents
from tests.support.everpath.bundles import csv, write
from tests.support.everpath.rendered_catalogs import bundle_files

_PACKAGE = "operators.operatorframework.io.bundle.package.v1"


def contents(root: Path, more: Mapping[str, str]) -> Contents:
    """A bundle with additional or replaced files."""
    return load_bundle_contents(str(write(root / "bundle", {**bundle_files(), **more})))


def kinds(bundle: Contents) -> list[str]:
    return [problem.kind for problem in bundle.problems]


def test_manifests_are_sorted_by_file_and_have_places(tmp_path: Path) -> None:
    bundle = contents(tmp_path, {"manifests/a.yaml": "kind: Service\nmetadata: {name: s}\n"})
    assert [m.kind for m in bundle.manifests] == [
        "Service",
        "CustomResourceDefinition",
        "ClusterServiceVersion",
    ]
    assert bundle.manifests[0].place.file == str(tmp_path / "bundle/manifests/a.yaml")
    assert bundle.manifests[0].name == "s"
    assert kinds(bundle) == []


def test_hidden_files_and_subfolders_are_ignored(tmp_path: Path) -> None:
    bundle = contents(
        tmp_path, {"manifests/.hidden.yaml": "kind: Secret\n", "manifests/deep/x.yaml": "kind: Secret\n"}
    )
    assert bundle.of_kind("Secret") == ()


def test_only_the_first_document_of_a_file_counts(tmp_path: Path) -> None:
    bundle = contents(tmp_path, {"manifests/a.yaml": "---\nkind: Service\n---\nkind: Secret\n"})
    assert bundle.manifests[0].kind == "Service"
    assert bundle.of_kind("Secret") == ()


def test_a_comment_before_the_first_separator_is_an_empty_first_document(
    tmp_path: Path,
) -> None:
    bundle = contents(tmp_path, {"manifests/a.yaml": "# licence\n---\nkind: Service\n"})
    assert bundle.of_kind("Service") == ()
    assert kinds(bundle) == ["unreadable-document"]


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "kind: ''",
        "a: 1",
        "kind: [a]",
        "kind: A\napiVersion: a/b/c",
        "text",
        "a: [",
        "\x00",
        "{",
        "--- x\nkind: A",
    ],
)
def test_a_file_that_is_not_a_manifest_is_a_problem(tmp_path: Path, text: str) -> None:
    bundle = contents(tmp_path, {"manifests/a.yaml": text})
    assert len(bundle.manifests) == 2
    assert [problem.place.file for problem in bundle.problems] == [str(tmp_path / "bundle/manifests/a.yaml")]


def test_a_second_csv_is_ignored_and_is_a_problem(tmp_path: Path) -> None:
    bundle = contents(tmp_path, {"manifests/zz.yaml": csv("op.v2.0.0")})
    assert bundle.csv is not None
    assert bundle.csv.name == "op.v1.0.0"
    assert [m.name for m in bundle.objects if m.kind == "ClusterServiceVersion"] == ["op.v1.0.0"]
    assert kinds(bundle) == ["several-csvs"]


def test_metadata_files_are_recognised_by_their_contents(tmp_path: Path) -> None:
    bundle = contents(
        tmp_path,
        {
            "metadata/annotations.yaml": "# nothing\n",
            "metadata/zz.txt": f"annotations:\n  {_PACKAGE}: named\nproperties: [{{type: t, value: 1}}]\n",
        },
    )
    assert bundle.annotation(_PACKAGE) == "named"
    assert [(p.type, p.value) for p in bundle.properties] == [("t", 1)]


def test_the_first_file_with_annotations_is_used_even_if_it_is_hidden(tmp_path: Path) -> None:
    assert (
        contents(tmp_path, {"metadata/.a.yaml": f"annotations: {{{_PACKAGE}: first}}"}).annotation(_PACKAGE)
        == "first"
    )


@pytest.mark.parametrize(
    ("written", "expected"), [("5", "5"), ("1.50", "1.5"), ("on", "true"), ("1e7", "1e+07"), ("0.1", "0.1")]
)
def test_a_scalar_annotation_is_converted_to_a_string(tmp_path: Path, written: str, expected: str) -> None:
    bundle = contents(tmp_path, {"metadata/annotations.yaml": f"annotations:\n  {_PACKAGE}: {written}\n"})
    assert bundle.annotation(_PACKAGE) == expected


@pytest.mark.parametrize("value", ["[op]", "{a: b}"])
def test_annotations_that_are_not_scalars_are_ignored(tmp_path: Path, value: str) -> None:
    bundle = contents(tmp_path, {"metadata/annotations.yaml": f"annotations:\n  {_PACKAGE}: {value}\n"})
    assert bundle.annotations is None
    assert kinds(bundle) == ["no-annotations"]


def test_keys_of_values_are_sorted_unless_they_are_written_in_json(tmp_path: Path) -> None:
    def order(text: str) -> list[str]:
        value: Any = contents(tmp_path, {"metadata/properties.yaml": text}).properties[0].value
        return list(value)

    assert order("properties: [{type: t, value: {b: 1, a: 2}}]") == ["a", "b"]
    assert order('{"properties": [{"type": "t", "value": {"b": 1, "a": 2}}]}') == ["b", "a"]


def test_a_property_without_a_value_is_distinguished_from_null(tmp_path: Path) -> None:
    bundle = contents(
        tmp_path, {"metadata/properties.yaml": "properties: [{type: a}, {type: b, value: null}]"}
    )
    assert [p.place in bundle.valueless for p in bundle.properties] == [True, False]


def test_a_missing_newline_at_the_end_of_a_file_is_added(tmp_path: Path) -> None:
    bundle = contents(tmp_path, {"manifests/a.yaml": "kind: Service\nspec:\n  text: |\n    end"})
    assert bundle.manifests[0].spec == {"text": "end\n"}


def test_a_folder_without_manifests_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="no manifests folder"):
        load_bundle_contents(str(tmp_path))


def test_an_empty_bundle_has_problems(tmp_path: Path) -> None:
    bundle = load_bundle_contents(str(write(tmp_path / "b", {"manifests/.keep": "", "metadata/.keep": ""})))
    assert kinds(bundle) == ["no-csv", "no-annotations"]
    assert bundle.csv is None


def test_manifests_and_metadata_can_be_in_one_folder(tmp_path: Path) -> None:
    files = {name.rpartition("/")[2]: text for name, text in bundle_files().items()}
    bundle = load_bundle_contents(str(write(tmp_path / "flat", files)))
    assert [m.kind for m in bundle.manifests] == ["CustomResourceDefinition", "ClusterServiceVersion"]
    assert bundle.annotation(_PACKAGE) == "op"
    assert kinds(bundle) == []
