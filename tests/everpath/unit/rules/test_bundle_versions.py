"""Rules about versions of bundles, and versions in their names."""

from __future__ import annotations

import pytest

from everpath.model import Catalog, Csv, Place, Property
from everpath.rules.findings import Severity
from tests.support.everpath.documents import (
    bundle,
    catalog,
    channel,
    in_folder,
    package,
    package_property,
    repository,
)
from tests.support.everpath.graphs import findings, parse_report

A = "op.v1.0.0"


def versions(**of: str) -> Catalog:
    """A package with these bundles and versions."""
    names = [name.replace("_", "-") for name in of]
    made = [bundle(name, version) for name, version in zip(names, of.values(), strict=True)]
    return catalog(package(), channel(*names), *made)


@pytest.mark.parametrize(
    ("version", "read"), [("v1.0", "1.0.0"), ("1.00.0", "1.0.0"), ("v1.2.3-rc.1", "1.2.3-rc.1")]
)
def test_finding_shows_the_tolerant_version(version: str, read: str) -> None:
    (finding,) = parse_report(versions(op=version), "bundle-version")
    assert f"on a cluster, OLM reads it as {read}" in finding.because
    assert finding.fix == f"write {read}"
    assert finding.place.pointer == ("properties", 0, "value", "version")


def test_version_that_never_parses_has_the_position_of_the_error() -> None:
    (finding,) = parse_report(versions(op="1.2.x"), "EP406")
    assert finding.because[:2] == ("1.2.x", "    ^ " + finding.message.rpartition(": ")[2])
    assert finding.fix == "write a version such as 1.2.3"


def test_a_csv_without_version_is_reported_at_the_csv() -> None:
    made = in_folder(A)
    assert made.csv is not None
    bare = type(made)(A, "op", None, made.place, csv=made.csv)
    (finding,) = parse_report(repository(bare), "EP406")
    assert (finding.message, finding.place.pointer) == (
        f"{A} has no version",
        ("spec", "version"),
    )


def test_version_is_reported_at_the_csv_even_with_a_property() -> None:
    stated = Property("olm.package", {"packageName": "op", "version": "1.0"}, Place("properties.yaml"))
    (finding,) = parse_report(repository(in_folder(A, "1.0", stated)), "EP406")
    assert finding.place.file == "operators/op/1.0/manifests/csv.yaml"


def test_a_version_of_a_wrong_type_is_reported_once() -> None:
    odd = {**bundle(A), "properties": [{"type": "olm.package", "value": {"packageName": "op", "version": 1}}]}
    made = catalog(package(), channel(A), odd)
    assert [f.rule for f in parse_report(made, "EP406", "EP423")] == ["EP423"]


def released(name: str, version: str, release: str) -> Catalog:
    stated = package_property("op", version, release=release)
    return catalog(package(), channel(name), {**bundle(name), "properties": [stated]})


def test_a_release_is_part_of_the_name() -> None:
    assert findings(released("op-v1.0.0-1.a", "1.0.0", "1.a"), "EP407") == []
    (finding,) = parse_report(released(A, "1.0.0", "1"), "bundle-release")
    assert finding.fix == "rename it to op-v1.0.0-1"


def test_a_release_and_build_metadata_exclude_each_other() -> None:
    (finding,) = parse_report(released("op-v1.0.0+7-1", "1.0.0+7", "1"), "EP407")
    assert finding.fix == "remove +7 from the version"


@pytest.mark.parametrize(
    ("release", "fault"),
    [
        ("a" * 21, "it has more than 20 characters"),
        ("1+2", "it has a '+'"),
        ("é" * 11, "it has more than 20 characters"),
    ],
)
def test_invalid_release_has_a_reason(release: str, fault: str) -> None:
    (finding,) = parse_report(released(f"op-v1.0.0-{release}", "1.0.0", release), "EP407")
    assert finding.message.endswith(f": {fault}")


