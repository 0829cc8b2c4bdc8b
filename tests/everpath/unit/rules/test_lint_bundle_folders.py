"""Linting of bundle folders and package manifests: rules and counts."""

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
    SelectedRules,
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


def summaries(*things: ValidationInput) -> list[tuple[str, str | None, str | None]]:
    findings = (f for thing in things for f in lint_bundle(thing, SelectedRules(SELECTION)).findings)
    return [(f.message, f.package, f.entry) for f in findings]


def report(*things: ValidationInput, **options: Any) -> Report:
    return build_report(
        [lint_bundle(thing, SelectedRules(SELECTION)) for thing in things], SELECTION, **options
    )


def test_bundle_folder_is_checked_by_rules_for_catalogs_bundles_and_folders() -> None:
    assert summaries(folder("acme", "acme.v1", "acme.v0")) == [
        ("catalog is a Catalog", "acme", "acme.v1"),
        ("bundle is a Bundle", "acme", "acme.v1"),
        ("bundle is a Bundle", "acme", "acme.v0"),
        ("bundle folder is a BundleFolder", "acme", "acme.v1"),
    ]


def test_package_manifest_is_checked_by_its_own_rules() -> None:
    assert summaries(FILE) == [
        ("catalog is a Catalog", "acme", None),
        ("package file is a PackageManifest", "acme", None),
    ]


def test_unreadable_folder_has_only_findings_about_its_problems() -> None:
    assert summaries(ValidationInput(Catalog("here"))) == [("catalog is a Catalog", None, None)]


def test_folders_and_their_packages_are_counted() -> None:
    unread = ValidationInput(Catalog("here"))
    seen = report(folder("acme", "a"), FILE, folder("acme", "b"), unread, folder("x", "c"))
    assert (seen.packages, seen.bundles, seen.channels, seen.entries) == (2, 3, 0, 0)
    assert len(seen.findings) == 3 * 3 + 2 + 1


def test_the_bundles_of_catalogs_are_not_counted() -> None:
    graphs, folders = (
        lint_catalog(parse("a"), Selection()),
        lint_bundle(folder("acme", "a"), SelectedRules(SELECTION)),
    )
    assert build_report([graphs], Selection()).bundles is None
    assert build_report([graphs, folders], SELECTION).bundles == 1


def test_waivers_apply_to_bundle_folders() -> None:
    waiver = Waiver("EPbundle folder", "agreed with the users", HERE)
    found = report(folder("acme", "a"), waivers=[waiver], today=date(2030, 6, 15))
    assert [f.rule for f in found.waived] == ["EPbundle folder"]
    assert "waiver is a WaiverUsage" in {f.message for f in found.findings}


def test_rule_about_another_subject_is_not_selected() -> None:
    upgrade = next(rule for rule in all_rules() if rule.subject == "upgrade")
    assert not SELECTION.has_rule(upgrade)
    assert not Selection(rules=frozenset({upgrade.id})).has_rule(upgrade)


def test_rules_of_optional_validators_run_if_one_is_selected() -> None:
    rules = rules_for_subjects(BUNDLE_SUBJECTS)
    optional = {rule.id for rule in rules if rule.is_optional}
    named = {rule.id for rule in rules if "operatorhub/v2" in rule.validators}
    assert named & optional
    asked = SELECTION._replace(validators=frozenset({"operatorhub/v2"}))
    assert {rule.id for rule in rules if not SELECTION.has_rule(rule)} == optional
    assert {rule.id for rule in rules if not asked.has_rule(rule)} == optional - named
