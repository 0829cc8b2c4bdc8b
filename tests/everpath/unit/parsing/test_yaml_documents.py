"""Documents of YAML: merges, aliases, repeated keys, limits, and where a problem is."""

from __future__ import annotations

import pytest

from everpath.parsing import yaml_parser
from everpath.parsing.yaml_parser import MAX_DEPTH, ParseError


def _refused(text: bytes) -> str:
    with pytest.raises(ParseError) as caught:
        yaml_parser.parse(text)
    return str(caught.value)


def test_a_merge_overwrites_what_stands_before_it() -> None:
    assert yaml_parser.load(b"a: 1\n<<: {a: 2, b: 3}\nb: 4\n") == {"a": 2, "b": 4}


def test_of_several_merged_mappings_the_first_wins() -> None:
    assert yaml_parser.load(b"<<: [{a: 1}, {a: 2, c: 3}]\n") == {"a": 1, "c": 3}


def test_a_merged_key_given_again_is_no_repetition() -> None:
    assert yaml_parser.parse(b"x: &x {a: 1}\ny:\n  <<: *x\n  a: 2\n").warnings == ()


def test_a_quoted_merge_key_is_a_key() -> None:
    assert yaml_parser.load(b'"<<": {a: 1}\n') == {"<<": {"a": 1}}


@pytest.mark.parametrize("value", [b"3", b"[1]", b"*x"])
def test_only_mappings_can_be_merged(value: bytes) -> None:
    assert "<<" in _refused(b"x: &x [1]\ny:\n  <<: " + value + b"\n")


def test_an_anchor_may_be_used_again_and_redefined() -> None:
    assert yaml_parser.load(b"a: &x 1\nb: *x\nc: &x 2\nd: *x\n") == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_an_anchor_must_be_known_and_must_not_contain_itself() -> None:
    assert _refused(b"a: *b\n") == "line 1, column 4: unknown anchor 'b'"
    assert _refused(b"a: &a\n- *a\n") == "line 2, column 3: anchor 'a' contains itself"


def test_of_a_repeated_key_the_last_wins_and_is_remarked() -> None:
    parsed = yaml_parser.parse(b"a:\n- b: 1\n  c: 2\n  b: 3\n")
    assert parsed.value == {"a": [{"b": 3, "c": 2}]}
    (remark,) = parsed.warnings
    assert (remark.kind, remark.pointer, remark.line, remark.column) == ("duplicate-key", ("a", 0, "b"), 4, 3)


def test_keys_that_are_written_differently_may_be_one() -> None:
    remarks = yaml_parser.parse(b"y: 1\ntrue: 2\n1: 3\n'1': 4\n").warnings
    assert [remark.pointer for remark in remarks] == [("true",), ("1",)]


def test_an_integer_beyond_float64_is_remarked() -> None:
    remarks = yaml_parser.parse(b"a: 9007199254740992\nb: [-9007199254740993]\n").warnings
    assert [(r.kind, r.pointer) for r in remarks] == [("lossy-number", ("b", 0))]


@pytest.mark.parametrize("rest", [b"---\nb: 2\n", b"...\nb: 2\n", b"...\n[\n"])
def test_what_follows_the_first_document_is_not_read(rest: bytes) -> None:
    parsed = yaml_parser.parse(b"a: 1\n" + rest)
    assert parsed.value == {"a": 1}
    assert [r.kind for r in parsed.warnings] == ["leftover"]


@pytest.mark.parametrize("text", [b"", b"\n", b"# comment\n", b"---\n", b"--- # comment\n\n"])
def test_comments_and_blanks_are_a_blank_document(text: bytes) -> None:
    assert yaml_parser.parse(text) == yaml_parser.ParsedDocument(None, is_blank=True)


def test_null_is_not_blank() -> None:
    assert not yaml_parser.parse(b"null\n").is_blank


def test_nesting_is_bounded() -> None:
    deep = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert yaml_parser.load(deep)
    assert _refused(b"[" + deep + b"]") == f"line 1, column {MAX_DEPTH + 1}: nested deeper than {MAX_DEPTH}"


def test_a_hundred_thousand_brackets_are_refused_at_once() -> None:
    assert "nested deeper" in _refused(b"[" * 100_000)


def test_an_alias_bomb_is_refused_before_it_unfolds() -> None:
    lines = [b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [b"a%d: &a%d [%b]" % (i, i, b", ".join([b"*a%d" % (i - 1)] * 10)) for i in range(1, 12)]
    assert "alias bomb" in _refused(b"\n".join(lines))


def test_a_few_aliases_are_no_bomb() -> None:
    text = b"base: &base [%b]\n" % b", ".join([b"x"] * 200) + b"".join(b"k%d: *base\n" % i for i in range(40))
    assert len(yaml_parser.load(text)) == 41


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (b"a: b\nc: [\n", (3, 1)),
        (b"a: b\n\tc: d\n", (2, 1)),
        (b"a: b: c\n", (1, 5)),
        (b"a: 'b\n", (2, 1)),
        ("a: é\nb: \x07\n".encode(), (2, 4)),
        (b"a: b\nc: \xff\n", (2, 4)),
    ],
)
def test_a_problem_says_where_it_is(text: bytes, where: tuple[int, int]) -> None:
    with pytest.raises(ParseError) as caught:
        yaml_parser.parse(text)
    assert (caught.value.line, caught.value.column) == where
    with pytest.raises(ParseError):
        yaml_parser.check(text)


def test_a_check_is_content_with_yaml() -> None:
    yaml_parser.check(b"a: [b, 'c']\n")
