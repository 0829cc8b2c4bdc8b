"""The lazy reader of CSVs agrees with a parser, or declines."""

from __future__ import annotations

from hypothesis import assume, given

from everpath.loaders.bundle.csv_summary import scan_csv, summarize_csv, summarize_parsed_csv
from everpath.loaders.bundle.summaries import CsvSummary
from everpath.parsing.first_document import ParseError, first_document
from everpath.parsing.yaml_outline import UnsupportedLayout
from tests.support.everpath.csv_texts import csv_texts, damaged_csv_texts


def _parsed(text: str) -> CsvSummary | None:
    document = first_document(text.encode())
    return summarize_parsed_csv(document.value, document.duplicate_keys)


def _scanned(text: str) -> CsvSummary | None:
    try:
        return scan_csv(text.encode())
    except UnsupportedLayout:
        return None


@given(csv_texts())
def test_scan_of_a_csv_agrees_with_its_parse(text: str) -> None:
    scanned = _scanned(text)
    assert scanned is None or scanned == _parsed(text)


@given(damaged_csv_texts())
def test_scan_of_damaged_yaml_agrees_with_its_parse(text: str) -> None:
    try:
        parsed = _parsed(text)
    except ParseError:
        assume(False)
    scanned = _scanned(text)
    assert scanned is None or scanned == parsed


@given(csv_texts())
def test_reading_a_csv_is_parsing_it(text: str) -> None:
    assert summarize_csv(text.encode()) == _parsed(text)
