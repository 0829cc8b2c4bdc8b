"""Bundles as they stand in their folders, and package files: who is asked about what, and what is counted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from everpath.loaders.notation import parse
from everpath.model import Bundle, Catalog, Package, Place
from everpath.model.bundle_contents import (
    CSV,
    PACKAGE_ANNOTATION,
    BundleFolder,
    Contents,
    Manifest,
    PackageManifest,
    ValidationInput,
)
from everpath.rules import lint as checking
from everpath.rules.findings import Flaw, Severity
from everpath.rules.lint import (
    BUNDLE_SUBJECTS,
    CATALOG_SUBJECTS,
    Report,
    Selection,
    build_report,
    lint_bundle,
    lint_catalog,
)
from everpath.rules.registry import Rule, all_rules, rules_for_subjects
from everpath.rules.waivers import Waiver

HERE = Place("here.yaml")
SELECTION = Selection(subjects=BUNDLE_SUBJECTS)


def folder(package: str, *names: str) -> ValidationInput:
    """The folder of the first bundle that is named, in a catalog of all of them."""
    bundles = tuple(Bundle(name, package, "", HERE) for name in names)
    csv = Manifest(HERE, {"kind": CSV, "metadata": {"name": names[0]}})
    contents = Contents("here", HERE, (csv,), {PACKAGE_ANNOTATION: package})
    return ValidationInput(Catalog("here", (Package(package, bundles=bundles),)), BundleFolder(contents))


FILE = ValidationInput(Catalog("here"), package_manifest=PackageManifest(HERE, {"packageName": "acme"}))


@pytest.fixture(autouse=True)
def _one_rule_for_each_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each finds fault with whatever it is asked about, and says what that was."""

    def law(subject: Any) -> Rule:
        def check(thing: object) -> Iterator[Flaw]:
            yield Flaw(HERE, f"{subject} is a {type(thing).__name__}")

        return Rule(f"EP{subject}", subject, Severity.ERROR, subject, "A law.", check=check)

    rules = [law(subject) for subject in sorted({*BUNDLE_SUBJECTS, *CATALOG_SUBJECTS, "upgrade"})]
    monkeypatch.setattr(checking, "rules_for_subjects", lambda _: rules)


def said(*things: ValidationInput) -> list[tuple[str, str | None, str | None]]:
    findings = (f for thing in things for f in lint_bundle(thing, SELECTION).findings)
    return [(f.message, f.package, f.entry) for f in findings]


def report(*things: ValidationInput, **options: Any) -> Report:
    return build_report([lint_bundle(thing, SELECTION) for thing in things], SELECTION, **options)


def test_a_folder_is_judged_as_a_catalog_as_its_bundles_and_as_a_whole() -> None:
    assert said(folder("acme", "acme.v1", "acme.v0")) == [
        ("catalog is a Catalog", "acme", "acme.v1"),
        ("bundle is a Bundle", "acme", "acme.v1"),
        ("bundle is a Bundle", "acme", "acme.v0"),
        ("bundle folder is a BundleFolder", "acme", "acme.v1"),
    ]


def test_a_package_file_is_judged_as_what_it_is() -> None:
    assert said(FILE) == [
        ("catalog is a Catalog", "acme", None),
        ("package file is a PackageManifest", "acme", None),
    ]


def test_what_cannot_be_read_is_of_no_package_and_only_its_problems_are_judged() -> None:
    assert said(ValidationInput(Catalog("here"))) == [("catalog is a Catalog", None, None)]


def test_folders_are_counted_and_so_are_the_packages_they_are_of() -> None:
    unread = ValidationInput(Catalog("here"))
    seen = report(folder("acme", "a"), FILE, folder("acme", "b"), unread, folder("x", "c"))
    assert (seen.packages, seen.bundles, seen.channels, seen.entries) == (2, 3, 0, 0)
    assert len(seen.findings) == 3 * 3 + 2 + 1


def test_the_bundles_of_catalogs_are_not_counted() -> None:
    graphs, folders = lint_catalog(parse("a"), Selection()), lint_bundle(folder("acme", "a"), SELECTION)
    assert build_report([graphs], Selection()).bundles is None
    assert build_report([graphs, folders], SELECTION).bundles == 1


def test_waivers_speak_about_folders_and_are_judged_with_them() -> None:
    waiver = Waiver("EPbundle folder", "agreed with the users", HERE)
    found = report(folder("acme", "a"), waivers=[waiver], today=date(2030, 6, 15))
    assert [f.rule for f in found.waived] == ["EPbundle folder"]
    assert "waiver is a WaiverUsage" in {f.message for f in found.findings}


def test_a_rule_about_something_else_is_not_selected() -> None:
    upgrade = next(rule for rule in all_rules() if rule.subject == "upgrade")
    assert not SELECTION.has_rule(upgrade)
    assert not Selection(rules=frozenset({upgrade.id})).has_rule(upgrade)


def test_the_rules_of_optional_validators_are_asked_where_one_of_them_is_named() -> None:
    rules = rules_for_subjects(BUNDLE_SUBJECTS)
    optional = {rule.id for rule in rules if rule.is_optional}
    named = {rule.id for rule in rules if "operatorhub/v2" in rule.validators}
    assert named & optional
    asked = SELECTION._replace(validators=frozenset({"operatorhub/v2"}))
    assert {rule.id for rule in rules if not SELECTION.has_rule(rule)} == optional
    assert {rule.id for rule in rules if not asked.has_rule(rule)} == optional - named
