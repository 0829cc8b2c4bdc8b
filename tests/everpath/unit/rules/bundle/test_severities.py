"""Severities that depend on more than the rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from everpath.loaders.bundle.bundle_folder import ValidationTarget
from everpath.model import Place
from tests.support.everpath.bundle_faults import FAULTS
from tests.support.everpath.bundle_folders import CSV, Files, good_bundle, lay_out, lint_folder

EDITS: dict[str, Callable[[Files], None]] = {fault.name: fault.edit for fault in FAULTS}


def severities(folder: Path, rule: str, *names: str, **surroundings: Any) -> list[str]:
    files = good_bundle()
    for name in names:
        EDITS[name](files)
    around = ValidationTarget()._replace(**surroundings)
    return [f.severity.word for f in lint_folder(lay_out(files, folder), around) if f.rule == rule]


def test_a_bundle_near_the_limit_is_a_warning_and_one_above_it_an_error(tmp_path: Path) -> None:
    assert severities(tmp_path / "a", "EP657", "a bundle that is nearly too large") == ["warning"]
    assert severities(tmp_path / "b", "EP657", "a bundle that is too large") == ["error"]


def test_a_removed_api_is_an_error_for_clusters_that_removed_it(tmp_path: Path) -> None:
    old = "an old CRD"
    assert severities(tmp_path / "a", "EP669", old) == ["error"]
    assert severities(tmp_path / "b", "EP669", old, "no minKubeVersion") == ["warning"]
    assert severities(tmp_path / "c", "EP669", old, "no minKubeVersion", kube_version="1.22") == ["error"]
    assert severities(tmp_path / "d", "EP669", old, "no minKubeVersion", kube_version="1.21") == ["warning"]


def test_permission_for_a_removed_api_is_a_warning(tmp_path: Path) -> None:
    assert severities(tmp_path, "EP669", "rights to what is gone", kube_version="1.30") == ["warning"]


def test_one_of_two_requests_is_a_note(tmp_path: Path) -> None:
    files = good_bundle()
    pod = files[CSV]["spec"]["install"]["spec"]["deployments"][0]["spec"]["template"]["spec"]
    del pod["containers"][0]["resources"]["requests"]["cpu"]
    found = lint_folder(lay_out(files, tmp_path))
    assert [(f.rule, f.severity.word, f.message) for f in found] == [
        ("EP671", "note", "the operator is evicted first: the container manager requests no cpu")
    ]


def test_another_api_version_of_a_csv_is_a_warning(tmp_path: Path) -> None:
    files = good_bundle()
    files[CSV]["apiVersion"] = "v1alpha1"
    found = lint_folder(lay_out(files, tmp_path))
    assert [f.severity.word for f in found if f.rule == "EP637"] == ["warning"]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("v4.6-v4.8", []),
        ("=v4.8", []),
        ("v4.6", ["error"]),
        ("v4.6-v4.9", ["error"]),
        ("=v4.9", ["error"]),
        ("v4.6-new", ["error"]),
    ],
)
def test_a_label_ends_below_openshift_4_9(tmp_path: Path, label: str, expected: list[str]) -> None:
    dockerfile = f"FROM scratch\nLABEL com.redhat.openshift.versions={label}\n"
    labels = (Place("bundle.Dockerfile"), dockerfile)
    assert severities(tmp_path, "EP687", "an old CRD", labels=labels) == expected


def test_missing_label_is_an_error_with_a_dockerfile(tmp_path: Path) -> None:
    assert severities(tmp_path / "a", "EP687", "an old CRD") == ["warning"]
    labels = (Place("bundle.Dockerfile"), "FROM scratch\n")
    assert severities(tmp_path / "b", "EP687", "an old CRD", labels=labels) == ["error"]


@pytest.mark.parametrize(
    ("value", "expected"), [("4.8", []), ("4.8.1", ["warning"]), ("4.9", ["error"]), ("new", ["error"])]
)
def test_max_openshift_version_is_older_than_4_9(tmp_path: Path, value: str, expected: list[str]) -> None:
    files = good_bundle()
    EDITS["an old CRD"](files)
    stated = f'[{{"type": "olm.maxOpenShiftVersion", "value": "{value}"}}]'
    files[CSV]["metadata"]["annotations"]["olm.properties"] = stated
    found = lint_folder(lay_out(files, tmp_path))
    assert [f.severity.word for f in found if f.rule == "EP686"] == expected


def test_categories_of_the_user_are_used(tmp_path: Path) -> None:
    assert severities(tmp_path / "a", "EP668", categories=frozenset({"Database", "Storage"})) == []
    assert severities(tmp_path / "b", "EP668", categories=frozenset({"Mine"})) == ["error", "error"]
