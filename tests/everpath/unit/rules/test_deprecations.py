"""Deprecations with invalid references, and deprecated heads."""

from __future__ import annotations

import pytest

from everpath.model import Catalog
from everpath.rules.findings import Severity
from everpath.rules.lint import Selection, lint
from tests.support.everpath.documents import bundle, catalog, channel, deprecations, package
from tests.support.everpath.graphs import findings, parse_report

A, B = "op.v1.0.0", "op.v1.1.0"


def deprecating(*entries: tuple[str, str, str]) -> Catalog:
    return catalog(package(), channel(A, B), bundle(A), bundle(B), deprecations(*entries))


@pytest.mark.parametrize(
    ("entry", "message", "fix"),
    [
        (
            ("olm.bundle", "opp.v1.0.0", "m"),
            "bundle 'opp.v1.0.0' is deprecated, but does not exist",
            f"did you mean {A}?",
        ),
        (
            ("olm.channel", "stabel", "m"),
            "channel 'stabel' is deprecated, but does not exist",
            "did you mean stable?",
        ),
        (
            ("olm.channel", "", "m"),
            "channel '' is deprecated, but does not exist",
            "remove the entry, or correct the name",
        ),
        (
            ("olm.bundles", A, "m"),
            "a deprecated reference has the unknown schema 'olm.bundles'",
            "did you mean olm.bundle?",
        ),
        (
            ("", A, "m"),
            "a deprecated reference has no schema",
            "write one of olm.package, olm.channel and olm.bundle",
        ),
        (
            ("olm.package", "op", "m"),
            "the reference to the deprecated package op has a name, op",
            "remove the name: the document has the package",
        ),
    ],
)
def test_invalid_reference_has_a_suggestion(entry: tuple[str, str, str], message: str, fix: str) -> None:
    (finding,) = parse_report(deprecating(entry), "deprecation-of-nothing")
    assert (finding.message, finding.fix, finding.package) == (message, fix, "op")


def test_misspelled_package_has_a_suggestion() -> None:
    made = catalog(
        package("searchkeeper"), channel(A, package="searchkeeper"), deprecations(package="searchkeper")
    )
    (finding,) = parse_report(made, "EP501")
    assert finding.message == "the package searchkeper has deprecations, but does not exist"
    assert finding.fix == "did you mean searchkeeper?"


def test_an_entry_that_has_no_bundle_cannot_be_deprecated() -> None:
    made = catalog(package(), channel(A, B), bundle(A), deprecations(("olm.bundle", B, "m")))
    assert [f.rule for f in parse_report(made, "EP501")] == ["EP501"]


def test_valid_deprecations_are_accepted() -> None:
    made = deprecating(("olm.package", "", "m"), ("olm.channel", "stable", "m"), ("olm.bundle", A, "m"))
    assert findings(made, "EP5") == []


def test_second_document_of_a_package_is_reported() -> None:
    made = catalog(package(), channel(A), bundle(A), deprecations(), deprecations())
    (finding,) = parse_report(made, "duplicate-deprecation")
    assert (finding.place.file, finding.because[0]) == ("4.yaml", "the first is in 3.yaml")


def test_duplicate_reference_is_reported_at_the_second() -> None:
    made = deprecating(("olm.bundle", A, "a"), ("olm.bundle", B, "b"), ("olm.bundle", A, "c"))
    (finding,) = parse_report(made, "EP502")
    assert finding.message == f"olm.bundle {A} is deprecated twice"
    assert finding.place.pointer == ("entries", 2)


def test_deprecation_without_a_message_is_reported() -> None:
    assert findings(deprecating(("olm.package", "", "")), "EP503") == [
        "EP503 op: the deprecation of op has no message"
    ]


def test_deprecation_without_a_message_names_its_reference() -> None:
    (finding,) = parse_report(deprecating(("olm.channel", "stable", "")), "EP503")
    assert finding.message == "the deprecation of stable has no message"


def test_s19_a_deprecated_head_is_installed_by_v0_and_avoided_by_v1() -> None:
    (finding,) = parse_report("%deprecated b: bad\nb: a\na", "deprecated-head")
    assert (finding.entry, finding.channel) == ("b", "stable")
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize("entry", [("olm.package", "", "m"), ("olm.channel", "stable", "m")])
def test_deprecated_head_of_a_deprecated_channel_is_accepted(entry: tuple[str, str, str]) -> None:
    assert findings(deprecating(("olm.bundle", B, "m"), entry), "EP504") == []


def test_deprecated_bundle_below_the_head_is_accepted() -> None:
    assert findings(deprecating(("olm.bundle", A, "m")), "EP504") == []


def test_s19_v0_never_installs_a_head_with_olm_deprecated() -> None:
    (finding,) = parse_report("%prohibited b\nb: a\na", "prohibited-head")
    assert (finding.entry, finding.severity) == ("b", Severity.ERROR)
    assert finding.fix == (
        "if it is withdrawn, publish a successor that skips it; else remove the property, and OLM v0 "
        "installs it"
    )


def test_head_with_olm_deprecated_is_not_reported_for_v1() -> None:
    made = catalog(package(), channel(A), bundle(A, "", {"type": "olm.deprecated", "value": {}}))
    assert {f.rule for f in lint(made, Selection(resolver="v0")).findings} == {"EP505"}
    assert lint(made, Selection(resolver="v1")).findings == ()


def test_olm_deprecated_below_the_head_is_accepted() -> None:
    assert findings("%prohibited a\nb: a\na", "EP505") == []


def test_deprecated_head_without_a_bundle_has_no_alternative() -> None:
    made = catalog(package(), channel(A), deprecations(("olm.bundle", A, "m")))
    (finding,) = parse_report(made, "EP504")
    assert finding.because == ("OLM v1 installs it, too: all others are deprecated as well",)
