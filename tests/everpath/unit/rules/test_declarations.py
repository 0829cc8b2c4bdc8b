"""Rules about names and declarations of packages."""

from __future__ import annotations

import pytest

from everpath.model import Catalog, Declaration, Package, Place, Problem, ProblemKind
from everpath.rules.kubernetes_names import label_error, subdomain_error
from tests.support.everpath.documents import bundle, catalog, channel, in_folder, package
from tests.support.everpath.graphs import findings, parse_report

CHANNEL, BUNDLE = channel("op.v1.0.0"), bundle()


@pytest.mark.parametrize("name", ["a", "0", "a-b", "op2", "a" * 63])
def test_labels_are_lower_case_letters_digits_and_dashes(name: str) -> None:
    assert label_error(name) is None


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "it is empty"),
        ("Op", "'O' is neither a lower-case letter, a digit, '-' nor '.'"),
        ("a_b", "'_' is neither a lower-case letter, a digit, '-' nor '.'"),
        ("a.b", "it has a dot"),
        ("-a", "each of its parts must begin and end with a letter or a digit"),
        ("a" * 64, "it has 64 characters, more than 63"),
        ("a\n", "'\\n' is neither a lower-case letter, a digit, '-' nor '.'"),
    ],
)
def test_invalid_label_has_a_reason(name: str, fault: str) -> None:
    assert label_error(name) == fault


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("a.b-c.0", True), ("a..b", False), ("a.", False), ("a" * 253, True), ("a" * 254, False)],
)
def test_subdomain_is_labels_separated_by_dots(name: str, is_one: bool) -> None:
    assert (subdomain_error(name) is None) is is_one


def test_package_without_a_name_is_reported() -> None:
    assert findings(catalog(package("")), "EP101") == ["EP101 -: the package has no name"]


def test_name_of_an_undeclared_package_is_not_checked() -> None:
    assert findings(catalog(channel("a", package="Op")), "EP101", "EP105") == []
    assert findings(catalog(bundle(package="Op")), "EP101", "EP105") == []


def test_second_declaration_of_a_package_is_reported() -> None:
    (finding,) = parse_report(catalog(package(), package(), CHANNEL, BUNDLE), "duplicate-package")
    assert finding.place.file == "1.yaml"
    assert finding.because[0] == "it is also declared in 0.yaml"


def test_misspelled_package_of_a_bundle_has_a_suggestion() -> None:
    made = catalog(
        package("searchkeeper"), channel("a", package="searchkeeper"), bundle("a", package="searchkeper")
    )
    (finding,) = parse_report(made, "undeclared-package")
    assert finding.message == "1 document belongs to the package searchkeper, which is not declared"
    assert finding.fix == "did you mean searchkeeper?"


def test_documents_of_an_undeclared_package_are_counted_once() -> None:
    made = catalog(package(), CHANNEL, BUNDLE, channel("x", package="po"), bundle("x", package="po"))
    (finding,) = parse_report(made, "EP106")
    assert finding.message == "2 documents belong to the package po, which is not declared"
    assert finding.because[0] == "channel stable and bundle x"


def test_deprecations_alone_do_not_make_a_package_undeclared() -> None:
    made = catalog(package(), CHANNEL, BUNDLE, {"schema": "olm.deprecations", "package": "po", "entries": []})
    assert findings(made, "EP106") == []


@pytest.mark.parametrize(
    ("kind", "pointer"),
    [
        ("unreadable-document", ()),
        ("missing-schema", ()),
        ("bad-separator", ()),
        ("misspelled-key", ("schema",)),
    ],
)
def test_unreadable_document_may_be_the_declaration(kind: str, pointer: tuple[str, ...]) -> None:
    made = catalog(channel("x"), bundle("x"))
    for file, word in (("9.yaml", "correct"), ("other/9.yaml", "add")):
        problem = Problem(ProblemKind(kind), Place(file, 0, pointer), "?")
        [finding] = parse_report(made._replace(problems=(problem,)), "EP106")
        assert (finding.fix or "").startswith(word)


@pytest.mark.parametrize("kind", ["duplicate-key", "misspelled-key"])
def test_readable_document_is_not_the_declaration(kind: str) -> None:
    problem = Problem(ProblemKind(kind), Place("0.yaml", 0, ("name",)), "?")
    assert len(findings(catalog(channel("x"))._replace(problems=(problem,)), "EP106")) == 1


def test_package_of_a_bundle_without_annotations_is_not_reported() -> None:
    bare = in_folder(channels=(), annotations=None)
    declared = Package("op", (Declaration(bare.place, inferred=True),), bundles=(bare,))
    assert findings(Catalog("test", (declared,)), "EP105") == []


@pytest.mark.parametrize("file", ["metadata/annotations.yaml", "op.package.yaml"])
def test_fix_for_missing_channels_names_the_file(file: str) -> None:
    bare = in_folder(channels=(), annotations=None)
    declared = Package("op", (Declaration(Place(file), inferred=True),), bundles=(bare,))
    (finding,) = parse_report(Catalog("test", (declared,)), "EP105")
    assert finding.fix == f"list channels in {file.rpartition('/')[2]}"


def test_package_without_channels_is_reported() -> None:
    assert findings(catalog(package()), "EP105") == ["EP105 op: the package op has no channel"]
