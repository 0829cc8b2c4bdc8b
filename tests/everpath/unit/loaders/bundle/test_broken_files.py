"""Invalid files are reported with their place, and the others are loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.loaders.source_positions import locate
from everpath.loaders.sources import Sources
from tests.support.everpath.bundles import annotations_yaml, csv, problems, read_bundle, write, write_bundle

CSV = "manifests/op.v1.0.0.clusterserviceversion.yaml"


@pytest.mark.parametrize(
    ("old", "new", "pointer"),
    [
        ("version: 1.0.0", "version: 1.0", ("spec", "version")),
        ("version: 1.0.0", "replaces: [a]", ("spec", "replaces")),
        ("version: 1.0.0", "skips: a", ("spec", "skips")),
        ("version: 1.0.0", "skips: [a, 1]", ("spec", "skips", 1)),
        ("name: op.v1.0.0", "name: {}", ("metadata", "name")),
        ("name: op.v1.0.0", "annotations: []", ("metadata", "annotations")),
        ("name: op.v1.0.0", "annotations: {olm.skipRange: 1}", ("metadata", "annotations", "olm.skipRange")),
        ("  version: 1.0.0", "- a", ("spec",)),
        ("  name: op.v1.0.0", "- a", ("metadata",)),
    ],
)
def test_value_of_a_wrong_type_is_reported_at_its_place(
    tmp_path: Path, old: str, new: str, pointer: tuple[str | int, ...]
) -> None:
    write_bundle(tmp_path)
    write(tmp_path, {CSV: csv().replace(old, new)})
    (problem,) = read_bundle(tmp_path).problems
    assert (problem.kind, problem.place.pointer) == ("wrong-type", pointer)
    assert ".".join(map(str, pointer)) in problem.message


@pytest.mark.parametrize(
    ("files", "kind", "package"),
    [
        ({"metadata/annotations.yaml": annotations_yaml(package="acme")}, "no-csv", "acme"),
        (
            {"metadata/annotations.yaml": annotations_yaml(None), "manifests/x.yaml": "a: b"},
            "no-csv",
            "folder",
        ),
        ({CSV: csv("acme.v1.0.0")}, "no-annotations", "acme"),
        ({CSV: csv("latest")}, "no-annotations", "latest"),
        (
            {
                CSV: csv("op.v1.0.0"),
                "manifests/z.yaml": csv("op.v1.0.1"),
                "metadata/annotations.yaml": annotations_yaml(package="acme"),
            },
            "several-csvs",
            "acme",
        ),
    ],
)
def test_a_bundle_read_alone_is_reported_for_its_own_package(
    tmp_path: Path, files: dict[str, str], kind: str, package: str
) -> None:
    (tmp_path / "folder" / "manifests").mkdir(parents=True)
    (problem,) = read_bundle(write(tmp_path / "folder", files)).problems
    assert (problem.kind, problem.package) == (kind, package)


def test_a_wrong_type_says_what_it_is_and_should_be(tmp_path: Path) -> None:
    write_bundle(tmp_path, replaces=True)
    assert read_bundle(tmp_path).problems[0].message == "spec.replaces is a boolean, not a string"


def test_other_values_of_a_csv_survive_a_wrong_type(tmp_path: Path) -> None:
    write_bundle(tmp_path, replaces=1, skips=["a", 2])
    (entry,) = read_bundle(tmp_path).packages[0].channels[0].entries
    assert (entry.replaces, entry.skips) == (None, ("a",))


def test_a_csv_that_does_not_parse_is_unreadable(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    write(tmp_path, {CSV: csv() + "  bad: [\n  worse\n"})
    catalog = read_bundle(tmp_path)
    assert problems(catalog) == [("unreadable-document", Path(CSV).name)]
    assert not catalog.packages


def test_what_does_not_parse_is_shown_with_its_line(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    write(tmp_path, {"metadata/dependencies.yaml": "dependencies:\n- type: olm.package\n   value: ünï: x\n"})
    (problem,) = read_bundle(tmp_path).problems
    assert problem.kind == "unreadable-document"
    assert problem.message.startswith("not YAML: ")
    assert locate(problem.place, Sources()).line == 3


def test_a_manifest_that_does_not_parse_is_reported_once(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    write(tmp_path, {"manifests/crd.yaml": "a: [ # ClusterServiceVersion"})
    assert problems(read_bundle(tmp_path)) == [("unreadable-document", "crd.yaml")]


@pytest.mark.parametrize("text", ["dependencies: 1", "dependencies: [1]", "dependencies: [{type: 1}]"])
def test_dependencies_of_a_wrong_type_are_reported(tmp_path: Path, text: str) -> None:
    write_bundle(tmp_path)
    write(tmp_path, {"metadata/dependencies.yaml": text})
    assert problems(read_bundle(tmp_path)) == [("wrong-type", "dependencies.yaml")]


def test_annotations_of_a_wrong_type_are_reported(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    write(tmp_path, {"metadata/annotations.yaml": annotations_yaml().replace("stable", "[stable]")})
    assert problems(read_bundle(tmp_path)) == [("wrong-type", "annotations.yaml")]


def test_repeated_annotations_are_reported(tmp_path: Path) -> None:
    key = "operators.operatorframework.io.bundle.channels.v1"
    write_bundle(tmp_path)
    write(tmp_path, {"metadata/annotations.yaml": f"{annotations_yaml()}  {key}: beta\n"})
    catalog = read_bundle(tmp_path)
    assert problems(catalog) == [("duplicate-key", "annotations.yaml")]
    assert catalog.problems[0].place.pointer == ("annotations", key)
    assert [c.name for c in catalog.packages[0].channels] == ["beta"]


def test_a_csv_without_a_name_keeps_its_place(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    write(tmp_path, {CSV: csv().replace("name: op.v1.0.0", "labels: {}")})
    (bundle,) = read_bundle(tmp_path).packages[0].bundles
    assert bundle.name == ""
    assert bundle.place.file.endswith(CSV)


def test_a_csv_without_a_version_has_none(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    write(tmp_path, {CSV: csv().replace("version: 1.0.0", "maturity: alpha")})
    (bundle,) = read_bundle(tmp_path).packages[0].bundles
    assert bundle.version is None
    assert bundle.properties == ()
