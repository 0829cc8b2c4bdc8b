"""Validation of olm.constraint."""

from __future__ import annotations

import json
from typing import Any

import pytest

from everpath.rules.cel import CelError, check
from everpath.rules.constraints import constraint_problems, json_size
from everpath.rules.findings import Severity
from tests.support.everpath.documents import bundle, catalog, channel, package
from tests.support.everpath.graphs import findings, parse_report

A = "op.v1.0.0"
GVK = {"gvk": {"group": "a.io", "kind": "A", "version": "v1"}}
PACKAGE = {"package": {"packageName": "a", "versionRange": ">=1.0.0"}}


def messages(constraint: object) -> list[str]:
    made = catalog(package(), channel(A), bundle(A, "", {"type": "olm.constraint", "value": constraint}))
    prefix = f"EP425 {A}: OLM v0 cannot resolve dependencies: invalid constraint of {A}: "
    return [f.removeprefix(prefix) for f in findings(made, "constraint")]


@pytest.mark.parametrize(
    "constraint",
    [
        GVK,
        {**PACKAGE, "failureMessage": "needs a"},
        {"all": {"constraints": [GVK, {"not": {"constraints": [PACKAGE]}}]}},
        {"any": {"constraints": [{"cel": {"rule": "properties.exists(p, p.type == 'x')"}}]}},
        {"Gvk": GVK["gvk"]},
        {**GVK, "cel": None},
    ],
)
def test_valid_constraints_are_accepted(constraint: object) -> None:
    assert messages(constraint) == []


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ({}, "it has no kind"),
        (None, "it has no kind"),
        ({"failureMessage": "needs a"}, "it has no kind"),
        ("text", "the value must be a mapping, not the string 'text'"),
        ({**GVK, "arbitrary": 1}, "there is no field 'arbitrary'"),
        ({"package": {"packageName": "a"}}, "the range '' does not parse: it is empty"),
        ({"gvk": {"kindd": "A"}}, "there is no field 'kindd'"),
        ({"all": {"constraint": []}}, "there is no field 'constraint'"),
        ({"all": []}, "all must be a mapping, not a list"),
        ({"package": "a"}, "package must be a mapping, not the string 'a'"),
        ({"gvk": {"kind": 1}}, "gvk.kind must be a string, not the number 1"),
        ({"all": {"constraints": [GVK, {}]}}, "it has no kind"),
        ({"all": {"constraints": [GVK, None]}}, "it has no kind"),
        ({"all": {"constraints": [{"any": {"constraints": [{"x": 1}]}}]}}, "there is no field 'x'"),
        (
            {"cel": {"rule": "1"}},
            "the CEL rule does not compile: a constraint must be a boolean, and this is another value",
        ),
        (
            {"cel": {}},
            "the CEL rule does not compile: expected a value but found the end",
        ),
    ],
)
def test_invalid_constraints_are_errors(constraint: object, message: str) -> None:
    assert messages(constraint) == [message]


def test_misspelled_field_has_a_suggestion() -> None:
    (fault, *_) = constraint_problems({"packge": {"packageName": "a", "versionRange": "1.0.0"}})
    assert fault.fix == "did you mean 'package'?"


@pytest.mark.parametrize(
    ("constraint", "fix"),
    [
        ({"package": {"packageName": "a", "version": ">=1.0.0"}}, "did you mean 'versionRange'?"),
        ({"Package": {"name": "a"}}, "did you mean 'packageName'?"),
        ({"gvk": {"packageName": "a"}}, "the fields are group, kind and version"),
        ({"all": {"constraints": [{"any": {"constraint": [GVK]}}]}}, "did you mean 'constraints'?"),
        ({"cel": {"expression": "true"}}, "the fields are rule"),
    ],
)
def test_suggestion_is_a_field_of_the_same_struct(constraint: object, fix: str) -> None:
    assert [fault.fix for fault in constraint_problems(constraint)] == [fix]