def test_release_without_a_version_is_checked() -> None:
    assert findings(released(A, "1.0", "1"), "EP407") == []


def test_release_has_at_most_20_characters() -> None:
    assert findings(released(f"op-v1.0.0-{'a' * 20}", "1.0.0", "a" * 20), "EP407") == []


def test_two_bundles_of_one_version_are_an_error() -> None:
    assert findings(versions(a="1.0.0", b="1.0.0"), "duplicate-version") == [
        "EP408 b: a and b both have version 1.0.0"
    ]


def test_invalid_versions_are_not_duplicates() -> None:
    assert findings(versions(a="1.0", b="1.0"), "EP408") == []


def test_different_versions_are_neither_duplicate_nor_equal() -> None:
    assert findings(versions(a="1.0.0", b="1.0.1"), "EP408", "EP409") == []


def test_s17_builds_of_one_version_are_in_the_same_ranges() -> None:
    made = versions(a="1.0.0+1", b="1.0.0+2")
    assert findings(made, "EP408") == []
    assert findings(made, "equal-precedence") == [
        "EP409 b: OLM v0 cannot order a and b: 1.0.0+1 and 1.0.0+2 are equal"
    ]


def test_duplicate_versions_are_not_reported_as_equal_too() -> None:
    assert findings(versions(a="1.0.0", b="1.0.0"), "EP409") == []


def test_releases_of_one_version_are_a_note() -> None:
    plain, one, two = bundle(A), "op-v1.0.0-1", "op-v1.0.0-2"
    made = [{**bundle(n), "properties": [package_property(release=r)]} for n, r in ((one, "1"), (two, "2"))]
    for pair in (made, [plain, made[0]], [bundle("earlier-by-name", "1.0.0"), made[0]]):
        (finding,) = parse_report(catalog(package(), channel(*(b["name"] for b in pair)), *pair), "EP409")
        assert finding.severity is Severity.NOTE


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("op.v1.0.0", "1.0.0"),
        ("op.v1.0.0-rc1", "1.0.0-RC1"),
        ("op.v1.0.0-5", "1.0.0+5"),
        ("op.v1.0.0", "1.0.0+5"),
        ("op.v1.0.1+1", "1.0.1+1"),
        ("op.1.0.0", "1.0.0"),
        ("1.0.0", "1.0.0"),
        ("op-4.5.6.v1.0.0", "1.0.0"),
        ("op-latest", "1.0.0"),
    ],
)
def test_names_that_agree_with_the_version(name: str, version: str) -> None:
    assert findings(catalog(package(), channel(name), bundle(name, version)), "EP410") == []


def test_name_is_not_checked_without_a_version_or_with_a_release() -> None:
    assert findings(catalog(package(), channel("op.v1.0.0"), bundle("op.v1.0.0", "1.0")), "EP410") == []
    assert findings(released("op.v1.0.1", "1.0.0", "1"), "EP410") == []


@pytest.mark.parametrize(
    ("name", "version", "stated"),
    [
        ("op.v1.5.2", "1.5.4", "1.5.2"),
        ("op.v1.4.1-78", "1.4.1-79", "1.4.1-78"),
        ("op.v2.3.0-1", "2.3.0", "2.3.0-1"),
        ("op-1.0.0", "1.0.1", "1.0.0"),
        ("op.v11.0.0", "1.0.0", "11.0.0"),
        ("quay.vv3.10.19", "3.10.18", "3.10.19"),
    ],
)
def test_a_name_with_another_version_is_a_warning(name: str, version: str, stated: str) -> None:
    (finding,) = parse_report(
        catalog(package(), channel(name), bundle(name, version)), "name-and-version-differ"
    )
    assert finding.message == f"{name} looks like {stated}, but its version is {version}"
    assert finding.severity is Severity.WARNING
    assert finding.fix == (
        f"before the release, end the name in .v{version} or correct the version; after it, change neither, "
        "and use a version above both for the next release"
    )


