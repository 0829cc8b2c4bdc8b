"""Positions of keys in TOML files."""

from __future__ import annotations

import pytest

from everpath.app.config.toml_positions import location

TEXT = """\
[ tool . "everpath" ]  # ours
show = "note"
  "fail-on" = 'error'
ignore = [
    "fork",
]

[[tool.everpath.waivers]]
rule = "fork"

[[tool.everpath.waivers]]
'rule' = "EP202"   # why
show = "not the first"
"""


@pytest.mark.parametrize(
    ("pointer", "line", "column"),
    [
        (("tool", "everpath"), 1, 1),
        (("tool", "everpath", "show"), 2, 1),
        (("tool", "everpath", "fail-on"), 3, 3),
        (("tool", "everpath", "ignore", 0), 4, 1),
        (("tool", "everpath", "waivers", 0, "rule"), 9, 1),
        (("tool", "everpath", "waivers", 1), 11, 1),
        (("tool", "everpath", "waivers", 1, "rule"), 12, 1),
        (("tool", "everpath", "waivers", 1, "reason"), 11, 1),
        (("tool", "other"), 0, 0),
    ],
)
def test_the_position_is_that_of_the_value_or_its_nearest_parent(
    pointer: tuple[str | int, ...], line: int, column: int
) -> None:
    found = location("pyproject.toml", TEXT, pointer)
    assert (found.file, found.line, found.column) == ("pyproject.toml", line, column)


def test_the_line_is_marked_without_trailing_blanks() -> None:
    found = location("f", "[a]\nkey = 1   \n", ("a", "key"))
    assert (found.column, found.end_column, found.source_line) == (1, 8, "key = 1   ")


def test_of_two_tables_with_one_name_the_first_is_used() -> None:
    assert location("f", "[a]\n[b]\n[a]\n", ("a",)).line == 1
