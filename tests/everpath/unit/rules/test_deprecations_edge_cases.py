"""Deprecations: all invalid entries of all documents are reported, with their position."""

from __future__ import annotations

from everpath.rules.findings import Finding
from tests.support.everpath.documents import Document, bundle, catalog, channel, deprecations, package
from tests.support.everpath.graphs import parse_report

A, B = "op.v1.0.0", "op.v1.1.0"
REJECTED = "opm rejects the catalog"


def report(rule: str, *documents: Document) -> tuple[Finding, ...]:
    return parse_report(catalog(package(), channel(A, B), bundle(A), bundle(B), *documents), rule)


def places(found: tuple[Finding, ...]) -> list[tuple[str, tuple[str | int, ...]]]:
    return [(f.place.file, f.place.pointer) for f in found]


def test_documents_of_unknown_packages_are_reported_without_their_entries() -> None:
    entry = ("olm.bundle", "gone", "m")
    documents = [deprecations(entry, package=name) for name in ("opp", "opp", "strange", "")]
    found = report("EP501", *documents)
    assert places(found) == [(f"{n}.yaml", ("package",)) for n in (4, 5, 6, 7)]
    assert [(f.package, f.message) for f in found[1:]] == [
        ("opp", "the package opp has deprecations, but does not exist"),
        ("strange", "the package strange has deprecations, but does not exist"),
        (None, "an olm.deprecations document has no package"),
    ]
    elsewhere = "write the name of a package of the catalog"
    assert [f.fix for f in found[1:]] == ["did you mean op?", elsewhere, elsewhere]


def test_every_invalid_reference_is_reported_with_its_position() -> None:
    one = deprecations(("olm.bundle", "x", "m"), ("olm.channel", "y", "m"))
    two = deprecations(("olm.package", "op", "m"), ("olm.thing", A, "m"))
    assert places(report("EP501", one, two)) == [
        ("4.yaml", ("entries", 0, "reference", "name")),
        ("4.yaml", ("entries", 1, "reference", "name")),
        ("5.yaml", ("entries", 0, "reference", "name")),
        ("5.yaml", ("entries", 1, "reference", "schema")),
    ]


def test_last_of_several_similar_names_is_suggested() -> None:
    alike = ["op.v1", "Op.v1", "oP.v1", "op-v1", "Op-v1", "op.1", "Op.1"]
    documents = [package(), channel(*alike), *(bundle(name, f"1.0.{n}") for n, name in enumerate(alike))]
    made = catalog(*documents, deprecations(("olm.bundle", "OP.V1", "m")))
    assert [f.fix for f in parse_report(made, "EP501")] == [f"did you mean {max(alike)}?"]


def test_every_document_after_the_first_is_reported() -> None:
    found = report("EP502", *(deprecations() for _ in range(3)))
    assert places(found) == [("5.yaml", ()), ("6.yaml", ())]
    assert {f.because for f in found} == {("the first is in 4.yaml", REJECTED)}
    assert {f.message for f in found} == {"the package op has 3 olm.deprecations documents"}


def test_duplicate_reference_is_reported_in_every_document() -> None:
    twice = deprecations(("olm.package", "", "m"), ("olm.package", "", "m"))
    found = [f for f in report("EP502", twice, twice) if "twice" in f.message]
    assert places(tuple(found)) == [("4.yaml", ("entries", 1)), ("5.yaml", ("entries", 1))]
    assert found[0].message == "olm.package is deprecated twice"


def test_every_entry_without_a_message_is_reported_with_its_consequence() -> None:
    one = deprecations(("olm.bundle", A, ""), ("olm.bundle", B, ""))
    found = report("EP503", one, deprecations(("olm.channel", "stable", "")))
    assert places(found) == [
        ("4.yaml", ("entries", 0, "message")),
        ("4.yaml", ("entries", 1, "message")),
        ("5.yaml", ("entries", 0, "message")),
    ]
    assert found[0].because == ("users see only the message", REJECTED)


TWO_HEADS = "b3: b1\nb2\nb1\n"


def test_every_deprecated_head_is_reported_with_its_consequence() -> None:
    found = parse_report(f"{TWO_HEADS}%deprecated b3: old\n%deprecated b2: old", "EP504")
    assert [f.entry for f in found] == ["b2", "b3"]
    assert found[0].because == ("OLM v1 installs b1 instead, which is not deprecated",)
    assert found[0].fix == "publish a successor, or deprecate the channel"


def test_every_head_with_olm_deprecated_is_reported_with_its_consequence() -> None:
    found = parse_report(f"{TWO_HEADS}%prohibited b3\n%prohibited b2", "EP505")
    assert [f.entry for f in found] == ["b2", "b3"]
    assert found[0].because == ("new installations get an older version or none, without an error message",)


def test_last_of_two_similar_channels_is_suggested_in_any_order() -> None:
    fixes = set[str | None]()
    for names in (("fast-x", "fast.x"), ("fast.x", "fast-x")):
        channels = [channel(A, name=name) for name in names]
        found = report("EP501", *channels, deprecations(("olm.channel", "FAST-X", "m")))
        fixes.update(f.fix for f in found)
    assert fixes == {"did you mean fast.x?"}


def test_v1_installs_a_deprecated_head_if_all_are_deprecated() -> None:
    [finding] = parse_report("b2: b1\nb1\n%deprecated b2: old\n%deprecated b1: old", "EP504")
    assert finding.because == ("OLM v1 installs it, too: all others are deprecated as well",)
