"""Access to values of manifests."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.manifest_access import as_string, items_at, value_at
from everpath.model import Place
from everpath.model.bundle_contents import BundleFolder, Contents, Manifest, PackageManifest

BODY: dict[str, Any] = {
    "a": {"b": [{"c": 1}, "d"]},
    "Kind": "x",
    "kind": "y",
    "only": {"Upper": 2},
    "n": None,
}


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("a", "b", 0, "c"), 1),
        (("a", "b", 1), "d"),
        (("kind",), "y"),
        (("Kind",), "x"),
        (("ONLY", "upper"), 2),
        ((), BODY),
    ],
)
def test_value_is_found_in_any_case_and_an_exact_key_first(way: tuple[str | int, ...], value: object) -> None:
    assert value_at(BODY, *way) == value


@pytest.mark.parametrize(
    "way",
    [("z",), ("a", "b", 2), ("a", "b", "c"), ("a", 0), ("n", "a"), ("kind", "a"), ("kind", 0), ("z", "z", 0)],
)
def test_missing_path_has_no_value(way: tuple[str | int, ...]) -> None:
    assert value_at(BODY, *way) is None


def test_key_that_is_not_a_string_is_ignored() -> None:
    assert value_at({1: "a", None: "b", "X": "c"}, "x") == "c"
    assert value_at({1: "a"}, "1") is None


def test_items_have_an_index_and_other_values_have_no_items() -> None:
    assert list(items_at(BODY, "a", "b")) == [(0, {"c": 1}), (1, "d")]
    assert list(items_at(BODY, "a")) == list(items_at(BODY, "z")) == []


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("a", "a"),
        (1, "1"),
        (1.5, "1.5"),
        (True, "true"),
        (False, "false"),
        (None, ""),
        ([], ""),
        ({"a": 1}, ""),
    ],
)
def test_scalar_becomes_a_string_as_in_kubernetes(value: object, read: str) -> None:
    assert as_string(value) == read


def folder(annotations: dict[str, Any] | None = None, **csv: Any) -> BundleFolder:
    body = {"kind": "ClusterServiceVersion", **csv}
    manifests = (Manifest(Place("csv.yaml"), body),) if csv else ()
    return BundleFolder(Contents("f", Place("f"), manifests, annotations))


def test_bundle_has_the_name_of_its_csv_and_the_package_of_its_annotations() -> None:
    key = "operators.operatorframework.io.bundle.package.v1"
    made = folder({key: "acme"}, metadata={"name": "acme.v1"})
    assert (made.package, made.name) == ("acme", "acme.v1")
    assert made.csv is made.contents.csv
    unnamed = folder({key: ""}, metadata={})
    assert (unnamed.package, unnamed.name) == (None, None)
    empty = folder()
    assert (empty.package, empty.name, empty.csv) == (None, None, None)


def test_kube_version_is_empty_by_default() -> None:
    assert folder().kube_version == ""


def test_package_manifest_can_lack_a_name() -> None:
    place = Place("p.yaml")
    assert PackageManifest(place, {"packageName": "acme"}).package == "acme"
    assert PackageManifest(place, {"packageName": ""}).package is None
    assert PackageManifest(place, {}).package is None
