"""Rules about packages: all findings, their positions and consequences."""

from __future__ import annotations

import pytest

from everpath.model import Catalog, Channel, Declaration, Package, Place, Problem, ProblemKind, UpdateMode
from tests.support.everpath.documents import bundle, catalog, channel, in_folder, package, repository
from tests.support.everpath.graphs import findings, parse_report

A, B, C = "op.v1.0.0", "op.v1.1.0", "op.v1.2.0"
REJECTED = "opm rejects the catalog"


def test_invalid_package_name_is_reported_at_every_declaration() -> None:
    found = parse_report(catalog(package("Op"), package("Op")), "EP101")
    assert [(f.place.file, f.place.pointer) for f in found] == [("0.yaml", ("name",)), ("1.yaml", ("name",))]
    assert found[0].message.startswith("'Op' is not a valid package name: ")
    assert findings(catalog(package("")), "EP101") == ["EP101 -: the package has no name"]


def test_every_declaration_after_the_first_is_reported() -> None:
    found = parse_report(catalog(package(), package(), package()), "EP102")
    assert [f.place.file for f in found] == ["1.yaml", "2.yaml"]
    assert {f.message for f in found} == {"the package op is declared 3 times"}
    assert {f.because for f in found} == {("it is also declared in 0.yaml", REJECTED)}
    assert [f.related and f.related.place.file for f in found] == ["0.yaml"] * 2


def test_only_the_channel_of_the_highest_version_is_suggested() -> None:
    channels = [channel(name, name=letter) for name, letter in ((A, "a"), (B, "b"), (C, "c"))]
    made = catalog(package(default=""), *channels, *map(bundle, (A, B, C)))
    assert parse_report(made, "EP103")[0].fix == "set defaultChannel: c in the olm.package document"


def test_every_declaration_with_a_missing_default_channel_is_reported() -> None:
    declared = [package(default=default) for default in ("b", "gone", "nowhere")]
    made = catalog(*declared, channel(A, name="b"), channel(A, name="a"), bundle(A))
    found = parse_report(made, "EP104")
    assert [(f.place.file, f.place.pointer) for f in found] == [
        ("1.yaml", ("defaultChannel",)),
        ("2.yaml", ("defaultChannel",)),
    ]
    assert {f.because for f in found} == {("its channels are a and b", REJECTED)}
    assert {f.fix for f in found} == {"write one of a and b"}


def test_package_without_channels_in_the_file_of_its_bundles_is_reported() -> None:
    place = Place("op.yaml")
    (made,) = catalog(package(), bundle(A)).packages
    (held,) = made.bundles
    shared = Package("op", (Declaration(place),), bundles=(type(held)(held.name, "op", "1.0.0", place),))
    assert findings(Catalog("test", (shared,)), "EP105") == ["EP105 op: the package op has no channel"]


def test_every_undeclared_package_is_reported_with_its_documents() -> None:
    made = catalog(
        package("one"),
        channel(A, package="onee"),
        bundle(A, package="onee"),
        channel(A, package=""),
        channel(A, package="strange"),
    )
    found = {f.place.file: f for f in parse_report(made, "EP106")}
    assert [(f.package, f.message) for f in found.values()] == [
        ("onee", "2 documents belong to the package onee, which is not declared"),
        (None, "1 document belongs to no package"),
        ("strange", "1 document belongs to the package strange, which is not declared"),
    ]
    assert found["1.yaml"].because == (f"channel stable and bundle {A}", REJECTED)
    assert found["1.yaml"].place.pointer == ("package",)
    assert [f.fix for f in found.values()] == [
        "did you mean one?",
        "add an olm.package document, or correct the name",
        "add an olm.package document, or correct the name",
    ]


def undeclared(problem: Problem) -> Catalog:
    """Two undeclared packages, one in folder a, one in folder b, and a problem."""
    (held,) = catalog(bundle(A)).packages[0].bundles
    a = Package("a", channels=(Channel("stable", "a", Place("a/channel.yaml")),))
    b = Package("b", bundles=(type(held)(A, "b", "1.0.0", Place("b/bundle.yaml")),))
    return Catalog("test", (a, b), problems=(problem,))


@pytest.mark.parametrize(("folder", "left"), [("a", ["b"]), ("b", ["a"]), ("c", ["a", "b"])])
def test_unreadable_document_can_declare_only_packages_of_its_folder(folder: str, left: list[str]) -> None:
    made = undeclared(Problem(ProblemKind.UNREADABLE_DOCUMENT, Place(f"{folder}/torn.yaml"), "torn"))
    fixes = {f.package: f.fix or "" for f in parse_report(made, "EP106")}
    assert [package for package, fix in fixes.items() if fix.startswith("add")] == left


@pytest.mark.parametrize(("kind", "key"), [("duplicate-key", "schema"), ("misspelled-key", "name")])
def test_document_with_a_known_schema_is_not_a_declaration(kind: str, key: str) -> None:
    made = undeclared(Problem(ProblemKind(kind), Place("a/x.yaml", 0, (key,)), "wrong"))
    assert [f.fix for f in parse_report(made, "EP106")] == [
        "add an olm.package document, or correct the name"
    ] * 2


def test_default_channel_is_suggested_for_a_channel_without_a_name() -> None:
    (finding,) = parse_report(catalog(package(), channel(A, name=""), bundle(A)), "EP104")
    assert finding.fix == "name the channel without a name stable"


def test_inferred_default_channel_has_a_fix() -> None:
    (finding,) = parse_report(repository(in_folder(A)), "EP112")
    assert finding.because == ("with a second channel, opm would reject the package",)
    assert finding.fix == (
        "set operators.operatorframework.io.bundle.channel.default.v1: stable in metadata/annotations.yaml"
    )


def declared_too(made: Catalog, *declarations: Declaration) -> Catalog:
    """The same package with a rendered bundle and further declarations."""
    (one,) = made.packages
    (rendered,) = catalog(bundle(B)).packages[0].bundles
    joined = (*one.declarations, *declarations)
    return Catalog("test", (Package("op", joined, one.channels, (*one.bundles, rendered)),))


def test_one_of_several_declarations_can_be_inferred() -> None:
    made = declared_too(repository(in_folder(A)), Declaration(Place("x.yaml")))
    assert len(parse_report(made, "EP112")) == 1


def test_release_in_a_second_document_of_the_default_channel_counts() -> None:
    made = catalog(package(), channel(A), channel(B), bundle(A), bundle(B))
    assert findings(made, "EP113") == []


def test_fix_has_no_edge_if_edges_are_generated() -> None:
    folders = (in_folder(A), in_folder(B, channels=("fast",)))
    made = repository(*folders, mode=UpdateMode.SEMVER, default="stable")
    (one,) = made.packages
    both = (*one.declarations, Declaration(Place("x.yaml"), "stable"))
    (finding,) = parse_report(Catalog("test", (Package("op", both, one.channels, one.bundles),)), "EP113")
    assert finding.entry == B
    assert finding.fix is not None
    assert "replaces" not in finding.fix


def test_changed_default_channel_is_reported_at_the_change() -> None:
    made = repository(in_folder(A, default_channel="old"), in_folder(B, default_channel="new"))
    (finding,) = parse_report(made, "EP114")
    assert finding.entry == B
    assert finding.place.pointer == (
        "annotations",
        "operators.operatorframework.io.bundle.channel.default.v1",
    )
    assert finding.fix == "release to the old channel as well, or ask its users to switch"
