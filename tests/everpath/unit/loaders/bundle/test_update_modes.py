"""`updateGraph` of ci.yaml decides the edges of a package."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from everpath.loaders.source_positions import locate
from everpath.loaders.sources import Sources
from everpath.model import UpdateMode
from tests.support.everpath.bundles import channels, edges, problems, read_packages, write, write_bundle


def _repository(folder: Path, *versions: str, mode: str | None = None) -> Path:
    """A package of versions, each of which claims to replace something else."""
    for version in versions:
        notes = {"olm.skipRange": f"<{version}"}
        write_bundle(
            folder / "op" / version, f"op.v{version}", notes=notes, replaces="op.v0.0.1", skips=["op.v0.0.2"]
        )
    if mode is not None:
        write(folder, {"op/ci.yaml": f"---\n# how\nupdateGraph: {mode}\nreviewers:\n  - me\n"})
    return folder


def _mode(path: Path, **options: object) -> UpdateMode | None:
    (package,) = read_packages(path, **options).packages
    return package.declarations[0].mode


def test_replaces_mode_takes_the_edges_of_the_csvs(tmp_path: Path) -> None:
    catalog = read_packages(_repository(tmp_path, "1.1.0", "1.0.0", mode="replaces-mode"))
    assert edges(catalog) == dedent("""\
        op.v1.0.0: op.v0.0.1 / op.v0.0.2 / <1.0.0
        op.v1.1.0: op.v0.0.1 / op.v0.0.2 / <1.1.0""")


def test_semver_mode_replaces_the_next_lower_version_and_keeps_ranges(tmp_path: Path) -> None:
    catalog = read_packages(_repository(tmp_path, "1.10.0", "1.9.0", "1.10.0-rc.1", mode="semver-mode"))
    assert edges(catalog) == dedent("""\
        op.v1.9.0: - / - / <1.9.0
        op.v1.10.0-rc.1: op.v1.9.0 / - / <1.10.0-rc.1
        op.v1.10.0: op.v1.10.0-rc.1 / - / <1.10.0""")


def test_semver_skippatch_leaves_the_highest_patch_of_each_minor(tmp_path: Path) -> None:
    versions = ("1.0.0", "1.0.1", "1.0.2", "1.1.0", "1.2.1", "1.2.0")
    catalog = read_packages(_repository(tmp_path, *versions, mode="semver-skippatch"))
    assert edges(catalog) == dedent("""\
        op.v1.0.0: - / - / <1.0.0
        op.v1.0.1: - / - / <1.0.1
        op.v1.0.2: - / op.v1.0.0, op.v1.0.1 / <1.0.2
        op.v1.1.0: op.v1.0.2 / - / <1.1.0
        op.v1.2.0: - / - / <1.2.0
        op.v1.2.1: op.v1.1.0 / op.v1.2.0 / <1.2.1""")


def test_a_chain_of_versions_stays_in_its_channel(tmp_path: Path) -> None:
    write_bundle(tmp_path / "op" / "1.0.0", "op.v1.0.0", channels="a,b")
    write_bundle(tmp_path / "op" / "1.1.0", "op.v1.1.0", channels="b")
    write_bundle(tmp_path / "op" / "1.2.0", "op.v1.2.0", channels="a,b")
    catalog = read_packages(tmp_path)
    assert edges(catalog, "a") == "op.v1.0.0\nop.v1.2.0: op.v1.0.0"
    assert edges(catalog, "b") == "op.v1.0.0\nop.v1.1.0: op.v1.0.0\nop.v1.2.0: op.v1.1.0"


def test_of_two_equal_versions_the_next_replaces_the_last(tmp_path: Path) -> None:
    catalog = read_packages(_repository(tmp_path, "1.0.0", "1.1.0+1", "1.1.0+2", "1.2.0"))
    lines = edges(catalog).splitlines()
    assert [line.partition(" / ")[0] for line in lines] == [
        "op.v1.0.0: -",
        "op.v1.1.0+1: op.v1.0.0",
        "op.v1.1.0+2: op.v1.0.0",
        "op.v1.2.0: op.v1.1.0+2",
    ]


@pytest.mark.parametrize("mode", ["semver-mode", "semver-skippatch"])
def test_a_version_that_is_none_has_no_place_in_the_order(tmp_path: Path, mode: str) -> None:
    _repository(tmp_path, "1.0.0", "1.1.0", mode=mode)
    write_bundle(tmp_path / "op" / "odd", "op.v2", version="2")
    write_bundle(tmp_path / "op" / "even", "op.v3", version="3")
    (package,) = read_packages(tmp_path).packages
    entries = {entry.name: (entry.replaces, entry.skips) for entry in package.channels[0].entries}
    assert entries == {
        "op.v2": (None, ()),
        "op.v3": (None, ()),
        "op.v1.0.0": (None, ()),
        "op.v1.1.0": ("op.v1.0.0", ()),
    }


@pytest.mark.parametrize("mode", UpdateMode)
def test_declaration_has_the_update_mode(tmp_path: Path, mode: UpdateMode) -> None:
    assert _mode(_repository(tmp_path, "1.0.0", mode=mode.value)) is mode


@pytest.mark.parametrize("ci", [None, "reviewers: [me]", "", "- a", "updateGraph:", "# nothing"])
def test_without_a_mode_the_default_counts(tmp_path: Path, ci: str | None) -> None:
    _repository(tmp_path, "1.0.0")
    if ci is not None:
        write(tmp_path, {"op/ci.yaml": ci})
    assert _mode(tmp_path) is UpdateMode.SEMVER
    assert _mode(tmp_path, default_mode=UpdateMode.REPLACES) is UpdateMode.REPLACES
    assert not read_packages(tmp_path).problems


@pytest.mark.parametrize(
    "ci",
    [
        "    updateGraph: replaces-mode\n    reviewers:\n      - me\n",
        "{updateGraph: replaces-mode}",
        "updateGraph: 'replaces-mode' # really",
        "updateGraph: replaces-mode\r\n",
    ],
)
def test_a_mode_is_found_in_any_style(tmp_path: Path, ci: str) -> None:
    write(_repository(tmp_path, "1.0.0"), {"op/ci.yaml": ci})
    assert _mode(tmp_path) is UpdateMode.REPLACES


def test_ci_yml_counts_too(tmp_path: Path) -> None:
    write(_repository(tmp_path, "1.0.0"), {"op/ci.yml": "updateGraph: replaces-mode"})
    assert _mode(tmp_path) is UpdateMode.REPLACES


@pytest.mark.parametrize(
    ("written", "taken"),
    [
        ("semver", UpdateMode.SEMVER),
        ("replaces", UpdateMode.REPLACES),
        ("nonsense", UpdateMode.SEMVER_SKIPPATCH),
    ],
)
def test_a_word_that_is_no_mode_is_reported(tmp_path: Path, written: str, taken: UpdateMode) -> None:
    catalog = read_packages(
        _repository(tmp_path, "1.0.0", mode=written), default_mode=UpdateMode.SEMVER_SKIPPATCH
    )
    assert catalog.packages[0].declarations[0].mode is taken
    assert problems(catalog) == [("unknown-update-mode", "ci.yaml")]
    (problem,) = catalog.problems
    assert taken.value in problem.message
    assert locate(problem.place, Sources()).source_line == f"updateGraph: {written}"


def test_a_ci_yaml_that_does_not_parse_is_reported(tmp_path: Path) -> None:
    write(_repository(tmp_path, "1.0.0"), {"op/ci.yaml": "updateGraph: ["})
    catalog = read_packages(tmp_path)
    assert problems(catalog) == [("unreadable-document", "ci.yaml")]
    assert len(catalog.packages[0].bundles) == 1


def test_update_mode_of_a_wrong_type_and_duplicate_are_reported(tmp_path: Path) -> None:
    write(_repository(tmp_path, "1.0.0"), {"op/ci.yaml": "updateGraph: [semver-mode]"})
    assert problems(read_packages(tmp_path)) == [("wrong-type", "ci.yaml")]
    write(tmp_path, {"op/ci.yaml": "updateGraph: semver-mode\nupdateGraph: replaces-mode"})
    assert problems(read_packages(tmp_path)) == [("duplicate-key", "ci.yaml")]
    assert _mode(tmp_path) is UpdateMode.REPLACES


def test_the_default_channel_is_that_of_the_highest_version_that_names_one(tmp_path: Path) -> None:
    write_bundle(tmp_path / "op" / "1.9.0", "op.v1.9.0", channels="a,b", default="a")
    write_bundle(tmp_path / "op" / "1.10.0", "op.v1.10.0", channels="a,b", default="b")
    write_bundle(tmp_path / "op" / "1.11.0", "op.v1.11.0", channels="a,b")
    (package,) = read_packages(tmp_path).packages
    (declaration,) = package.declarations
    assert (declaration.default_channel, declaration.inferred) == ("b", False)
    assert "1.10.0" in declaration.place.file
    assert channels(package).keys() == {"a", "b"}
