"""Requirements of OperatorHub.io (operatorhub/v2, standardcapabilities, standardcategories)."""

from __future__ import annotations

__all__ = [
    "capability_level",
    "category",
    "icon",
    "link",
    "maintainer",
    "no_icon",
    "provider_name",
    "version_unset",
]

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from everpath.manifest_access import as_string, items_at, string_at, value_at
from everpath.model.bundle_contents import BundleFolder
from everpath.rules.bundle.urls import url_error
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_folder_rule
from everpath.versions import VersionError, parse_tolerant
from everpath.wording import join_names

_HUB: Final = "operatorhub/v2"
_REJECTED: Final = ("the pipeline of OperatorHub.io rejects the bundle",)
_MEDIA_TYPES: Final = ("image/gif", "image/jpeg", "image/png", "image/svg+xml")
_LEVELS: Final = ("Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot")
_CATEGORIES: Final = frozenset(
    {
        "AI/Machine Learning",
        "Application Runtime",
        "Big Data",
        "Cloud Provider",
        "Database",
        "Developer Tools",
        "Integration & Delivery",
        "Logging & Tracing",
        "Modernization & Migration",
        "Monitoring",
        "Networking",
        "Observability",
        "OpenShift Optional",
        "Security",
        "Storage",
        "Streaming & Messaging",
    }
)

_ATEXT: Final = r"A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\u0080-\U0010ffff"
_DOTTED: Final = rf"[{_ATEXT}]+(?:\.[{_ATEXT}]+)*"
_QUOTED: Final = r'"(?:[^"\\]|\\.)*"'
_MAILBOX: Final = rf"(?:{_DOTTED}|{_QUOTED})@(?:{_DOTTED}|\[[^\[\]\\]*\])"
# One character at a time before the bracket: a repetition of words would take exponential time to fail.
_ADDRESS: Final = re.compile(
    rf"\s*(?:(?:[{_ATEXT}.\s]|{_QUOTED})*<\s*{_MAILBOX}\s*>|{_MAILBOX})\s*(?:\([^()]*\)\s*)?"
)


