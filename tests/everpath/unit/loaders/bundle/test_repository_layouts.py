"""The folders of a repository: packages, versions, and others."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.loaders.bundle.detect import is_repository
from tests.support.everpath.bundles import (
    annotations_yaml,
    channels,
    csv,
    edges,
    problems,
    read_packages,
    write,
    write_bundle,
)


def _package(folder: Path) -> Path:
    write_bundle(folder / "1.0.0", "op.v1.0.0")
    write_bundle(folder / "1.1.0", "op.v1.1.0", replaces="op.v1.0.0")
    write(folder, {"ci.yaml": "updateGraph: replaces-mode"})
    return folder


@pytest.mark.parametrize("given", ["", "operators", "operators/op"])
def test_a_repository_its_operators_and_one_package_are_all_accepted(tmp_path: Path, given: str) -> None:
    _package(tmp_path / "operators" / "op")
    write(
        tmp_path,
        {"operators/OWNERS": "x", "README.md": "x", "docs/index.md": "x", "operators/empty/ci.yaml": "a: b"},
    )
    assert is_repository(str(tmp_path / given))
    catalog = read_packages(tmp_path / given)
    assert edges(catalog) == "op.v1.0.0\nop.v1.1.0: op.v1.0.0"
    assert not catalog.problems


def test_a_package_given_as_a_dot_has_the_name_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "op", {"1.0.0/manifests/op.clusterserviceversion.yaml": csv()})
    monkeypatch.chdir(folder)
    assert [package.name for package in read_packages(Path()).packages] == ["op"]


def test_files_are_named_as_the_user_named_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _package(tmp_path / "operators" / "op")
    monkeypatch.chdir(tmp_path)
    (package,) = read_packages(Path("operators")).packages
    assert (
        package.bundles[0].place.file == "operators/op/1.0.0/manifests/op.v1.0.0.clusterserviceversion.yaml"
    )


def test_what_is_no_bundle_is_passed_over(tmp_path: Path) -> None:
    package = _package(tmp_path / "op")
    for folder in ("catalog-templates", "docs", "1.0.0/tests/scorecard", "1.0.0/licenses", "1.1.0/ci"):
        write(package / folder, {"some.yaml": "a: b"})
    write(
        package,
        {"OWNERS": "x", "1.0.0/release-config.yaml": "catalog_templates: '[alpha]'", "1.0.0/Dockerfile": "x"},
    )
    catalog = read_packages(tmp_path)
    assert channels(catalog.packages[0]) == {"stable": ["op.v1.0.0", "op.v1.1.0"]}
    assert not catalog.problems


def test_versions_may_have_different_layouts(tmp_path: Path) -> None:
    write(
        tmp_path / "op",
        {
            "1.0.0/manifests/op.clusterserviceversion.yml": csv("op.v1.0.0"),
            "1.0.0/metadata/annotations.yml": annotations_yaml(),
            "1.1.0/bundle/manifests/op.clusterserviceversion.yaml": csv("op.v1.1.0"),
            "1.1.0/bundle/metadata/annotations.yaml": annotations_yaml(),
            "1.2.0/op.clusterserviceversion.yaml": csv("op.v1.2.0"),
            "1.2.0/metadata/annotations.yaml": annotations_yaml(),
        },
    )
    catalog = read_packages(tmp_path)
    assert channels(catalog.packages[0]) == {"stable": ["op.v1.0.0", "op.v1.1.0", "op.v1.2.0"]}
    assert [b.csv.folder for b in catalog.packages[0].bundles if b.csv] == ["1.0.0", "1.1.0", "1.2.0"]
    assert not catalog.problems


def test_beside_manifests_a_bundle_folder_is_a_second_csv(tmp_path: Path) -> None:
    version = write_bundle(tmp_path / "op" / "1.0.0")
    write_bundle(version / "bundle", "other.v1.0.0")
    catalog = read_packages(tmp_path)
    assert [b.name for b in catalog.packages[0].bundles] == ["op.v1.0.0"]
    assert problems(catalog) == [("several-csvs", "other.v1.0.0.clusterserviceversion.yaml")]


def test_a_version_without_a_csv_is_a_problem_of_its_package(tmp_path: Path) -> None:
    _package(tmp_path / "op")
    write(
        tmp_path / "op",
        {"1.2.0/metadata/annotations.yaml": annotations_yaml(), "1.2.0/manifests/crd.yaml": "kind: X"},
    )
    catalog = read_packages(tmp_path)
    assert problems(catalog) == [("no-csv", "manifests")]
    assert catalog.problems[0].package == "op"
    assert len(catalog.packages[0].bundles) == 2


def test_the_package_is_what_annotations_say_not_the_folder(tmp_path: Path) -> None:
    _package(tmp_path / "konflux")
    (package,) = read_packages(tmp_path).packages
    assert package.name == "op"


def test_a_package_file_among_plain_csvs_makes_a_package_manifest(tmp_path: Path) -> None:
    write(
        tmp_path / "litmuschaos",
        {
            "0.1.0/a.clusterserviceversion.yaml": csv("op.v0.1.0"),
            "0.2.0/a.clusterserviceversion.yaml": csv("op.v0.2.0", replaces="op.v0.1.0"),
            "litmuschaos.package.yaml": "packageName: l\nchannels: [{name: stable, currentCSV: op.v0.2.0}]",
        },
    )
    assert is_repository(str(tmp_path))
    catalog = read_packages(tmp_path)
    assert [p.name for p in catalog.packages] == ["l"]
    assert edges(catalog) == "op.v0.1.0\nop.v0.2.0: op.v0.1.0"
    assert not catalog.problems


def test_a_package_file_left_beside_bundles_does_not_count(tmp_path: Path) -> None:
    write(_package(tmp_path / "op"), {"op.package.yaml": "packageName: old"})
    assert [p.name for p in read_packages(tmp_path).packages] == ["op"]


def test_other_manifests_are_not_opened_in_a_repository(tmp_path: Path) -> None:
    _package(tmp_path / "op")
    write(tmp_path / "op", {"1.0.0/manifests/crd.yaml": "this: is: no YAML, nor a ClusterServiceVersion"})
    assert not read_packages(tmp_path).problems


def test_thorough_load_parses_what_a_scan_skips(tmp_path: Path) -> None:
    write_bundle(tmp_path / "op" / "1.0.0")
    file = tmp_path / "op/1.0.0/manifests/op.v1.0.0.clusterserviceversion.yaml"
    file.write_text(file.read_text() + "  install:\n    a: b\n   c: d\n")
    assert not read_packages(tmp_path).problems
    assert problems(read_packages(tmp_path, thorough=True)) == [("unreadable-document", file.name)]


def test_progress_is_reported_for_every_package(tmp_path: Path) -> None:
    for name in "abc":
        _package(tmp_path / name)
    steps: list[tuple[int, int, str]] = []
    read_packages(tmp_path, progress=lambda *step: steps.append(step))
    assert steps == [(0, 3, "a"), (1, 3, "b"), (2, 3, "c")]


@pytest.mark.parametrize(
    "files",
    [
        {"p/catalog.yaml": "schema: olm.package"},
        {"catalog.yaml": "schema: olm.package"},
        {"operators/README.md": "none yet"},
        {"p/1.0.0/manifests/deployment.yaml": "kind: Deployment"},
    ],
)
def test_what_holds_no_bundles_is_no_repository(tmp_path: Path, files: dict[str, str]) -> None:
    assert not is_repository(str(write(tmp_path, files)))
