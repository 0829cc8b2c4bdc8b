"""The fast parser of block YAML agrees with libyaml, or declines."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given, settings

from everpath.parsing import yaml_parser, yaml_subset
from tests.support.everpath.yaml_texts import block_texts, json_values
from tests.support.tiers import examples


@settings(max_examples=examples(500))
@given(block_texts())
def test_quick_reader_agrees_with_libyaml(text: bytes) -> None:
    answer = yaml_subset.parse_simple_yaml(text)
    if answer is not None:
        assert yaml_parser.parse(text) == yaml_parser.ParsedDocument(answer)


@given(json_values())
def test_quick_reader_agrees_with_libyaml_on_dumped_yaml(value: Any) -> None:
    text = yaml.safe_dump({"value": value}, allow_unicode=True).encode()
    answer = yaml_subset.parse_simple_yaml(text)
    if answer is not None:
        assert answer == yaml_parser.load(text)