@bundle_folder_rule("EP661", "provider-name", Severity.ERROR, _HUB)
def provider_name(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV has spec.provider.name.

    Consoles show it beside the name of the operator. Cost: one look-up.
    """
    if bundle.csv is not None and not string_at(bundle.csv.body, "spec", "provider", "name").strip():
        place = bundle.csv.place.at("spec", "provider", "name")
        yield Flaw(
            place,
            "consoles show no provider: the CSV has no spec.provider.name",
            _REJECTED,
            fix="add spec.provider.name",
        )


@bundle_folder_rule("EP662", "maintainer", Severity.ERROR, _HUB)
def maintainer(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every maintainer has a name and a valid email address.

    Cost: one match a maintainer.
    """
    if bundle.csv is None:
        return
    for i, person in items_at(bundle.csv.body, "spec", "maintainers"):
        name, email = string_at(person, "name"), string_at(person, "email")
        place = bundle.csv.place.at("spec", "maintainers", i)
        if not name or not email:
            missing = "name" if not name else "email"
            yield Flaw(
                place,
                f"a maintainer has no {missing}",
                _REJECTED,
                fix=f"add the {missing}, or remove the maintainer",
            )
        if email and _ADDRESS.fullmatch(email) is None:
            fix = "write an address such as team@example.com"
            yield Flaw(place.at("email"), f"{email!r} is not an email address", _REJECTED, fix=fix)


@bundle_folder_rule("EP663", "link", Severity.ERROR, _HUB)
def link(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every link has a name and an absolute URL.

    Consoles show links unchanged, and a URL without https:// does not work. Cost: one match a link.
    """
    if bundle.csv is None:
        return
    for i, item in items_at(bundle.csv.body, "spec", "links"):
        name, url = string_at(item, "name"), string_at(item, "url")
        place = bundle.csv.place.at("spec", "links", i)
        if not name or not url:
            missing = "name" if not name else "url"
            yield Flaw(
                place, f"a link has no {missing}", _REJECTED, fix=f"add the {missing}, or remove the link"
            )
        if url and (fault := url_error(url)):
            guess = f"https://{url}" if "://" not in url and url_error(f"https://{url}") is None else None
            fix = f"write {guess}" if guess else "write a URL such as https://example.com/docs"
            yield Flaw(place.at("url"), f"the link {url!r} does not work: {fault}", _REJECTED, fix=fix)


@bundle_folder_rule("EP664", "version-unset", Severity.ERROR, _HUB)
def version_unset(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV has spec.version, and it is not 0.0.0.

    Without spec.version OLM uses 0.0.0, which is lower than every other version. Cost: one parse.
    """
    if bundle.csv is None:
        return
    stated = string_at(bundle.csv.body, "spec", "version")
    try:
        is_unset = not stated or str(parse_tolerant(stated)).partition("+")[0] == "0.0.0"
    except VersionError:
        return  # EP406 reports it
    if is_unset:
        place = bundle.csv.place.at("spec", "version")
        problem = f"its version is {stated}" if stated else "it has no version"
        message = f"OLM ranks the CSV below all others: {problem}"
        yield Flaw(place, message, _REJECTED, fix="set spec.version to the version of this release")


@bundle_folder_rule("EP665", "no-icon", Severity.WARNING, _HUB)
def no_icon(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV has an icon.

    Consoles show a placeholder without it. Cost: one look-up.
    """
    if bundle.csv is not None and value_at(bundle.csv.body, "spec", "icon") is None:
        yield Flaw(
            bundle.csv.place.at("spec", "icon"),
            "consoles show a placeholder: the CSV has no icon",
            because=("consoles take the image from spec.icon",),
            fix="add spec.icon with one image: base64data and mediatype",
        )


@bundle_folder_rule("EP666", "icon", Severity.ERROR, _HUB)
def icon(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV has one icon, with data and a supported media type.

    Consoles show only the first icon, and browsers need its media type. operator-framework/api crashes on an
    empty list. Cost: one test.
    """
    icons = value_at(bundle.csv.body, "spec", "icon") if bundle.csv else None
    if bundle.csv is None or not isinstance(icons, list):
        return
    place = bundle.csv.place.at("spec", "icon")
    if len(icons) != 1:
        fix = "keep one of them" if icons else "add the image, or remove spec.icon"
        yield Flaw(place, f"the CSV must have 1 icon, not {len(icons)}", _REJECTED, fix=fix)
    if icons:
        kind, data = string_at(icons[0], "mediatype"), string_at(icons[0], "base64data")
        if not kind or not data:
            missing = "mediatype" if not kind else "base64data"
            yield Flaw(place.at(0), f"the icon has no {missing}", _REJECTED, fix=f"add {missing}")
        if kind and kind not in _MEDIA_TYPES:
            message = f"browsers do not show the icon: the media type {kind!r} is not supported"
            yield Flaw(
                place.at(0, "mediatype"), message, _REJECTED, fix=f"write one of {join_names(_MEDIA_TYPES)}"
            )


@bundle_folder_rule("EP667", "capability-level", Severity.ERROR, "standardcapabilities")
def capability_level(bundle: BundleFolder) -> Iterator[Flaw]:
    """The annotation capabilities is one of the five capability levels.

    Consoles show no level for any other value. Cost: one look-up.
    """
    if bundle.csv is None or "capabilities" not in bundle.csv.annotations:
        return
    stated = as_string(bundle.csv.annotations["capabilities"])
    if stated not in _LEVELS:
        near = get_close_matches(stated, _LEVELS, n=1)
        yield Flaw(
            bundle.csv.place.at("metadata", "annotations", "capabilities"),
            f"consoles show no capability level: {stated!r} does not exist",
            because=_REJECTED,
            fix=f"write {near[0]}" if near else f"write one of {join_names(_LEVELS)}",
        )


@bundle_folder_rule("EP668", "category", Severity.ERROR, "standardcategories")
def category(bundle: BundleFolder) -> Iterator[Flaw]:
    """The annotation categories is a comma-separated list of known categories.

    Users do not find the operator by an unknown category. --categories replaces the list of known ones.
    Cost: one look-up a category.
    """
    if bundle.csv is None or "categories" not in bundle.csv.annotations:
        return
    known = _CATEGORIES if bundle.categories is None else bundle.categories
    place = bundle.csv.place.at("metadata", "annotations", "categories")
    for stated in as_string(bundle.csv.annotations["categories"]).split(","):
        if stated.strip() not in known:
            near = get_close_matches(stated.strip(), sorted(known), n=1)
            fix = f"write {near[0]}" if near else f"write one or more of {join_names(sorted(known), 20)}"
            yield Flaw(
                place,
                f"users do not find the operator by category: {stated.strip()!r} does not exist",
                _REJECTED,
                fix=fix,
            )
