"""Which files make a bundle, by the rules opm loads one with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bundles import csv, write
from everpath.errors import UnreadableInput
from everpath.loaders.bundle.contents import read_contents
from everpath.model.bundle_contents import Contents
from rendered import bundle_files

_PACKAGE = "operators.operatorframework.io.bundle.package.v1"


def contents(root: Path, more: Mapping[str, str]) -> Contents:
    """A bundle with further files, or with others."""
    return read_contents(str(write(root / "bundle", {**bundle_files(), **more})))


def kinds(found: Contents) -> list[str]:
    return [problem.kind for problem in found.problems]


def test_manifests_come_in_the_order_of_their_files_with_their_places(tmp_path: Path) -> None:
    found = contents(tmp_path, {"manifests/a.yaml": "kind: Service\nmetadata: {name: s}\n"})
    assert [m.kind for m in found.manifests] == [
        "Service",
        "CustomResourceDefinition",
        "ClusterServiceVersion",
    ]
    assert found.manifests[0].place.file == str(tmp_path / "bundle/manifests/a.yaml")
    assert found.manifests[0].name == "s"
    assert kinds(found) == []


def test_hidden_files_and_folders_are_no_manifests(tmp_path: Path) -> None:
    found = contents(
        tmp_path, {"manifests/.hidden.yaml": "kind: Secret\n", "manifests/deep/x.yaml": "kind: Secret\n"}
    )
    assert found.of_kind("Secret") == ()


def test_only_the_first_document_of_a_file_counts(tmp_path: Path) -> None:
    found = contents(tmp_path, {"manifests/a.yaml": "---\nkind: Service\n---\nkind: Secret\n"})
    assert found.manifests[0].kind == "Service"
    assert found.of_kind("Secret") == ()


def test_a_header_of_comments_before_a_separator_is_the_first_document_and_the_file_is_dropped(
    tmp_path: Path,
) -> None:
    found = contents(tmp_path, {"manifests/a.yaml": "# licence\n---\nkind: Service\n"})
    assert found.of_kind("Service") == ()
    assert kinds(found) == ["unreadable-document"]


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
def test_what_is_no_manifest_is_a_problem_at_its_file(tmp_path: Path, text: str) -> None:
    found = contents(tmp_path, {"manifests/a.yaml": text})
    assert len(found.manifests) == 2
    assert [problem.place.file for problem in found.problems] == [str(tmp_path / "bundle/manifests/a.yaml")]


def test_of_two_csvs_the_first_counts_and_the_second_is_a_problem(tmp_path: Path) -> None:
    found = contents(tmp_path, {"manifests/zz.yaml": csv("op.v2.0.0")})
    assert found.csv is not None
    assert found.csv.name == "op.v1.0.0"
    assert [m.name for m in found.objects if m.kind == "ClusterServiceVersion"] == ["op.v1.0.0"]
    assert kinds(found) == ["several-csvs"]


def test_metadata_is_told_by_what_it_holds_not_by_its_name(tmp_path: Path) -> None:
    found = contents(
        tmp_path,
        {
            "metadata/annotations.yaml": "# nothing\n",
            "metadata/zz.txt": f"annotations:\n  {_PACKAGE}: named\nproperties: [{{type: t, value: 1}}]\n",
        },
    )
    assert found.annotation(_PACKAGE) == "named"
    assert [(p.type, p.value) for p in found.properties] == [("t", 1)]


def test_the_first_file_with_annotations_wins_hidden_ones_included(tmp_path: Path) -> None:
    assert (
        contents(tmp_path, {"metadata/.a.yaml": f"annotations: {{{_PACKAGE}: first}}"}).annotation(_PACKAGE)
        == "first"
    )


@pytest.mark.parametrize(
    ("written", "read"), [("5", "5"), ("1.50", "1.5"), ("on", "true"), ("1e7", "1e+07"), ("0.1", "0.1")]
)
def test_a_scalar_where_a_string_is_wanted_becomes_one(tmp_path: Path, written: str, read: str) -> None:
    found = contents(tmp_path, {"metadata/annotations.yaml": f"annotations:\n  {_PACKAGE}: {written}\n"})
    assert found.annotation(_PACKAGE) == read


@pytest.mark.parametrize("value", ["[op]", "{a: b}"])
def test_annotations_that_are_no_strings_are_none(tmp_path: Path, value: str) -> None:
    found = contents(tmp_path, {"metadata/annotations.yaml": f"annotations:\n  {_PACKAGE}: {value}\n"})
    assert found.annotations is None
    assert kinds(found) == ["no-annotations"]


def test_values_are_sorted_unless_they_are_written_in_json(tmp_path: Path) -> None:
    def order(text: str) -> list[str]:
        value: Any = contents(tmp_path, {"metadata/properties.yaml": text}).properties[0].value
        return list(value)

    assert order("properties: [{type: t, value: {b: 1, a: 2}}]") == ["a", "b"]
    assert order('{"properties": [{"type": "t", "value": {"b": 1, "a": 2}}]}') == ["b", "a"]


def test_a_property_without_a_value_is_known_from_one_that_is_null(tmp_path: Path) -> None:
    found = contents(
        tmp_path, {"metadata/properties.yaml": "properties: [{type: a}, {type: b, value: null}]"}
    )
    assert [p.place in found.valueless for p in found.properties] == [True, False]


def test_the_last_line_of_a_file_ends_whether_it_says_so_or_not(tmp_path: Path) -> None:
    found = contents(tmp_path, {"manifests/a.yaml": "kind: Service\nspec:\n  text: |\n    end"})
    assert found.manifests[0].spec == {"text": "end\n"}


def test_a_folder_without_manifests_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="no manifests folder"):
        read_contents(str(tmp_path))


def test_a_bundle_with_nothing_in_it_has_problems_and_no_traceback(tmp_path: Path) -> None:
    found = read_contents(str(write(tmp_path / "b", {"manifests/.keep": "", "metadata/.keep": ""})))
    assert kinds(found) == ["no-csv", "no-annotations"]
    assert found.csv is None


def test_manifests_and_metadata_may_share_a_folder_in_which_names_tell_them_apart(tmp_path: Path) -> None:
    files = {name.rpartition("/")[2]: text for name, text in bundle_files().items()}
    found = read_contents(str(write(tmp_path / "flat", files)))
    assert [m.kind for m in found.manifests] == ["CustomResourceDefinition", "ClusterServiceVersion"]
    assert found.annotation(_PACKAGE) == "op"
    assert kinds(found) == []
