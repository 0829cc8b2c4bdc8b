"""Requirements of OperatorHub.io."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.model import Place
from everpath.model.bundle_contents import BundleFolder, Contents, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import Rule, rules_for_subjects

RULES: dict[str, Rule] = {rule.id: rule for rule in rules_for_subjects({"bundle folder"})}
Pointer = tuple[str | int, ...]


def flaws(rule: str, notes: dict[str, Any] | None = None, categories: Any = None, **spec: Any) -> list[Flaw]:
    """What a rule says of a CSV."""
    body = {"kind": "ClusterServiceVersion", "metadata": {"annotations": notes or {}}, "spec": spec}
    contents = Contents("f", Place("f"), (Manifest(Place("csv.yaml"), body),))
    found = list(RULES[rule].check(BundleFolder(contents, categories=categories)))
    assert all(flaw.because and flaw.fix for flaw in found)
    return found


def located_fixes(found: list[Flaw]) -> list[tuple[Pointer, str]]:
    return [(flaw.place.pointer, str(flaw.fix)) for flaw in found]


def test_each_rule_belongs_to_a_validator() -> None:
    table = {id_: (r.name, r.severity, r.validators) for id_, r in RULES.items() if "EP661" <= id_ <= "EP668"}
    hub = ("operatorhub/v2",)
    assert table == {
        "EP661": ("provider-name", Severity.ERROR, hub),
        "EP662": ("maintainer", Severity.ERROR, hub),
        "EP663": ("link", Severity.ERROR, hub),
        "EP664": ("version-unset", Severity.ERROR, hub),
        "EP665": ("no-icon", Severity.WARNING, hub),
        "EP666": ("icon", Severity.ERROR, hub),
        "EP667": ("capability-level", Severity.ERROR, ("standardcapabilities",)),
        "EP668": ("category", Severity.ERROR, ("standardcategories",)),
    }


@pytest.mark.parametrize("provider", [None, {}, {"name": ""}, {"name": " "}])
def test_csv_has_a_provider(provider: Any) -> None:
    assert [p for p, _ in located_fixes(flaws("EP661", provider=provider))] == [("spec", "provider", "name")]
    assert flaws("EP661", provider={"name": "acme"}) == []


def person(name: str = "A", email: str = "a@b.c") -> dict[str, str]:
    return {"name": name, "email": email}


@pytest.mark.parametrize(
    ("wrong", "fixes"),
    [
        (person(name=""), ["add the name, or remove the maintainer"]),
        (person(email=""), ["add the email, or remove the maintainer"]),
        (person("", ""), ["add the name, or remove the maintainer"]),
        (person(email="a"), ["write an address such as team@example.com"]),
        (
            person("", "a"),
            ["add the name, or remove the maintainer", "write an address such as team@example.com"],
        ),
    ],
)
def test_maintainer_has_a_name_and_an_email(wrong: dict[str, str], fixes: list[str]) -> None:
    place: Pointer = ("spec", "maintainers")
    found = located_fixes(flaws("EP662", maintainers=[person(), wrong, wrong]))
    expected = [
        ((*place, i, "email") if "address" in fix else (*place, i), fix) for i in (1, 2) for fix in fixes
    ]
    assert found == expected


@pytest.mark.parametrize(
    "email",
    ["a@b.c", "a.b+c@d", '"a b"@c', "a@[1.2.3.4]", "A B <a@b.c>", '"A, B" < a@b.c > ', " a@b.c (A)", "ä@ö.c"],
)
def test_valid_email_addresses_are_accepted(email: str) -> None:
    assert flaws("EP662", maintainers=[person(email=email)]) == []


@pytest.mark.parametrize(
    "email",
    [
        "a@",
        "@b",
        "a b@c",
        "a..b@c",
        "a@b.",
        "a@b, c@d",
        "<a@b",
        "a@b>",
        "A <a>",
        "a@[b]]",
        '"a@b',
        "a@b (",
        "a@@b",
    ],
)
def test_invalid_email_addresses_are_reported(email: str) -> None:
    assert len(flaws("EP662", maintainers=[person(email=email)])) == 1


USUAL = "write a URL such as https://example.com/docs"


@pytest.mark.parametrize(
    ("name", "url", "fixes"),
    [
        ("", "https://a.b", ["add the name, or remove the link"]),
        ("A", "", ["add the url, or remove the link"]),
        ("", "", ["add the name, or remove the link"]),
        ("A", "a.b/c", ["write https://a.b/c"]),
        ("", "a.b/c", ["add the name, or remove the link", "write https://a.b/c"]),
        ("A", "a b", [USUAL]),
        ("A", "1://a.b", [USUAL]),
    ],
)
def test_link_has_a_name_and_a_valid_url(name: str, url: str, fixes: list[str]) -> None:
    wrong, place = {"name": name, "url": url}, ("spec", "links")
    found = located_fixes(flaws("EP663", links=[{"name": "A", "url": "https://a.b"}, wrong, wrong]))
    assert found == [
        ((*place, i, "url") if "write" in fix else (*place, i), fix) for i in (1, 2) for fix in fixes
    ]


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (None, "OLM ranks the CSV below all others: it has no version"),
        ("", "OLM ranks the CSV below all others: it has no version"),
        ("0.0.0", "OLM ranks the CSV below all others: its version is 0.0.0"),
        ("0.0.0+b", "OLM ranks the CSV below all others: its version is 0.0.0+b"),
        ("v0", "OLM ranks the CSV below all others: its version is v0"),
    ],
)
def test_version_is_above_0_0_0(version: str | None, message: str) -> None:
    [flaw] = flaws("EP664", version=version)
    assert (flaw.place.pointer, flaw.message) == (("spec", "version"), message)


@pytest.mark.parametrize("version", ["0.0.1", "0.0.0-rc", "one"])
def test_other_or_invalid_version_is_not_unset(version: str) -> None:
    assert flaws("EP664", version=version) == []


PNG = {"mediatype": "image/png", "base64data": "a"}


def test_a_csv_has_an_icon() -> None:
    assert [p for p, _ in located_fixes(flaws("EP665"))] == [("spec", "icon")]
    assert flaws("EP665", icon=[]) == flaws("EP665", icon=[PNG]) == []


@pytest.mark.parametrize(
    ("icons", "fixes"),
    [
        ([], [((), "add the image, or remove spec.icon")]),
        ([PNG, {}], [((), "keep one of them")]),
        ([{}], [((0,), "add mediatype")]),
        ([{"mediatype": "image/png"}], [((0,), "add base64data")]),
        ([{"base64data": "a"}], [((0,), "add mediatype")]),
        (
            [{"mediatype": "text/html", "base64data": "a"}],
            [((0, "mediatype"), "write one of image/gif, image/jpeg, image/png and image/svg+xml")],
        ),
    ],
)
def test_csv_has_one_complete_icon(icons: list[Any], fixes: list[tuple[Pointer, str]]) -> None:
    assert located_fixes(flaws("EP666", icon=icons)) == [(("spec", "icon", *way), fix) for way, fix in fixes]


def test_unsupported_media_type_of_an_icon_is_reported() -> None:
    [flaw] = flaws("EP666", icon=[PNG | {"mediatype": "text/html"}])
    assert flaw.message == "browsers do not show the icon: the media type 'text/html' is not supported"


@pytest.mark.parametrize("kind", ["gif", "jpeg", "png", "svg+xml"])
def test_icon_has_one_of_four_media_types(kind: str) -> None:
    assert flaws("EP666", icon=[PNG | {"mediatype": f"image/{kind}"}]) == flaws("EP666", icon="a") == []


LEVELS = ["Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"]


@pytest.mark.parametrize("level", LEVELS)
def test_five_capability_levels_are_accepted(level: str) -> None:
    assert flaws("EP667", {"capabilities": level}) == flaws("EP667", {}) == []
    [flaw] = flaws("EP667", {"capabilities": f"{level}s"})
    assert located_fixes([flaw]) == [(("metadata", "annotations", "capabilities"), f"write {level}")]


def test_fix_for_an_unknown_level_lists_all() -> None:
    [flaw] = flaws("EP667", {"capabilities": "?"})
    assert flaw.fix == f"write one of {', '.join(LEVELS[:-1])} and {LEVELS[-1]}"


CATEGORIES = (
    "AI/Machine Learning, Application Runtime, Big Data, Cloud Provider, Database, Developer Tools, "
    "Integration & Delivery, Logging & Tracing, Modernization & Migration, Monitoring, Networking, "
    "Observability, OpenShift Optional, Security, Storage, Streaming & Messaging"
)


@pytest.mark.parametrize("stated", [CATEGORIES, *CATEGORIES.split(", ")])
def test_sixteen_categories_are_accepted_with_surrounding_spaces(stated: str) -> None:
    assert flaws("EP668", {"categories": stated}) == []


def test_every_unknown_category_is_reported() -> None:
    found = flaws("EP668", {"categories": "Database, Storrage ,?,Big Data"})
    assert {p for p, _ in located_fixes(found)} == {("metadata", "annotations", "categories")}
    assert [flaw.message for flaw in found] == [
        "users do not find the operator by category: 'Storrage' does not exist",
        "users do not find the operator by category: '?' does not exist",
    ]
    assert found[0].fix == "write Storage"
    assert str(found[1].fix).startswith("write one or more of AI/Machine Learning, Application Runtime, ")
    assert flaws("EP668", {}) == []


def test_categories_can_be_replaced() -> None:
    found = flaws("EP668", {"categories": "Database,Mine"}, frozenset({"Mine", "Others"}))
    assert [flaw.fix for flaw in found] == ["write one or more of Mine and Others"]


def test_fix_lists_at_most_20_own_categories() -> None:
    [flaw] = flaws("EP668", {"categories": "?"}, frozenset(f"c{n}" for n in range(10, 32)))
    assert str(flaw.fix).endswith("c28, c29 and 2 more")


def test_spaces_around_a_category_are_ignored() -> None:
    [flaw] = flaws("EP668", {"categories": f"{' ' * 40}Storrage"})
    assert flaw.fix == "write Storage"


@pytest.mark.parametrize("rule", [f"EP66{n}" for n in range(1, 9)])
def test_without_a_csv_operatorhub_rules_report_nothing(rule: str) -> None:
    assert list(RULES[rule].check(BundleFolder(Contents("f", Place("f"))))) == []