@pytest.mark.parametrize(
    ("name", "prefix"), [("prometheusoperator.0.47.0", "prometheusoperator"), ("tf-operator.latest", "op")]
)
def test_bundle_folder_whose_name_has_no_version_is_a_note(name: str, prefix: str) -> None:
    (finding,) = parse_report(repository(in_folder(name, "0.47.0")), "EP410")
    assert finding.severity is Severity.NOTE
    assert finding.fix == f"name the next release {prefix}.vVERSION"


def test_prefix_of_a_name_can_differ_from_the_package() -> None:
    assert findings(repository(in_folder("postgresoperator.v4.7.5")), "EP410") == []


def test_a_folder_of_another_version_is_a_warning() -> None:
    (finding,) = parse_report(repository(in_folder("op.v0.7.1", folder="0.7.2")), "folder-and-version-differ")
    assert (
        finding.message == "pipelines publish op.v0.7.1 as 0.7.2, like its folder, but it has version 0.7.1"
    )
    assert finding.entry == "op.v0.7.1"
    assert finding.fix == (
        "rename the folder to 0.7.1; or, before the release, change spec.version to 0.7.2 and the end of the "
        "name to .v0.7.2"
    )


def test_fix_does_not_rename_a_folder_to_an_existing_one() -> None:
    made = repository(in_folder("op.v0.7.1"), in_folder("op.v0.7.1", folder="0.7.2"))
    (finding,) = parse_report(made, "EP411")
    assert finding.fix == (
        "change spec.version to 0.7.2 and the end of the name to .v0.7.2, before the release; there is "
        "already a folder 0.7.1"
    )


@pytest.mark.parametrize("folder", ["1.0.0", "v1.0.0", "bundle", "candidate"])
def test_folder_named_after_the_version_or_without_version_is_accepted(folder: str) -> None:
    assert findings(repository(in_folder(A, folder=folder)), "EP411") == []


def test_a_package_in_another_packages_folder_is_a_warning() -> None:
    made = in_folder("konflux.v1.0.0", package="konflux")
    place = Place("operators/konflux/1.0.0/manifests/csv.yaml", dialect="csv")
    csv = Csv(place, "1.0.0", folder="1.0.0", package="konflux-operator", channels=("stable",))
    moved = type(made)("konflux.v1.0.0", "konflux-operator", "1.0.0", place, csv=csv)
    (finding,) = parse_report(repository(moved), "package-differs-from-folder")
    assert finding.message.endswith(
        "is published in the package konflux-operator, but it is in the folder of konflux"
    )
    assert findings(repository(made), "EP412") == []
    assert finding.fix == (
        "move the folder to operators/konflux-operator; do not change the annotation of a published bundle: "
        "to OLM another name is another package"
    )


def test_rendered_bundle_has_no_folder() -> None:
    assert findings("b: a\na", "EP411", "EP412") == []


def test_other_package_is_reported_at_the_annotation_or_the_csv() -> None:
    for notes in (Place("annotations.yaml", dialect="annotations"), None):
        csv = Csv(Place("f"), "1.0.0", folder="1.0.0", annotations=notes, channels=("stable",))
        place = Place("/home/me/operators/konflux/1.0.0/bundle/manifests/csv.yaml", dialect="csv")
        made = in_folder(A)
        (finding,) = parse_report(repository(type(made)(A, "op", "1.0.0", place, csv=csv)), "EP412")
        assert finding.place.file == (notes or place).file


def test_only_a_repository_of_operators_has_folders_named_after_packages() -> None:
    made = in_folder(A)
    assert made.csv is not None
    for file in (
        "bundles/1.0.0/manifests/csv.yaml",
        "a/b/1.0.0/manifests/csv.yaml",
        "operators/a/b/1.0.0/csv.yaml",
    ):
        elsewhere = type(made)(A, "op", "1.0.0", Place(file, dialect="csv"), csv=made.csv)
        assert findings(repository(elsewhere), "EP412") == []
