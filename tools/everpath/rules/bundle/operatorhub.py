"""What OperatorHub.io asks of a bundle (operatorhub/v2, standardcapabilities, standardcategories)."""

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
from everpath.rules.bundle.kubernetes_names import request_uri
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_folder_rule
from everpath.versions import VersionError, parse_tolerant
from everpath.wording import join_names

_HUB: Final = "operatorhub/v2"
_REFUSED: Final = ("OperatorHub's pipeline refuses the bundle",)
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
# One character at a time before the bracket: a repeated word in a repetition would take forever to fail.
_ADDRESS: Final = re.compile(
    rf"\s*(?:(?:[{_ATEXT}.\s]|{_QUOTED})*<\s*{_MAILBOX}\s*>|{_MAILBOX})\s*(?:\([^()]*\)\s*)?"
)


@bundle_folder_rule("EP661", "provider-name", Severity.ERROR, _HUB)
def provider_name(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV says who provides the operator.

    A console shows spec.provider.name beside the operator's name. Cost: one look-up.
    """
    if bundle.csv is not None and not string_at(bundle.csv.body, "spec", "provider", "name").strip():
        place = bundle.csv.place.at("spec", "provider", "name")
        yield Flaw(place, "the CSV names no provider", _REFUSED, fix="add spec.provider.name")


@bundle_folder_rule("EP662", "maintainer", Severity.ERROR, _HUB)
def maintainer(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every maintainer has a name and an address that mail can be sent to.

    Cost: one match each.
    """
    if bundle.csv is None:
        return
    for i, person in items_at(bundle.csv.body, "spec", "maintainers"):
        name, email = string_at(person, "name"), string_at(person, "email")
        place = bundle.csv.place.at("spec", "maintainers", i)
        if not name or not email:
            missing = "name" if not name else "email"
            yield Flaw(
                place, f"a maintainer has no {missing}", _REFUSED, fix=f"add the {missing}, or remove it"
            )
        if email and _ADDRESS.fullmatch(email) is None:
            fix = "write an address such as team@example.com"
            yield Flaw(place.at("email"), f"{email!r} is no mail address", _REFUSED, fix=fix)


@bundle_folder_rule("EP663", "link", Severity.ERROR, _HUB)
def link(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every link has a name and an absolute address.

    A console shows it as it stands, and one without https:// leads nowhere. Cost: one match each.
    """
    if bundle.csv is None:
        return
    for i, item in items_at(bundle.csv.body, "spec", "links"):
        name, url = string_at(item, "name"), string_at(item, "url")
        place = bundle.csv.place.at("spec", "links", i)
        if not name or not url:
            missing = "name" if not name else "url"
            yield Flaw(
                place, f"a link has no {missing}", _REFUSED, fix=f"add the {missing}, or remove the link"
            )
        if url and (fault := request_uri(url)):
            guess = f"https://{url}" if "://" not in url and request_uri(f"https://{url}") is None else None
            fix = f"write {guess}" if guess else "write an address such as https://example.com/docs"
            yield Flaw(place.at("url"), f"the link {url!r} leads nowhere: {fault}", _REFUSED, fix=fix)


@bundle_folder_rule("EP664", "version-unset", Severity.ERROR, _HUB)
def version_unset(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV has a version, and it is not 0.0.0.

    Without spec.version OLM takes 0.0.0, which is older than everything. Cost: one parse.
    """
    if bundle.csv is None:
        return
    stated = string_at(bundle.csv.body, "spec", "version")
    try:
        is_unset = not stated or str(parse_tolerant(stated)).partition("+")[0] == "0.0.0"
    except VersionError:
        return  # EP406 says what is wrong with it
    if is_unset:
        place = bundle.csv.place.at("spec", "version")
        message = f"the version of the CSV is {stated}" if stated else "the CSV has no version"
        yield Flaw(place, message, _REFUSED, fix="write the version of this release into spec.version")


@bundle_folder_rule("EP665", "no-icon", Severity.WARNING, _HUB)
def no_icon(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV has an icon.

    Consoles show a grey shape without it. Cost: one look-up.
    """
    if bundle.csv is not None and value_at(bundle.csv.body, "spec", "icon") is None:
        yield Flaw(
            bundle.csv.place.at("spec", "icon"),
            "the CSV has no icon",
            because=("consoles show a placeholder",),
            fix="add spec.icon: one image, in base64, with its mediatype",
        )


@bundle_folder_rule("EP666", "icon", Severity.ERROR, _HUB)
def icon(bundle: BundleFolder) -> Iterator[Flaw]:
    """A CSV has one icon, with its data and a media type there is.

    Consoles show the first; without a type no browser knows what it is. operator-framework/api crashes on an
    empty list. Cost: one look at the first.
    """
    icons = value_at(bundle.csv.body, "spec", "icon") if bundle.csv else None
    if bundle.csv is None or not isinstance(icons, list):
        return
    place = bundle.csv.place.at("spec", "icon")
    if len(icons) != 1:
        fix = "keep one" if icons else "add the image, or remove spec.icon"
        yield Flaw(place, f"the CSV has {len(icons)} icons, not one", _REFUSED, fix=fix)
    if icons:
        kind, data = string_at(icons[0], "mediatype"), string_at(icons[0], "base64data")
        if not kind or not data:
            missing = "mediatype" if not kind else "base64data"
            yield Flaw(place.at(0), f"the icon has no {missing}", _REFUSED, fix=f"add {missing}")
        if kind and kind not in _MEDIA_TYPES:
            message = f"the icon is of media type {kind!r}"
            yield Flaw(
                place.at(0, "mediatype"), message, _REFUSED, fix=f"write one of {join_names(_MEDIA_TYPES)}"
            )


@bundle_folder_rule("EP667", "capability-level", Severity.ERROR, "standardcapabilities")
def capability_level(bundle: BundleFolder) -> Iterator[Flaw]:
    """The annotation capabilities is one of the five levels there are.

    A console shows no level for any other text. Cost: one look-up.
    """
    if bundle.csv is None or "capabilities" not in bundle.csv.annotations:
        return
    stated = as_string(bundle.csv.annotations["capabilities"])
    if stated not in _LEVELS:
        near = get_close_matches(stated, _LEVELS, n=1)
        yield Flaw(
            bundle.csv.place.at("metadata", "annotations", "capabilities"),
            f"there is no capability level {stated!r}",
            because=_REFUSED,
            fix=f"write {near[0]}" if near else f"write one of {join_names(_LEVELS)}",
        )


@bundle_folder_rule("EP668", "category", Severity.ERROR, "standardcategories")
def category(bundle: BundleFolder) -> Iterator[Flaw]:
    """The annotation categories lists categories there are, with commas between them.

    Nobody who looks for one finds the operator under another. Which there are may be said with --categories.
    Cost: one look-up each.
    """
    if bundle.csv is None or "categories" not in bundle.csv.annotations:
        return
    known = _CATEGORIES if bundle.categories is None else bundle.categories
    place = bundle.csv.place.at("metadata", "annotations", "categories")
    for stated in as_string(bundle.csv.annotations["categories"]).split(","):
        if stated.strip() not in known:
            near = get_close_matches(stated.strip(), sorted(known), n=1)
            fix = f"write {near[0]}" if near else f"write some of {join_names(sorted(known), 20)}"
            yield Flaw(place, f"there is no category {stated.strip()!r}", _REFUSED, fix=fix)
