"""Versions in names of bundles and folders: accepted spellings, and the position of findings."""

from __future__ import annotations

import pytest

from everpath.rules.findings import Severity
from tests.support.everpath.documents import bundle, catalog, channel, in_folder, package, repository
from tests.support.everpath.graphs import findings, parse_report

ANNOTATED = ("annotations", "operators.operatorframework.io.bundle.package.v1")


def named(name: str, version: str) -> list[str]:
    """What EP410 says of a bundle in a catalog."""
    return findings(catalog(package(), channel(name), bundle(name, version)), "EP410")


@pytest.mark.parametrize("name", ["op.v1.0.0-7", "op.v1.0.0.7", "op.v1.0.0", "op.v1.0.0+7"])
def test_a_name_may_spell_build_metadata_in_four_ways(name: str) -> None:
    assert named(name, "1.0.0+7") == []
    assert findings(repository(in_folder(name, "1.0.0+7")), "EP410") == []


def test_the_case_of_a_version_does_not_matter_in_a_name() -> None:
    assert named("op.v1.0.0-RC1", "1.0.0-RC1") == []
    assert findings(repository(in_folder("op.v1.0.0-RC1", "1.0.0-RC1")), "EP410") == []


def test_version_of_a_name_follows_the_last_v() -> None:
    assert named("op-1.0.0.v2.0.0", "3.0.0") == [
        "EP410 op-1.0.0.v2.0.0: op-1.0.0.v2.0.0 looks like 2.0.0, but its version is 3.0.0"
    ]


def test_name_with_a_prerelease_contains_another_version() -> None:
    assert len(named("op.v1.0.0-rc", "2.0.0")) == 1


def test_name_with_another_version_has_a_fix() -> None:
    (finding,) = parse_report(repository(in_folder("op.v2.0.0", "1.0.0+7")), "EP410")
    assert finding.place.pointer == ("metadata", "name")
    assert finding.because == ("users and tools read the version from the name",)
    assert finding.fix is not None
    assert finding.fix.startswith("before the release, end the name in .v1.0.0-7 or ")


def test_name_without_a_v_has_a_fix_for_the_next_release() -> None:
    (finding,) = parse_report(repository(in_folder("Op-1.0.0-RC1", "1.0.0-RC1+7")), "EP410")
    assert (finding.severity, finding.place.pointer) == (Severity.NOTE, ("metadata", "name"))
    assert finding.message == "the name of Op-1.0.0-RC1 does not end in .v1.0.0-rc1-7"
    assert finding.because == ("operator-sdk and OperatorHub expect NAME.vVERSION",)
    assert finding.fix == "name the next release Op.vVERSION"


def test_every_folder_with_another_version_is_reported() -> None:
    made = repository(in_folder("op.v1.0.0", folder="2.0.0"), in_folder("op.v3.0.0", folder="4.0.0"))
    found = parse_report(made, "EP411")
    assert [f.entry for f in found] == ["op.v1.0.0", "op.v3.0.0"]
    assert found[0].place.pointer == ("spec", "version")
    assert found[0].because == ("pipelines use the name of the folder, OLM uses spec.version",)


def test_package_that_differs_from_the_folder_is_reported_at_the_annotation() -> None:
    astray = in_folder("op.v1.0.0")._replace(package="other")
    (finding,) = parse_report(repository(astray), "EP412")
    assert finding.place.pointer == ANNOTATED
    assert finding.because == ("catalogs use the annotation, repositories use the folder",)


def test_fix_for_a_missing_version_is_that_of_the_folder() -> None:
    made = in_folder("op.v1.1.0", folder="1.1.0")
    assert made.csv is not None
    without = made._replace(version=None, csv=made.csv._replace(version=None))
    (finding,) = parse_report(repository(without), "EP411")
    assert finding.message == "pipelines publish op.v1.1.0 as 1.1.0, like its folder, but it has no version"
    assert finding.fix == "set spec.version to 1.1.0"
