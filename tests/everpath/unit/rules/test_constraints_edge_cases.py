"""Problems of olm.constraint: order, paths and fixes."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.model import Bundle
from everpath.rules.bundle_versions import sort_by_version
from everpath.rules.constraints import constraint_problems, json_size
from everpath.rules.image_references import corrected_reference, reference_error
from tests.support.everpath.documents import in_folder

GVK = {"gvk": {"group": "a.io", "kind": "A", "version": "v1"}}
SHA = "sha256:" + "a" * 64


def test_unknown_fields_are_reported_outermost_first() -> None:
    inner = {"constraints": [{"u": 1, "v": 1}, {"w": 1}]}
    assert [fault.path for fault in constraint_problems({"x": 1, "all": inner})] == [
        ("x",),
        ("all", "constraints", 0, "u"),
        ("all", "constraints", 0, "v"),
        ("all", "constraints", 1, "w"),
    ]


@pytest.mark.parametrize(
    ("constraint", "fix"),
    [
        ({}, "add one of gvk, package, all, any, not and cel"),
        ({"all": {"constraints": []}}, "add constraints to all"),
        ({**GVK, "all": {"constraints": [GVK]}}, "combine them with all"),
        ({"failureMessage": "x" * 131072}, "split it"),
        ({"package": {"PACKAGENAMEX": 1}}, "did you mean 'packageName'?"),
        (
            {"package": {"theVersionRangeThatIsMeantByThisField": 1}},
            "did you mean 'versionRange'?",
        ),
    ],
)
def test_every_problem_of_a_constraint_has_a_fix(constraint: dict[str, Any], fix: str) -> None:
    assert next(constraint_problems(constraint)).fix == fix


def test_first_of_two_kinds_is_checked() -> None:
    both = {"package": {"packageName": "a", "versionRange": "<v1"}, "cel": {"rule": "true"}}
    assert [fault.path for fault in constraint_problems(both)] == [(), ("package", "versionRange")]


def test_invalid_cel_rule_is_reported_with_its_position() -> None:
    (fault,) = constraint_problems({"all": {"constraints": [{"cel": {"rule": "nonsense"}}]}})
    assert fault.path == ("all", "constraints", 0, "cel", "rule")


def test_constraints_of_a_wrong_type_are_not_reported_as_empty() -> None:
    (fault,) = constraint_problems({"all": {"constraints": 0}})
    assert fault.message == "all.constraints must be a list, not the number 0"


def test_unpaired_surrogate_has_a_size() -> None:
    assert json_size("\ud800") == 5


# Images


@pytest.mark.parametrize(
    ("image", "fault"),
    [
        ("!" * 520, "it is not of the form [host/]path[:tag][@digest]"),
        ("!" * 521, "it has 521 characters, more than 520"),
        ("a oci://b", "it contains white space"),
    ],
)
def test_reason_for_an_invalid_image_reference(image: str, fault: str) -> None:
    assert reference_error(image) == fault


@pytest.mark.parametrize(
    ("image", "meant"),
    [
        ("oci://quay.io/a/", "quay.io/a"),
        (f"quay.io/Foo:V1@{SHA}", f"quay.io/foo:V1@{SHA}"),
        ("oci://docker://a/b:1", None),
    ],
)
def test_suggestion_for_an_invalid_image_reference(image: str, meant: str | None) -> None:
    assert corrected_reference(image) == meant


# Versions


def test_bundles_are_sorted_by_version_then_name() -> None:
    made: list[Bundle] = [
        in_folder("b.v2", "2.0.0"),
        in_folder("c.v1", "1.0.0+1"),
        in_folder("z", "none"),
        in_folder("a.v1", "1.0.0+2"),
    ]
    assert [bundle.name for _, bundle in sort_by_version(made)] == ["a.v1", "c.v1", "b.v2"]


@pytest.mark.parametrize(("length", "meant"), [(1040, "op:1"), (1041, None)])
def test_very_long_reference_has_no_suggestion(length: int, meant: str | None) -> None:
    assert corrected_reference("op:1".rjust(length, "/")) == meant
