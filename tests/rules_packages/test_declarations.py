"""Packages: how they are named and declared."""

from __future__ import annotations

import pytest

from documents import bundle, catalog, channel, package
from everpath.rules._names import label_fault, subdomain_fault
from graphs import findings, parse_report

CHANNEL, BUNDLE = channel("op.v1.0.0"), bundle()


@pytest.mark.parametrize("name", ["a", "0", "a-b", "op2", "a" * 63])
def test_labels_are_lower_case_letters_digits_and_dashes(name: str) -> None:
    assert label_fault(name) is None


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "it is empty"),
        ("Op", "'O' is neither a lower-case letter, a digit, '-' nor '.'"),
        ("a_b", "'_' is neither a lower-case letter, a digit, '-' nor '.'"),
        ("a.b", "it has a dot"),
        ("-a", "each of its parts must begin and end with a letter or a digit"),
        ("a" * 64, "it has 64 characters, and 63 are allowed"),
        ("a\n", "'\\n' is neither a lower-case letter, a digit, '-' nor '.'"),
    ],
)
def test_a_label_that_is_none_says_why(name: str, fault: str) -> None:
    assert label_fault(name) == fault


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("a.b-c.0", True), ("a..b", False), ("a.", False), ("a" * 253, True), ("a" * 254, False)],
)
def test_subdomains_are_labels_with_dots_between(name: str, is_one: bool) -> None:
    assert (subdomain_fault(name) is None) is is_one


def test_a_package_without_a_name_is_said_to_have_none() -> None:
    assert findings(catalog(package("")), "EP101") == ["EP101 -: the package has no name"]


def test_a_package_that_is_only_referred_to_has_no_name_to_judge() -> None:
    assert findings(catalog(channel("a", package="Op")), "EP101", "EP105") == []
    assert findings(catalog(bundle(package="Op")), "EP101", "EP105") == []


def test_the_second_declaration_of_a_package_is_the_one_reported() -> None:
    (finding,) = parse_report(catalog(package(), package(), CHANNEL, BUNDLE), "duplicate-package")
    assert finding.place.file == "1.yaml"
    assert finding.because[0] == "it is also declared in 0.yaml"


def test_a_misspelled_package_of_a_bundle_is_named_with_what_was_meant() -> None:
    made = catalog(
        package("searchkeeper"), channel("a", package="searchkeeper"), bundle("a", package="searchkeper")
    )
    (finding,) = parse_report(made, "undeclared-package")
    assert finding.message == "1 document belongs to the package searchkeper, which nobody declares"
    assert finding.fix == "did you mean searchkeeper?"


def test_documents_of_an_undeclared_package_are_counted_once() -> None:
    made = catalog(package(), CHANNEL, BUNDLE, channel("x", package="po"), bundle("x", package="po"))
    (finding,) = parse_report(made, "EP106")
    assert finding.message == "2 documents belong to the package po, which nobody declares"
    assert finding.because[0] == "channel stable and bundle x"


def test_deprecations_alone_do_not_make_a_package_undeclared() -> None:
    made = catalog(package(), CHANNEL, BUNDLE, {"schema": "olm.deprecations", "package": "po", "entries": []})
    assert findings(made, "EP106") == []


def test_a_package_without_channels_has_nothing_to_install() -> None:
    assert findings(catalog(package()), "EP105") == ["EP105 op: the package op has no channel"]
