"""List upgrade paths from Python, without the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.app.config.config import Config
from everpath.app.inputs.inputs import Inputs
from everpath.app.list_paths import list_paths, mirror_as_bundle_list
from everpath.errors import UsageError
from tests.support.everpath.catalogs import write_fbc

DRAWING = """
    [stable]
    op.v1.2.0: op.v1.1.0 / - / >=1.0.0 <1.1.0
    op.v1.1.0: op.v1.0.0
    op.v1.0.0
    [fast]
    op.v1.3.0: op.v1.2.0
    op.v1.2.0
"""
DIFFERENT_MIRRORS = "[one]\nd: b\nx@3.0.0: - / a\nb: - / a\na\n[two]\nx@3.0.0: a\na"


def _inputs(folder: Path, drawing: str = DRAWING) -> Inputs:
    return Inputs([str(write_fbc(folder, drawing, "op"))], Config())


def test_paths_have_hops_and_the_name_of_the_catalog(tmp_path: Path) -> None:
    result = list_paths(_inputs(tmp_path), channels=["stable"], start="1.0.0")
    [goal] = result.report.goal_paths
    assert goal.listed == (("op.v1.0.0", "op.v1.2.0"), ("op.v1.0.0", "op.v1.1.0", "op.v1.2.0"))
    assert (result.catalog, result.notes, result.unread) == (str(tmp_path / "catalog"), (), 0)
    assert result.constraints_hold


def test_channels_are_sorted_by_name(tmp_path: Path) -> None:
    report = list_paths(_inputs(tmp_path)).report
    assert [goal.channels for goal in report.goal_paths] == [("fast",), ("stable",)]


def test_violated_constraint_does_not_hold(tmp_path: Path) -> None:
    assert not list_paths(_inputs(tmp_path), must_pass=["1.1.0"]).constraints_hold
    assert not list_paths(_inputs(tmp_path), never=["<1.2.0"]).constraints_hold
    assert list_paths(_inputs(tmp_path), never=[">9.0.0"]).constraints_hold


def test_unknown_start_has_a_note_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    first, *_ = list_paths(_inputs(tmp_path), start="1.0.5").notes
    assert first == "1.0.5 is in no catalog; taken for op.v1.0.5 of version 1.0.5"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("goal", "hint"),
    [("1.3.0", "it is in fast"), ("op.v0.1.0", "it is in no channel, so no upgrade path leads to it")],
)
def test_goal_outside_of_the_channels_has_a_hint(tmp_path: Path, goal: str, hint: str) -> None:
    inputs = _inputs(tmp_path)
    file = tmp_path / "catalog" / "op.yaml"
    bundle = file.read_text().split("---\n")[-1]
    assert "olm.bundle" in bundle
    name = next(line.partition(": ")[2] for line in bundle.splitlines() if line.startswith("name: "))
    version = name.partition(".v")[2]
    added = bundle.replace(name, "op.v0.1.0").replace(f"version: {version}", "version: 0.1.0")
    file.write_text(f"{file.read_text()}---\n{added}")
    with pytest.raises(UsageError) as caught:
        list_paths(inputs, channels=["stable"], goal=goal)
    assert caught.value.hint == hint


def test_several_packages_need_a_name(tmp_path: Path) -> None:
    inputs = _inputs(tmp_path)
    write_fbc(tmp_path, "b: a\na", "another")
    with pytest.raises(UsageError, match=r"the catalog has 2 packages \(another and op\)"):
        list_paths(inputs)
    assert list_paths(inputs, "another").report.query.package.name == "another"


def test_installed_since_limits_the_mirror(tmp_path: Path) -> None:
    [mirror] = list_paths(
        _inputs(tmp_path), resolver="v0", mirror=True, installed_since="1.2.0"
    ).report.mirrors
    assert mirror.bundles == ("op.v1.3.0", "op.v1.2.0")
    with pytest.raises(UsageError, match="--installed-since"):
        list_paths(_inputs(tmp_path), mirror=True, installed_since="x")


def test_mirror_that_no_bundle_list_can_express_is_an_error(tmp_path: Path) -> None:
    report = list_paths(_inputs(tmp_path, DIFFERENT_MIRRORS), resolver="v1", mirror=True).report
    with pytest.raises(UsageError, match="the channels need different mirrors"):
        mirror_as_bundle_list(report)


def test_bundle_list_has_the_mirror_of_all_channels(tmp_path: Path) -> None:
    report = list_paths(_inputs(tmp_path), resolver="v1", mirror=True).report
    [mirror] = mirror_as_bundle_list(report).mirrors
    assert set(mirror.bundles) >= set(report.mirrors[0].bundles)
