"""The generated stubs and the numbers of their fields."""

from __future__ import annotations

import pytest

import stubs
from everpath.server import registry_pb2 as api


def test_the_stubs_are_up_to_date() -> None:
    assert stubs.is_current()


def test_stale_stubs_are_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = stubs.compiled()
    changed.message_type[0].field[0].number = 99
    monkeypatch.setattr(stubs, "compiled", lambda: changed)
    assert stubs.main([]) == 1
    assert "is out of date: scripts/stubs.py --write" in capsys.readouterr().err


def test_the_field_numbers_are_those_of_operator_registry() -> None:
    """From the documentation of operator-registry; `make conformance` uses its client."""
    fields = {
        message: {field.name: field.number for field in descriptor.fields}
        for message, descriptor in api.DESCRIPTOR.message_types_by_name.items()
    }
    assert list(fields["Bundle"]) == [
        "csvName",
        "packageName",
        "channelName",
        "csvJson",
        "object",
        "bundlePath",
        "providedApis",
        "requiredApis",
        "version",
        "skipRange",
        "dependencies",
        "properties",
        "replaces",
        "skips",
        "deprecation",
    ]
    assert all(list(numbers.values()) == list(range(1, len(numbers) + 1)) for numbers in fields.values())
    assert fields["GetReplacementRequest"] == {"csvName": 1, "pkgName": 2, "channelName": 3}
