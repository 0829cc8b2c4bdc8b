"""The release table of the operator is generated from catalog/releases.yaml, which is validated."""

from __future__ import annotations

from pathlib import Path

import pytest

import release_table

SOURCE = """
releases:
  - version: 0.1.0
    {}
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "catalog").mkdir()
    monkeypatch.setattr(release_table, "ROOT", tmp_path)
    monkeypatch.setattr(release_table, "TABLE", tmp_path / "table.json")
    return tmp_path / "table.json"


def write_table(table: Path, ships: str) -> int:
    (table.parent / "catalog/releases.yaml").write_text(SOURCE.format(ships), encoding="utf-8")
    return release_table.main(["--write"])


def test_release_is_a_line_of_the_table(table: Path) -> None:
    assert write_table(table, 'procedures: [1, 2]\n    engines: ["2.17.0", "2.19.4"]') == 0
    assert '{"version": "0.1.0", "procedures": [1, 2], "engines": ["2.17.0", "2.19.4"]}' in table.read_text()


@pytest.mark.parametrize(
    ("ships", "message"),
    [
        ('engines: ["2.17.0", "2.19.4"]', "0.1.0 has no procedures: add to catalog/releases.yaml"),
        (
            'procedures: [1, 99]\n    engines: ["2.17.0", "2.19.4"]',
            "0.1.0 ships configuration version 99, for which there is no reconciler: add it",
        ),
    ],
    ids=["missing", "unknown"],
)
def test_invalid_release_is_rejected_and_nothing_is_written(table: Path, ships: str, message: str) -> None:
    with pytest.raises(SystemExit, match=message):
        write_table(table, ships)
    assert not table.exists()
