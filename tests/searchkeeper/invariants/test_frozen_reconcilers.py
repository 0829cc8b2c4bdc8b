"""Released reconcilers are frozen: a change of what they create is reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from frozen_reconcilers import FROZEN, main
from searchkeeper.releases import release, releases
from searchkeeper.testing.frozen_reconcilers import ReleaseDigests, digests, drift, unfrozen

SERVICE = "Service logs of a plain cluster"
BEFORE: ReleaseDigests = {
    "0.3.1": {"3": {SERVICE: "a", "Secret old": "b"}},
    "0.4.0": {"3": {SERVICE: "a"}, "4": {SERVICE: "c"}},
}


def frozen() -> ReleaseDigests:
    digests_by_release: ReleaseDigests = json.loads(FROZEN.read_text(encoding="utf-8"))
    return digests_by_release


@pytest.mark.exhaustive
def test_released_reconcilers_create_what_they_created(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 0, capsys.readouterr().err


def test_every_released_reconciler_is_frozen() -> None:
    shipped = {each.version: {str(version) for version in each.configurations} for each in releases()}
    assert {version: set(configurations) for version, configurations in frozen().items()} == shipped


def test_drift_names_reconciler_object_and_releases_once() -> None:
    after: ReleaseDigests = {"0.3.1": {"3": {SERVICE: "x", "Pod new": "d"}}, "0.4.0": {"3": {SERVICE: "x"}}}
    assert drift(BEFORE, after) == [
        "reconciler 3 is released with 0.3.1: Pod new was not created before",
        "reconciler 3 is released with 0.3.1: Secret old is no longer created",
        f"reconciler 3 is released with 0.3.1, 0.4.0: {SERVICE} has other content",
        "reconciler 4 is released with 0.4.0: it is missing in catalog/releases.yaml",
    ]


def test_new_release_is_not_drift() -> None:
    after = BEFORE | {"0.5.0": {"4": {SERVICE: "c"}}}
    assert drift(BEFORE, after) == []
    assert unfrozen(BEFORE, after) == ["reconciler 4 of 0.5.0"]


@pytest.mark.exhaustive
def test_digests_depend_on_content_alone() -> None:
    """Another engine version changes the image of every node, but no Service."""
    one, other = digests(release("0.3.1"), 3), digests(release("0.4.0"), 3)
    changed = {subject.partition(" ")[0] for subject in one if one[subject] != other[subject]}
    assert set(one) == set(other)
    assert changed == {"StatefulSet", "SearchPool", "Deployment", "all"}


@pytest.mark.exhaustive
def test_digest_depends_on_prerequisites_of_actions() -> None:
    graphs = {digests(release("0.4.0"), version)["its graph of actions"] for version in (3, 4)}
    assert len(graphs) == 2


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with the digests of all reconcilers."""
    path = tmp_path / "frozen.json"
    assert main(["--refreeze"], path) == 0
    return path


@pytest.mark.exhaustive
def test_changed_reconciler_is_frozen_again_only_with_refreeze(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = json.loads(file.read_text())
    table["0.1.0"]["1"][SERVICE] = "0" * 16
    file.write_text(json.dumps(table))
    assert main(["--write"], file) == 1
    assert json.loads(file.read_text()) == table
    assert f"reconciler 1 is released with 0.1.0: {SERVICE} has other content" in capsys.readouterr().err
    assert main(["--refreeze"], file) == 0
    assert main([], file) == 0


def test_write_freezes_a_new_release(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = json.loads(file.read_text())
    file.write_text(json.dumps({version: each for version, each in table.items() if version != "0.4.0"}))
    assert main([], file) == 1
    assert "reconciler 4 of 0.4.0 is not frozen: run make generate" in capsys.readouterr().err
    assert main(["--write"], file) == 0
    assert json.loads(file.read_text()) == table
