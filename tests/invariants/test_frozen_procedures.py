"""What a release deploys stays as it was released, and whoever changes it is told what, and of whom."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from frozen_procedures import FROZEN, main
from searchkeeper.releases import release, releases
from searchkeeper.testing.frozen_reconcilers import Table, additions, drift, objects_of

SERVICE = "Service logs of a plain cluster"
BEFORE: Table = {
    "0.3.1": {"3": {SERVICE: "a", "Secret old": "b"}},
    "0.4.0": {"3": {SERVICE: "a"}, "4": {SERVICE: "c"}},
}


def frozen() -> Table:
    found: Table = json.loads(FROZEN.read_text(encoding="utf-8"))
    return found


def test_every_released_procedure_makes_what_it_made_when_it_was_released(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 0, capsys.readouterr().err


def test_every_procedure_of_every_release_is_frozen() -> None:
    shipped = {each.version: {str(version) for version in each.configurations} for each in releases()}
    assert {version: set(configurations) for version, configurations in frozen().items()} == shipped


def test_a_change_is_told_once_with_its_procedure_its_object_and_all_who_ship_it() -> None:
    after: Table = {"0.3.1": {"3": {SERVICE: "x", "Pod new": "d"}}, "0.4.0": {"3": {SERVICE: "x"}}}
    assert drift(BEFORE, after) == [
        "procedure 3 is released with 0.3.1: Pod new was not made before",
        "procedure 3 is released with 0.3.1: Secret old is not made any more",
        f"procedure 3 is released with 0.3.1, 0.4.0: {SERVICE} has other content",
        "procedure 4 is released with 0.4.0: it is not in catalog/releases.yaml any more",
    ]


def test_what_is_new_is_no_drift() -> None:
    after = BEFORE | {"0.5.0": {"4": {SERVICE: "c"}}}
    assert drift(BEFORE, after) == []
    assert additions(BEFORE, after) == ["procedure 4 of 0.5.0"]


def test_digests_tell_contents_apart_and_nothing_else() -> None:
    """Another engine is another image of every node, and the same Services."""
    one, other = objects_of(release("0.3.1"), 3), objects_of(release("0.4.0"), 3)
    changed = {what.partition(" ")[0] for what in one if one[what] != other[what]}
    assert set(one) == set(other)
    assert changed == {"StatefulSet", "SearchPool", "Deployment", "all"}


def test_a_procedure_in_which_something_waits_for_something_else_is_another_one() -> None:
    structures = {objects_of(release("0.4.0"), version)["its graph of actions"] for version in (3, 4)}
    assert len(structures) == 2


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """All that is made today."""
    made = tmp_path / "frozen.json"
    assert main(["--refreeze"], made) == 0
    return made


def test_what_is_released_is_not_frozen_anew_unless_that_is_asked_for(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = json.loads(file.read_text())
    table["0.1.0"]["1"][SERVICE] = "0" * 16
    file.write_text(json.dumps(table))
    assert main(["--write"], file) == 1
    assert json.loads(file.read_text()) == table
    assert f"procedure 1 is released with 0.1.0: {SERVICE} has other content" in capsys.readouterr().err
    assert main(["--refreeze"], file) == 0
    assert main([], file) == 0


def test_a_new_release_is_frozen_beside_the_others(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = json.loads(file.read_text())
    file.write_text(json.dumps({version: each for version, each in table.items() if version != "0.4.0"}))
    assert main([], file) == 1
    assert "procedure 4 of 0.4.0 is not frozen: make generate" in capsys.readouterr().err
    assert main(["--write"], file) == 0
    assert json.loads(file.read_text()) == table
