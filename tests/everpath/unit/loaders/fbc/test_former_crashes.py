"""Inputs on which a reader once failed instead of saying what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath import load
from everpath.loaders.fbc.indexignore import _matches_glob
from everpath.parsing import json_parser, yaml_parser
from everpath.rules.lint import lint

TWICE = '{"schema": "x", "a": {"b": 1, "b": 2}, '


@pytest.mark.parametrize(
    "text",
    [
        '{"schema": "x", "a": 9007199254740993',
        TWICE + '"x": NaN}',
        TWICE + '"x": 1e999}',
        TWICE + '"x": ' + "[" * 100_000,
        TWICE + '"x": ' + "1" * 5000 + "}",
    ],
    ids=["truncated", "not a number", "too large", "too deep", "too many digits"],
)
def test_json_that_breaks_behind_something_remarkable_is_a_problem(text: str) -> None:
    with pytest.raises(json_parser.ParseError):
        json_parser.parse(text.encode())


def test_a_number_of_thousands_of_digits_is_text_to_yaml() -> None:
    digits = "1" * 4301
    assert yaml_parser.load(f"a: {digits}".encode()) == {"a": digits}


def test_half_a_surrogate_pair_is_the_replacement_character() -> None:
    assert json_parser.parse(rb'{"\ud800": ["\udc00x", "\ud83d\ude00"]}').value == {"�": ["�x", "😀"]}


def test_a_name_of_half_a_surrogate_pair_can_be_judged(tmp_path: Path) -> None:
    (tmp_path / "catalog.json").write_text(r'{"schema": "olm.package", "name": "\ud800"}')
    report = lint(load(str(tmp_path)))
    assert "EP101" in {finding.rule for finding in report.findings}


def test_a_glob_of_many_stars_is_decided_at_once() -> None:
    assert not _matches_glob("*a" * 30 + "b", "a" * 60)
    assert _matches_glob("*a" * 30 + "*b", "a" * 60 + "b")
    assert _matches_glob("x*ab*cd", "xzabababcdcd")
    assert not _matches_glob("x*ab*cd", "xzabcdx")
