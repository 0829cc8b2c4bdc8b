"""Which values Go's decoder accepts for the fields of a struct."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.go_types import STRUCTS, type_mismatches

_CSV_SPEC = "v1alpha1.ClusterServiceVersionSpec"
_SCHEMA = "apiextensions.JSONSchemaProps"


def messages(value: Any, struct: str, ignore_case: bool = True) -> list[str]:
    mismatches = type_mismatches(value, struct, ignore_case=ignore_case)
    return [mismatch.message for mismatch in mismatches]


@pytest.mark.parametrize(
    ("struct", "value"),
    [
        ("core.EnvVar", {"name": "A", "value": None}),
        ("core.EnvVar", {"NAME": "A", "unknown": 5}),
        ("core.Container", {"ports": [{"containerPort": 8080.0}, None], "args": [None]}),
        (
            "core.Container",
            {"resources": {"limits": {"cpu": 1, "memory": "1.5Gi", "x": "1e3", "y": "100m", "z": None}}},
        ),
        ("core.HTTPGetAction", {"port": "http"}),
        ("core.HTTPGetAction", {"port": 80}),
        ("meta.ObjectMeta", {"creationTimestamp": None}),
        ("meta.ObjectMeta", {"creationTimestamp": "2024-01-02T03:04:05.5+01:00"}),
        (_CSV_SPEC, {"version": "v1.0", "release": "rc.1"}),
        (
            _SCHEMA,
            {"items": [{"type": "string"}], "additionalProperties": True, "enum": [1, "a"], "default": {}},
        ),
        (_SCHEMA, {"properties": {"a": {"minimum": 1.5}}, "dependencies": {"a": ["b"]}}),
        ("apiextensions.WebhookClientConfig", {"caBundle": "aGk=\n"}),
        ("apiextensions.WebhookClientConfig", {"caBundle": [104, 105]}),
    ],
)
def test_a_value_that_go_decodes_is_accepted(struct: str, value: Any) -> None:
    assert messages(value, struct) == []


@pytest.mark.parametrize(
    ("struct", "value", "message"),
    [
        ("core.EnvVar", {"value": 5}, "value must be a string, not the number 5"),
        ("core.EnvVar", [], "the value must be a mapping, not a list"),
        ("core.Container", {"args": "a"}, "args must be a list, not the string 'a'"),
        (
            "core.ContainerPort",
            {"containerPort": 2**31},
            "containerPort must be a 32-bit integer, not the number 2147483648",
        ),
        (
            "core.ContainerPort",
            {"containerPort": 1.5},
            "containerPort must be a 32-bit integer, not the number 1.5",
        ),
        (
            "core.ContainerPort",
            {"containerPort": float("inf")},
            "containerPort must be a 32-bit integer, not the number inf",
        ),
        (
            "core.ContainerPort",
            {"containerPort": float("nan")},
            "containerPort must be a 32-bit integer, not the number nan",
        ),
        (
            "core.ContainerPort",
            {"containerPort": True},
            "containerPort must be a 32-bit integer, not true",
        ),
        (
            "core.HTTPGetAction",
            {"port": 2**40},
            "port must be a string or a 32-bit integer, not the number 1099511627776",
        ),
        (
            "core.ResourceRequirements",
            {"limits": {"cpu": "lots"}},
            "limits.cpu must be a quantity like 100m or 1Gi, not the string 'lots'",
        ),
        ("meta.ObjectMeta", {"labels": []}, "labels must be a mapping, not a list"),
        (
            "meta.ObjectMeta",
            {"creationTimestamp": "today"},
            "creationTimestamp must be a time like 2006-01-02T15:04:05Z, not the string 'today'",
        ),
        (_CSV_SPEC, {"version": None}, "version must be a version like 1.2.3, not null"),
        (_CSV_SPEC, {"release": "01"}, "release must be a release like 1 or rc.1, not the string '01'"),
        (
            _SCHEMA,
            {"additionalProperties": "x"},
            "additionalProperties must be true, false or a schema, not the string 'x'",
        ),
        (_SCHEMA, {"items": [{"type": 5}]}, "items.0.type must be a string, not the number 5"),
        (_SCHEMA, {"minimum": "1"}, "minimum must be a number, not the string '1'"),
        (
            "apiextensions.WebhookClientConfig",
            {"caBundle": "%"},
            "caBundle must be base64, not the string '%'",
        ),
        ("core.SecurityContext", {"privileged": {}}, "privileged must be true or false, not a mapping"),
    ],
)
def test_a_value_that_go_refuses_is_reported(struct: str, value: Any, message: str) -> None:
    assert messages(value, struct) == [message]


def test_kubernetes_decoder_does_not_ignore_the_case_of_keys() -> None:
    assert messages({"VALUE": 5}, "core.EnvVar", ignore_case=False) == []
    assert messages({"VALUE": 5}, "core.EnvVar") == ["VALUE must be a string, not the number 5"]


def test_every_type_of_the_table_is_known() -> None:
    scalars = {"string", "bool", "int32", "int64", "float64", "bytes", "any"}
    types = {
        type_.replace("[]", "").replace("map ", "")
        for fields in STRUCTS.values()
        for type_ in fields.values()
    }
    assert {type_ for type_ in types if type_[0] != "!"} <= scalars | STRUCTS.keys()
    assert len(STRUCTS) > 150
