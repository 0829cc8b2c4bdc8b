"""Deprecations: every faulty entry of every document is told, where it is written."""

from __future__ import annotations

from documents import Document, bundle, catalog, channel, deprecations, package
from everpath.rules.findings import Finding
from graphs import parse_report

A, B = "op.v1.0.0", "op.v1.1.0"
REFUSED = "opm refuses the catalog"


def told(rule: str, *documents: Document) -> tuple[Finding, ...]:
    return parse_report(catalog(package(), channel(A, B), bundle(A), bundle(B), *documents), rule)


def places(found: tuple[Finding, ...]) -> list[tuple[str, tuple[str | int, ...]]]:
    return [(f.place.file, f.place.pointer) for f in found]


def test_every_document_of_a_package_that_does_not_exist_is_told_and_its_entries_are_not() -> None:
    entry = ("olm.bundle", "gone", "m")
    documents = [deprecations(entry, package=name) for name in ("opp", "opp", "strange", "")]
    found = told("EP501", *documents)
    assert places(found) == [(f"{n}.yaml", ("package",)) for n in (4, 5, 6, 7)]
    assert [(f.package, f.message) for f in found[1:]] == [
        ("opp", "deprecations of the package opp, which does not exist"),
        ("strange", "deprecations of the package strange, which does not exist"),
        (None, "deprecations that name no package"),
    ]
    elsewhere = "name a package of the catalog"
    assert [f.fix for f in found[1:]] == ["did you mean op?", elsewhere, elsewhere]


def test_every_entry_that_points_at_nothing_is_told_at_its_reference() -> None:
    one = deprecations(("olm.bundle", "x", "m"), ("olm.channel", "y", "m"))
    two = deprecations(("olm.package", "op", "m"), ("olm.thing", A, "m"))
    assert places(told("EP501", one, two)) == [
        ("4.yaml", ("entries", 0, "reference", "name")),
        ("4.yaml", ("entries", 1, "reference", "name")),
        ("5.yaml", ("entries", 0, "reference", "name")),
        ("5.yaml", ("entries", 1, "reference", "schema")),
    ]


def test_of_several_names_spelled_alike_the_last_was_meant() -> None:
    alike = ["op.v1", "Op.v1", "oP.v1", "op-v1", "Op-v1", "op.1", "Op.1"]
    documents = [package(), channel(*alike), *(bundle(name, f"1.0.{n}") for n, name in enumerate(alike))]
    made = catalog(*documents, deprecations(("olm.bundle", "OP.V1", "m")))
    assert [f.fix for f in parse_report(made, "EP501")] == [f"did you mean {max(alike)}?"]


def test_every_document_after_the_first_is_one_too_many() -> None:
    found = told("EP502", *(deprecations() for _ in range(3)))
    assert places(found) == [("5.yaml", ()), ("6.yaml", ())]
    assert {f.because for f in found} == {("the first is in 4.yaml", REFUSED)}
    assert {f.message for f in found} == {"the package op has 3 olm.deprecations documents"}


def test_what_is_deprecated_twice_is_told_in_every_document() -> None:
    twice = deprecations(("olm.package", "", "m"), ("olm.package", "", "m"))
    found = [f for f in told("EP502", twice, twice) if "twice" in f.message]
    assert places(tuple(found)) == [("4.yaml", ("entries", 1)), ("5.yaml", ("entries", 1))]
    assert found[0].message == "olm.package is deprecated twice"


def test_every_entry_without_a_message_is_told_with_what_follows() -> None:
    one = deprecations(("olm.bundle", A, ""), ("olm.bundle", B, ""))
    found = told("EP503", one, deprecations(("olm.channel", "stable", "")))
    assert places(found) == [
        ("4.yaml", ("entries", 0, "message")),
        ("4.yaml", ("entries", 1, "message")),
        ("5.yaml", ("entries", 0, "message")),
    ]
    assert found[0].because == ("users are told the message and nothing else", REFUSED)


TWO_HEADS = "b3: b1\nb2\nb1\n"


def test_every_head_that_is_deprecated_is_told_with_what_follows() -> None:
    found = parse_report(f"{TWO_HEADS}%deprecated b3: old\n%deprecated b2: old", "EP504")
    assert [f.entry for f in found] == ["b2", "b3"]
    assert found[0].because == (
        "OLM v0 offers it to every user of the channel; v1 installs b1 instead, which is not deprecated",
    )
    assert found[0].fix == "publish a successor, or deprecate the channel"


def test_every_head_that_is_prohibited_is_told_with_what_follows() -> None:
    found = parse_report(f"{TWO_HEADS}%prohibited b3\n%prohibited b2", "EP505")
    assert [f.entry for f in found] == ["b2", "b3"]
    assert found[0].because == ("OLM v0 passes over it: users get an older version, and nobody is told why",)


def test_of_two_channels_that_may_be_meant_the_last_by_name_is_whatever_their_order() -> None:
    fixes = set[str | None]()
    for names in (("fast-x", "fast.x"), ("fast.x", "fast-x")):
        channels = [channel(A, name=name) for name in names]
        found = told("EP501", *channels, deprecations(("olm.channel", "FAST-X", "m")))
        fixes.update(f.fix for f in found)
    assert fixes == {"did you mean fast.x?"}


def test_a_deprecated_head_beside_which_all_are_deprecated_is_what_v1_installs_too() -> None:
    [finding] = parse_report("b2: b1\nb1\n%deprecated b2: old\n%deprecated b1: old", "EP504")
    assert finding.because == (
        "OLM v0 offers it to every user of the channel; so does v1, which finds none that is not deprecated",
    )