def test_range_in_a_constraint_is_parsed_like_others() -> None:
    constraint = {"all": {"constraints": [{"package": {"packageName": "a", "versionRange": "<v2.0.0"}}]}}
    (fault,) = constraint_problems(constraint)
    assert fault.path == ("all", "constraints", 0, "package", "versionRange")
    assert fault.because[0] == "<v2.0.0"
    assert len(fault.because) == 2  # what to write instead is the fix
    assert fault.fix == "write '<2.0.0'"


def test_second_kind_of_a_constraint_is_a_warning() -> None:
    made = {**PACKAGE, "gvk": GVK["gvk"], "cel": {"rule": "nonsense"}}
    (fault,) = constraint_problems(made)
    assert fault.message == "it has several kinds: OLM v0 evaluates gvk and ignores package and cel"
    assert not fault.is_fatal


def test_ignored_kind_must_only_parse() -> None:
    assert [f.is_fatal for f in constraint_problems({**GVK, "all": {"constraints": [{}]}})] == [False]
    assert [f.is_fatal for f in constraint_problems({**GVK, "all": {"constraints": [{"x": 1}]}})] == [
        False,
        True,
    ]
    nested: dict[str, Any] = {"any": {"constraints": [{}]}}
    assert [f.is_fatal for f in constraint_problems({**GVK, "all": {"constraints": [nested]}})] == [False]


def test_constraint_with_a_type_error_is_checked_further() -> None:
    made = {"package": {"packageName": "a", "versionRange": "<v2.0.0"}, "arbitrary": 1}
    assert len(messages(made)) == 2


def test_only_fatal_problems_mention_the_namespace() -> None:
    cases: list[tuple[object, bool]] = [({}, True), ({"all": {"constraints": []}}, False)]
    for value, is_fatal in cases:
        made = catalog(package(), channel(A), bundle(A, "", {"type": "olm.constraint", "value": value}))
        (finding,) = parse_report(made, "EP425")
        assert (
            any("every Subscription of a namespace fails" in reason for reason in finding.because) is is_fatal
        )


@pytest.mark.parametrize(
    ("kind", "effect"),
    [("all", "is always satisfied"), ("any", "is never satisfied"), ("not", "is always satisfied")],
)
def test_empty_list_of_constraints_is_a_warning(kind: str, effect: str) -> None:
    made = catalog(
        package(), channel(A), bundle(A, "", {"type": "olm.constraint", "value": {kind: {"constraints": []}}})
    )
    (finding,) = parse_report(made, "EP425")
    assert finding.message.endswith(f"{kind} without constraints {effect}")
    assert finding.severity is Severity.WARNING


def test_a_constraint_has_at_most_131072_bytes_of_compact_json() -> None:
    frame = len('{"failureMessage":"","gvk":{"kind":"é"}}'.encode())
    for size, count in ((131072, 0), (131073, 1)):
        made = {"failureMessage": "x" * (size - frame), "gvk": {"kind": "é"}}
        assert len(list(constraint_problems(made))) == count


@pytest.mark.parametrize(
    "value", [{}, [], {"a": []}, {"a": {}, "b": [1, "x", None, {"c": 1.5}]}, "é\n", None]
)
def test_size_is_that_of_compact_json(value: object) -> None:
    compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert json_size(value) == len(compact.encode())


def test_deeply_nested_constraint_does_not_overflow_the_stack() -> None:
    made: dict[str, Any] = {"gvk": {"kindd": "A"}}
    for _ in range(3000):
        made = {"not": {"constraints": [made]}}
    (fault,) = constraint_problems(made)
    assert len(fault.path) == 3 * 3000 + 2


