"""The use cases of release and generate, called from Python without click."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.app.config.config import Config
from everpath.app.project.generate import generate
from everpath.app.project.release import cut_release
from everpath.releases.release_plan import ReleaseRequest
from tests.support.everpath.projects import write_operator, write_releases

TWO = """
    - {version: 0.1.0, channels: [stable]}
    - {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_operator(tmp_path)
    write_releases(tmp_path, TWO)
    return tmp_path


def test_generate_writes_once_and_is_up_to_date_afterwards(project: Path) -> None:
    first, second = generate(None, Config()), generate(None, Config())
    assert (first.state, second.state) == ("written", "upToDate")
    assert {change.action for change in first.changes} == {"add"}
    assert not second.changes
    assert (project / "bundles/acme/0.2.0").is_dir()


def test_generate_read_only_returns_the_edits_and_writes_nothing(project: Path) -> None:
    generate(None, Config())
    catalog = project / "catalog/acme/catalog.yaml"
    generated = catalog.read_bytes()
    catalog.write_bytes(b"---\nschema: olm.package\nname: acme\n")
    result = generate(None, Config(), read_only=True)
    assert result.state == "outOfDate"
    assert [edit.path for edit in result.edits] == [catalog.relative_to(project)]
    assert result.edits[0].old == catalog.read_bytes() != generated


def test_a_dry_run_of_a_release_returns_the_edit_and_writes_nothing(project: Path) -> None:
    generate(None, Config())
    before = (project / "catalog/releases.yaml").read_bytes()
    result = cut_release(None, ReleaseRequest("0.3.0"), Config(), dry_run=True)
    assert result.state == "planned"
    assert (result.edit.old, result.edit.new) == (before, result.new.unsaved)
    assert result.changes
    assert (project / "catalog/releases.yaml").read_bytes() == before


def test_a_written_release_lists_the_changes_before_it(project: Path) -> None:
    generate(None, Config())
    result = cut_release(None, ReleaseRequest("0.3.0"), Config())
    assert result.state == "written"
    assert ("change", Path("catalog/releases.yaml")) in result.changes
    assert (project / "catalog/releases.yaml").read_bytes() == result.edit.new


def test_a_refused_release_has_blockers_and_the_catalogs_before_and_after(project: Path) -> None:
    generate(None, Config())
    before = (project / "catalog/releases.yaml").read_bytes()
    result = cut_release(None, ReleaseRequest("0.3.0", replaces="0.1.0"), Config())
    assert result.state == "refused"
    assert result.blockers
    assert not result.changes
    assert [len(update.new.channels[0].entries) for update in result.updates] == [3]
    assert (project / "catalog/releases.yaml").read_bytes() == before
