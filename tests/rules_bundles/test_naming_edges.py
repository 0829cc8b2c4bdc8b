"""Names, folders and versions: how many ways there are to spell one, and where a difference is told."""

from __future__ import annotations

import pytest

from documents import bundle, catalog, channel, in_folder, package, repository
from everpath.rules.findings import Severity
from graphs import findings, parse_report

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


def test_what_stands_behind_the_last_v_is_the_version_of_a_name() -> None:
    assert named("op-1.0.0.v2.0.0", "3.0.0") == [
        ("EP410 op-1.0.0.v2.0.0: op-1.0.0.v2.0.0 has version 3.0.0, not the 2.0.0 it is named after")
    ]


def test_a_name_that_ends_in_a_word_still_says_another_version() -> None:
    assert len(named("op.v1.0.0-rc", "2.0.0")) == 1


def test_a_name_that_says_another_version_is_told_how_to_end() -> None:
    (finding,) = parse_report(repository(in_folder("op.v2.0.0", "1.0.0+7")), "EP410")
    assert finding.place.pointer == ("metadata", "name")
    assert finding.because == ("whoever reads the name takes it for another release",)
    assert finding.fix is not None
    assert finding.fix.startswith("before its release let it end in .v1.0.0-7, or ")


def test_a_name_without_a_v_is_told_how_to_go_on() -> None:
    (finding,) = parse_report(repository(in_folder("Op-1.0.0-RC1", "1.0.0-RC1+7")), "EP410")
    assert (finding.severity, finding.place.pointer) == (Severity.NOTE, ("metadata", "name"))
    assert finding.message == "the name of Op-1.0.0-RC1 does not end in .v1.0.0-rc1-7"
    assert finding.because == ("operator-sdk and OperatorHub expect NAME.vVERSION",)
    assert finding.fix == "call the next release Op.vVERSION"


def test_every_folder_of_another_version_is_told() -> None:
    made = repository(in_folder("op.v1.0.0", folder="2.0.0"), in_folder("op.v3.0.0", folder="4.0.0"))
    found = parse_report(made, "EP411")
    assert [f.entry for f in found] == ["op.v1.0.0", "op.v3.0.0"]
    assert found[0].place.pointer == ("spec", "version")
    assert found[0].because == ("pipelines go by the folder, OLM by the version",)


def test_a_package_other_than_the_folder_s_is_told_at_the_annotation() -> None:
    astray = in_folder("op.v1.0.0")._replace(package="other")
    (finding,) = parse_report(repository(astray), "EP412")
    assert finding.place.pointer == ANNOTATED
    assert finding.because == ("catalogs go by the annotation, repositories by the folder",)


def test_a_bundle_without_a_version_is_told_to_state_the_one_of_its_folder() -> None:
    made = in_folder("op.v1.1.0", folder="1.1.0")
    assert made.csv is not None
    without = made._replace(version=None, csv=made.csv._replace(version=None))
    (finding,) = parse_report(repository(without), "EP411")
    assert finding.message == "op.v1.1.0 has no version and lies in the folder 1.1.0"
    assert finding.fix == "write version: 1.1.0 into its spec"