@pytest.mark.parametrize(
    "rule",
    [
        "true",
        "properties.exists(p, p.type == 'olm.test' && (semver_compare(p.value, '1.0.0') == 0))",
        "properties.all(p, has(p.type)) || !properties[0].value",
        "size(properties.filter(p, p.type.startsWith('a'))) > 0 // a comment",
        "semver_compare('1', '2') < 0 ? true : 'a' in ['a',]",
        "properties.map(p, p.type == 'x', p.value) == [] && {'a': 1}.a == 1",
        "r'\\d' == b'x' || 0xFF == 1u || .5 < 1e3 || '\\u00e9' == \"\"\"a\nb\"\"\"",
        "properties[0].`a-b` == properties[0].if",
        "google.protobuf.Timestamp{seconds: 1} == timestamp('x')",
        "[true][0]",
        "'x'.matches('y')",
        "bool('true') && type(1) == int",
        "1 == 1 + 1",
        "!true",
        "true ? [true][0] : true",
        "properties.exists_one(p, true)",
    ],
)
def test_valid_cel_rule_is_accepted(rule: str) -> None:
    check(rule)


@pytest.mark.parametrize(
    ("rule", "caret", "reason"),
    [
        ("", 0, "expected a value but found the end"),
        ("1", 0, "a constraint must be a boolean, and this is another value"),
        ("properties[0].type", 0, "a constraint must be a boolean, and this is another value"),
        ("true ? true : 1", 0, "a constraint must be a boolean, and this is another value"),
        ("semver_compare('1', '2')", 0, "a constraint must be a boolean, and this is another value"),
        ("property == []", 0, "unknown name 'property'; the only variable is properties"),
        ("properties.exists(p, q)", 21, "unknown name 'q'; the only variable is properties"),
        ("properties.exists(p, true) && p", 30, "unknown name 'p'; the only variable is properties"),
        ("properties.exists(p, p.type == 'x'", 34, "expected ')' but found the end"),
        ("properties.exists(1, true)", 11, "unknown method 'exists'"),
        ("properties.exists(p, true, true)", 11, "exists does not take 3 arguments"),
        ("properties.any(p, true)", 11, "unknown method 'any'"),
        ("semver('1') == 1", 0, "unknown function 'semver'"),
        ("has(properties)", 0, "has() takes one argument, which must select a field"),
        ("-1", 0, "a constraint must be a boolean, and this is another value"),
        ("1 + 1", 0, "a constraint must be a boolean, and this is another value"),
        ("true ? 1 : true", 0, "a constraint must be a boolean, and this is another value"),
        ("properties.exists(p)", 11, "unknown method 'exists'"),
        ("properties.exists((p), true)", 11, "unknown method 'exists'"),
        ("properties.all(p, true, true)", 11, "all does not take 3 arguments"),
        ("properties.filter(p, true, true)", 11, "filter does not take 3 arguments"),
        ("properties.exists_one(p, true, true)", 11, "exists_one does not take 3 arguments"),
        ("properties.map(p, true, p, p) == []", 11, "map does not take 4 arguments"),
        ("properties.true == 1", 11, "expected the name of a field after the dot"),
        ("true)", 4, "unexpected ')'"),
        ("true;", 4, "unexpected character ';'"),
        ("'a\\q' == ''", 0, 'unexpected character "\'"'),
        ("if == 1", 0, "'if' is a reserved word"),
        ("properties. == 1", 12, "expected the name of a field after the dot"),
        ("size(properties,) == 1", 16, "expected an argument"),
        ("true && ", 8, "expected a value but found the end"),
        ("{1 2} == {}", 3, "expected ':' but found '2'"),
        (".'a' == 'a'", 1, "expected a value but found \"'a'\""),
        ("int{1: 2} == 1", 4, "expected the name of a field"),
    ],
)
def test_invalid_cel_rule_has_the_position_of_the_error(rule: str, caret: int, reason: str) -> None:
    with pytest.raises(CelError) as caught:
        check(rule)
    assert (caught.value.start, str(caught.value)) == (caret, reason)
    assert caught.value.pretty().splitlines()[-1].index("^") == caret


def test_too_deeply_nested_cel_rule_is_not_checked() -> None:
    check("(" * 70 + "nonsense" + ")" * 70)
    with pytest.raises(CelError):
        check("(" * 50 + "nonsense" + ")" * 50)
