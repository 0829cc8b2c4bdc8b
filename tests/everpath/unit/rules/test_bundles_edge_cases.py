"""Rules about bundles: all findings, their positions and consequences."""

from __future__ import annotations

from typing import Any

from everpath.model import Bundle, Catalog, Channel, Declaration, Package, Place
from everpath.rules.findings import Severity
from tests.support.everpath.documents import (
    Document,
    bundle,
    catalog,
    channel,
    in_folder,
    package,
    package_property,
    repository,
)
from tests.support.everpath.graphs import findings, parse_report

A, B, C = "op.v1.0.0", "op.v1.1.0", "op.v1.2.0"
REJECTED = "opm rejects the catalog"
PLACE = Place("op.yaml")


def released(name: str, version: str, release: str) -> Document:
    return {**bundle(name), "properties": [package_property("op", version, release=release)]}


def test_every_entry_without_a_bundle_is_reported_with_its_position() -> None:
    found = parse_report(catalog(package(), channel(A, B, C), bundle(B)), "EP401")
    assert [(f.entry, f.place.pointer) for f in found] == [
        (A, ("entries", 0, "name")),
        (C, ("entries", 2, "name")),
    ]
    assert {f.fix for f in found} == {"add the olm.bundle document"}


def test_entry_without_a_name_has_no_bundle() -> None:
    (finding,) = parse_report(catalog(package(), channel(A, {"name": ""}), bundle(A)), "EP401")
    assert (finding.message, finding.fix) == (
        "an entry has no name",
        "write the name of its bundle",
    )


def test_an_entry_that_replaces_only_itself_may_be_removed() -> None:
    made = catalog(package(), channel({"name": A}, {"name": "x", "replaces": "x"}), bundle(A))
    (finding,) = parse_report(made, "EP401")
    assert finding.fix == "add the olm.bundle document, or remove the entry if it is not installed anywhere"


def test_entry_that_has_a_bundle_is_not_suggested() -> None:
    made = catalog(package(), channel(A, B), bundle(A), bundle(B), bundle("opp.v1.1.0"))
    (finding,) = parse_report(made, "EP402")
    assert finding.fix is not None
    assert finding.fix.startswith("add it to a channel, such as ")


def test_bundle_beside_one_without_annotations_is_reported() -> None:
    folders = (in_folder(A, annotations=None, channels=()), in_folder(B), in_folder(C, channels=()))
    assert [f.entry for f in parse_report(repository(*folders), "EP402")] == [C]


def way_in(*documents: Document, default: str = "stable") -> str | None:
    (finding,) = parse_report(catalog(package(default=default), *documents), "EP402")
    return finding.fix


def test_without_a_default_channel_the_fix_names_the_first() -> None:
    channels = channel(A, name="b"), channel(A, name="a"), channel(A, name="c")
    fix = way_in(*channels, bundle(A), bundle(B), default="gone")
    assert (
        fix
        == f"add it to a channel, such as b, with replaces: {A}; if it is not installed anywhere, remove it"
    )


def test_fix_skips_a_bundle_unless_it_is_newer_than_the_head() -> None:
    equal = way_in(channel(A), bundle(A), bundle("x", "1.0.0+1"))
    unknown = way_in(channel(B), bundle(C))
    for fix, head in ((equal, A), (unknown, B)):
        assert fix is not None
        assert f"and to the skips of {head}; " in fix


def test_duplicate_bundle_is_reported_at_its_name() -> None:
    (finding,) = parse_report(catalog(package(), channel(A), bundle(A), bundle(A)), "EP403")
    assert (finding.entry, finding.place.file, finding.place.pointer) == (A, "3.yaml", ("name",))
    assert finding.because == ("the first is in 2.yaml", REJECTED)
    assert finding.related is not None
    assert (finding.related.place.file, finding.related.place.pointer) == ("2.yaml", ("name",))


def test_fix_for_two_copied_folders_names_the_first() -> None:
    (finding,) = parse_report(repository(in_folder(A, folder="one"), in_folder(A, folder="two")), "EP403")
    assert finding.fix == "change name and version of the bundle in the folder one"


def test_long_invalid_image_is_shortened_in_the_message() -> None:
    (finding,) = parse_report(catalog(package(), channel(A), bundle(A, image="!" * 250)), "EP404")
    assert finding.because == (f"'{'!' * 200}' cannot be pulled; opm rejects the catalog",)
    assert finding.fix == "write host/path:tag or host/path@sha256:…"


def test_version_is_checked_if_one_of_two_properties_is_valid() -> None:
    properties = [package_property("op", "1.0"), {"type": "olm.package", "value": {"packageName": 1}}]
    made = catalog(package(), channel(A), {**bundle(A), "properties": properties})
    assert len(parse_report(made, "EP406")) == 1


def because(version: str) -> tuple[str, ...]:
    stated = {**bundle(A), "properties": [package_property("op", version)]}
    (finding,) = parse_report(catalog(package(), channel(A), stated), "EP406")
    return finding.because


def test_missing_version_is_not_underlined() -> None:
    assert because("") == (REJECTED,)


def test_tolerant_version_is_shown_only_if_it_parses() -> None:
    assert because("1.0")[-2:] == ("on a cluster, OLM reads it as 1.0.0", REJECTED)
    assert not any("in a cluster" in reason for reason in because("one"))


def test_release_can_have_two_findings() -> None:
    made = catalog(package(), channel(A), released(A, "1.0.0+1", "2"))
    assert [f.message for f in parse_report(made, "EP407")] == [
        f"{A} has build metadata (1.0.0+1) and a release (2)",
        f"{A} has release 2, so its name must be op-v1.0.0+1-2",
    ]


def test_reason_names_the_release_not_a_prerelease() -> None:
    (finding,) = parse_report(catalog(package(), channel(A), released(A, "1.0.0", "01")), "EP407")
    assert (
        finding.message == f"the release '01' of {A} is invalid: a number in the release has a leading zero"
    )


def test_every_duplicate_version_is_reported() -> None:
    made = catalog(package(), *(bundle(f"{name}.{v}", v) for v in ("1.0.0", "2.0.0") for name in "ab"))
    found = parse_report(made, "EP408")
    assert [(f.entry, f.because) for f in found] == [
        ("b.1.0.0", ("the first is in 1.yaml", REJECTED)),
        ("b.2.0.0", ("the first is in 3.yaml", REJECTED)),
    ]


def test_missing_version_property_is_reported_at_the_bundle() -> None:
    twins = tuple(Bundle(name, "op", "1.0.0", PLACE) for name in "ab")
    declared = Package("op", (Declaration(PLACE),), (Channel("stable", "op", PLACE),), twins)
    (finding,) = parse_report(Catalog("test", (declared,)), "EP408")
    assert finding.place == PLACE


def test_every_pair_of_equal_versions_is_reported() -> None:
    versions = ("1.0.0+1", "1.0.0+2", "2.0.0+1", "2.0.0+2")
    found = parse_report(catalog(package(), *(bundle(f"b{i}", v) for i, v in enumerate(versions))), "EP409")
    assert [(f.entry, f.severity) for f in found] == [("b1", Severity.WARNING), ("b3", Severity.WARNING)]
    facts: dict[str, Any] = {
        "because": ("a range contains both or neither", "OLM v1 orders them by build metadata or release"),
        "fix": "raise the patch number in the next release; do not change published ones",
    }
    assert all(getattr(finding, name) == value for finding in found for name, value in facts.items())


def test_equal_versions_without_build_metadata_are_only_duplicates() -> None:
    assert findings(catalog(package(), bundle("a", "1.0.0"), bundle("b", "1.0.0")), "EP409") == []
