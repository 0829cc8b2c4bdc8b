"""The contract other tools build on."""

from __future__ import annotations

import json

from everpath.model import Place
from everpath.rules.findings import Severity
from tests.support.everpath.reports import finding, rendered
from tests.support.schemas import conforms


def test_the_document_is_the_contract() -> None:
    document = json.loads(rendered("json", finding(), waived=(finding(),)))
    assert document == {
        "version": 1,
        "summary": {
            "packages": 1,
            "channels": 2,
            "entries": 3,
            "errors": 1,
            "warnings": 0,
            "notes": 0,
            "waived": 1,
        },
        "findings": [
            {
                "rule": "EP203",
                "name": "fork",
                "severity": "error",
                "package": "p",
                "channel": "stable",
                "entry": "a",
                "file": "catalog/p.yaml",
                "line": 5,
                "column": 5,
                "message": "a: b and c both replace it",
                "because": ["c replaces a", "b replaces a"],
                "fix": "add b to the skips of c",
            }
        ],
    }


def test_it_keeps_its_schema() -> None:
    bare = finding(package=None, channel=None, entry=None, fix=None, evidence=(), place=Place(""))
    for report in (rendered("json"), rendered("json", finding(), bare)):
        conforms("validate-graph", json.loads(report))


def test_every_finding_is_in_it_whatever_is_shown() -> None:
    note = finding(severity=Severity.NOTE)
    assert len(json.loads(rendered("json", note, finding(), show=Severity.ERROR))["findings"]) == 2


def test_text_is_kept_as_it_was() -> None:
    strange = '\x1b[31m"日本"\n'
    document = json.loads(rendered("json", finding(message=strange, entry=None)))
    assert document["findings"][0]["message"] == strange
