"""From a place to its line, its columns, and the text there."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from everpath.errors import UnreadableInput
from everpath.loaders.source_positions import locate
from everpath.loaders.sources import Sources
from everpath.model import Place, SourcePosition

YAML = dedent("""
    ---
    # a comment
    schema: olm.package
    name: op
    --- # the channel
    schema: olm.channel
    name: stable
    entries:
      - name: op.v1.1.0
        skipRange: '>=1.0.0 <1.1.0'   # z-stream
        skips: [op.v1.0.1, "éclair"]
      - {name: é, Replaces: b}
      -
        name: late
    description: |
      text
    empty:
    long: several words
      and more
    "quoted": x
""").lstrip("\n")
CHANNEL = len(YAML[: YAML.index("schema: olm.channel")].encode())

JSON = dedent("""
    {"schema": "olm.package"}
    {
        "schema": "olm.channel",
        "entries": [
            {"name": "é", "skips": ["b", "c"]},
            {"name": "d"}
        ]
    }
    {"schema": "x", "a": 1}{"schema": "y", "a": {"b": [2, 3]}}
""").lstrip("\n")


def _located(text: str, offset: int, *pointer: str | int) -> SourcePosition:
    sources = Sources()
    sources.add_content("-", text.encode())
    return locate(Place("-", offset, pointer), sources)


def _shown(text: str, offset: int, *pointer: str | int) -> str:
    """`line:column` and the text between the columns."""
    at = _located(text, offset, *pointer)
    return f"{at.line}:{at.column} {at.source_line[at.column - 1 : at.end_column - 1]}"


@pytest.mark.parametrize("asked_before", [0, 10])
@pytest.mark.parametrize(
    ("pointer", "shown"),
    [
        ((), "6:1 schema: olm.channel"),
        (("name",), "7:7 stable"),
        (("entries",), "9:3 - name: op.v1.1.0"),
        (("entries", 0), "9:5 name: op.v1.1.0"),
        (("entries", 0, "name"), "9:11 op.v1.1.0"),
        (("entries", 0, "skipRange"), "10:16 '>=1.0.0 <1.1.0'"),
        (("entries", 0, "skips"), '11:12 [op.v1.0.1, "éclair"]'),
        (("entries", 0, "skips", 1), '11:24 "éclair"'),
        (("entries", 1), "12:5 {name: é, Replaces: b}"),
        (("entries", 1, "replaces"), "12:25 b"),
        (("entries", 2, "name"), "14:11 late"),
        (("description",), "15:14 |"),
        (("long",), "18:7 several words"),
        (("quoted",), "20:11 x"),
    ],
)
def test_a_value_in_yaml(pointer: tuple[str | int, ...], shown: str, asked_before: int) -> None:
    sources = Sources()
    sources.add_content("-", YAML.encode())
    for _ in range(asked_before):
        locate(Place("-", CHANNEL, ("name",)), sources)
    at = locate(Place("-", CHANNEL, pointer), sources)
    assert f"{at.line}:{at.column} {at.source_line[at.column - 1 : at.end_column - 1]}" == shown


@pytest.mark.parametrize(
    ("pointer", "shown"),
    [
        (("defaultChannel",), "6:1 schema: olm.channel"),
        (("entries", 7), "9:3 - name: op.v1.1.0"),
        (("entries", 0, "replaces"), "9:5 name: op.v1.1.0"),
        (("entries", 0, "skips", 9), '11:12 [op.v1.0.1, "éclair"]'),
        (("entries", 0, "name", "deeper", "still"), "9:11 op.v1.1.0"),
    ],
)
def test_an_absent_value_is_shown_at_its_nearest_parent(pointer: tuple[str | int, ...], shown: str) -> None:
    assert _shown(YAML, CHANNEL, *pointer) == shown


def test_an_empty_value_has_a_place_of_one_column() -> None:
    at = _located(YAML, CHANNEL, "empty")
    assert (at.line, at.end_column - at.column) == (17, 1)


def test_a_document_is_shown_at_its_first_word() -> None:
    assert _shown(YAML, 0) == "3:1 schema: olm.package"


@pytest.mark.parametrize(
    ("text", "offset", "shown"),
    [
        ("# licence\n---\nschema: x\n", 0, "1:1 # licence"),
        ("a: b\n---\n# left\n\n---\nschema: x\n", 9, "3:1 # left"),
        ("---\n---\nschema: x\n", 0, "1:1 ---"),
        ("---\n# licence\n---\nschema: x\n", 0, "1:1 ---"),
        ("---\n# licence\nschema: x\n", 0, "3:1 schema: x"),
        ("# licence\n\n  - x\n", 0, "3:3 - x"),
    ],
)
def test_a_document_of_comments_is_shown_itself_and_not_the_next(text: str, offset: int, shown: str) -> None:
    assert _shown(text, offset) == shown


def test_a_manifest_starts_after_the_separator_below_a_licence() -> None:
    sources = Sources()
    sources.add_content("-", b"# licence\n---\nkind: x\n")
    assert locate(Place("-", dialect="csv"), sources).line == 3


def test_an_offset_inside_a_line_is_shown_unchanged() -> None:
    assert _shown(YAML, YAML.index("olm.package")) == "3:9 olm.package"


@pytest.mark.parametrize(
    ("start", "pointer", "shown"),
    [
        ("{\n", (), "2:1 {"),
        ("{\n", ("schema",), '3:15 "olm.channel"'),
        ("{\n", ("entries", 0), '5:9 {"name": "é", "skips": ["b", "c"]}'),
        ("{\n", ("entries", 0, "skips", 1), '5:38 "c"'),
        ("{\n", ("entries", 1, "NAME"), '6:18 "d"'),
        ("{\n", ("entries", 5), "4:16 ["),
        ('{"schema": "y"', ("a", "b", 1), "9:55 3"),
    ],
)
def test_a_value_in_json(start: str, pointer: tuple[str | int, ...], shown: str) -> None:
    assert _shown(JSON, len(JSON[: JSON.index(start)].encode()), *pointer) == shown


def test_flow_yaml_looks_like_json_and_is_not() -> None:
    assert _shown("{schema: x, a: [b, c]}\n---\nd: e\n", 0, "a", 1) == "1:20 c"


def test_carriage_returns_and_a_byte_order_mark_do_not_count() -> None:
    text = "\ufeffschema: x\r\nname: é y\r\nother: z\r\n"
    assert _located(text, 0, "name") == SourcePosition("-", 2, 7, 10, "name: é y")
    assert _located(text, 0, "schema") == SourcePosition("-", 1, 9, 10, "schema: x")


def test_a_break_of_lines_that_editors_do_not_know_does_not_shift_lines() -> None:
    assert _shown("a: 'b\u2028  c'\nd: [e]\n", 0, "d", 0) == "2:5 e"


def test_a_broken_document_still_has_places_before_the_break() -> None:
    assert _shown("a: {b: c}\nd: [\n", 0, "a", "b") == "1:8 c"


def test_a_line_too_long_to_show_is_not_shown() -> None:
    at = _located('{"a": "' + "x" * 5000 + '", "b": 1}', 0, "b")
    assert (at.line, at.column, at.end_column, at.source_line) == (1, 5016, 5017, "")


def test_a_large_file_is_not_held(tmp_path: Path) -> None:
    filler = "---\nschema: x\na: |\n" + "  line\n" * 100_000
    path = tmp_path / "large.yaml"
    path.write_text(filler * 8 + "---\nschema: y\nb:\n- c\n")
    offset = len(filler) * 8
    at = locate(Place(str(path), offset, ("b", 0)), Sources())
    assert (at.line, at.column, at.source_line) == (8 * 100_003 + 4, 3, "- c")


def test_a_document_longer_than_a_block_is_found_to_its_end() -> None:
    text = "entries:\n" + "".join(f"- name: entry-{i}\n" for i in range(40_000)) + "last: x\n---\nlast: y\n"
    assert _shown(text, 0, "last") == "40002:7 x"
    objects = '{"entries": [' + ", ".join(['{"name": "entry"}'] * 20_000) + '],\n"last": 1}\n{"last": 2}'
    assert _shown(objects, 0, "last") == "2:9 1"


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput):
        locate(Place(str(tmp_path / "gone"), 0, ("a",)), Sources())


@pytest.mark.parametrize(
    ("text", "pointer", "column"),
    [
        ("a: 1\nskipsRange: <1.0.0\n", ("skipsRange",), 1),
        ("entries:\n- name: a\n  'skip': b\n", ("entries", 0, "skip"), 4),
        ("entries: [{name: skip, skip: b}]\n", ("entries", 0, "skip"), 24),
        ('{"entries": [{"name": "skip", "skip": "b"}]}', ("entries", 0, "skip"), 32),
        ("noskip: 1\nskip: # why\n  - b\n", ("skip",), 1),
        ("skip: b\n", ("absent",), 1),
    ],
)
def test_a_key_is_found_before_its_value(
    tmp_path: Path, text: str, pointer: tuple[str | int, ...], column: int
) -> None:
    file = tmp_path / "catalog.yaml"
    file.write_text(text)
    found = locate(Place(str(file)).key(*pointer), Sources())
    assert found.column == column
    if pointer != ("absent",):
        assert found.source_line[found.column - 1 : found.end_column - 1] == pointer[-1]
