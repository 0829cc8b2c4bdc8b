"""CEL rules that compile, and those that do not."""

from __future__ import annotations

import pytest

from everpath.rules.cel import CelError, check

OTHER_VALUE = "a constraint must be a boolean, and this is another value"


@pytest.mark.parametrize(
    "rule",
    [
        "false",
        "null == null",
        "r'''a\nb''' == ''",
        "properties.map(p, p.type) == []",
        "1 != 2",
        "1 <= 2",
        "1 >= 2",
        "1 - 1 == 0",
        "2 * 2 == 4",
        "4 / 2 == 2",
        "5 % 2 == 1",
        "!properties[0].value",
        "(true)",
        "{'a': true}.a",
        "[,] == []",
        "{,} == {}",
        "{'a': 1,} == {}",
        "{'a': 1, 'b': 2} == {}",
        "google.X{`a-b`: 1} == 1",
    ],
)
def test_valid_cel_rule_is_accepted(rule: str) -> None:
    check(rule)


@pytest.mark.parametrize(
    ("rule", "start", "end", "reason"),
    [
        ("null", 0, 4, OTHER_VALUE),
        ("properties", 0, 10, OTHER_VALUE),
        ("(properties)", 0, 12, OTHER_VALUE),
        ("properties[0]", 0, 13, OTHER_VALUE),
        ("properties[0].value.x", 0, 21, OTHER_VALUE),
        ("properties.filter(p, true)", 0, 26, OTHER_VALUE),
        ("properties.map(p, true)", 0, 23, OTHER_VALUE),
        ("'a'.size()", 0, 10, OTHER_VALUE),
        ("true;", 4, 5, "unexpected character ';'"),
        ("in == 1", 0, 2, "expected a value but found 'in'"),
        ("properties.in == 1", 11, 13, "expected the name of a field after the dot"),
        (".true", 1, 5, "expected a value but found 'true'"),
        ("true{a: 1}", 4, 5, "unexpected '{'"),
        ("properties[0].`a-b`(1)", 19, 20, "unexpected '('"),
        ("properties.exists(p, has(p))", 21, 24, "has() takes one argument, which must select a field"),
        ("has()", 0, 3, "has() takes one argument, which must select a field"),
        (
            "properties.exists(p, has(p.a, p.b))",
            21,
            24,
            "has() takes one argument, which must select a field",
        ),
        ("size(,) == 1", 5, 6, "expected a value but found ','"),
        ("[1,) == 1", 3, 4, "expected a value but found ')'"),
        ("{'a': 1 'b': 2} == {}", 8, 11, "expected '}' but found \"'b'\""),
    ],
)
def test_invalid_cel_rule_has_the_position_of_the_error(rule: str, start: int, end: int, reason: str) -> None:
    with pytest.raises(CelError) as caught:
        check(rule)
    assert (caught.value.start, caught.value.end, str(caught.value)) == (start, end, reason)
    assert caught.value.args == (rule, start, end, reason)


def nested(depth: int) -> str:
    return "(" * depth + "nonsense" + ")" * depth


def test_cel_rule_nested_deeper_than_60_is_not_checked() -> None:
    check(nested(60))
    with pytest.raises(CelError):
        check(nested(59))


def test_long_cel_rule_is_not_deeply_nested() -> None:
    long = f"[{'1, ' * 100}1]"
    with pytest.raises(CelError):
        check(f"{long} == nonsense")
    check(f"{long} == {nested(60)}")
