"""Rules about channels, their entries, and unsafe names."""

from __future__ import annotations

import pytest

from everpath.model import Catalog
from everpath.rules.findings import Severity
from tests.support.everpath.documents import bundle, catalog, channel, package
from tests.support.everpath.graphs import findings, parse_report

A, B = "op.v1.0.0", "op.v1.1.0"


def called(name: str, channel_name: str = "stable") -> Catalog:
    return catalog(package(default=channel_name), channel(name, name=channel_name), bundle(name, "1.0.0"))


def test_second_document_of_a_channel_is_reported() -> None:
    made = catalog(package(), channel(A), channel(A, B), bundle(A), bundle(B))
    (finding,) = parse_report(made, "duplicate-channel")
    assert (finding.channel, finding.place.file) == ("stable", "2.yaml")
    assert finding.because[0] == "the first is in 1.yaml"
    assert (finding.related and finding.related.place.file) == "1.yaml"


def test_entries_of_both_documents_of_a_channel_are_checked() -> None:
    made = catalog(package(), channel(A), channel("a/b"), bundle(A), bundle("a/b"))
    assert findings(made, "EP111") == [
        "EP111 a/b: every Subscription of the namespace fails in OLM v0: the name of bundle 'a/b' has a slash"
    ]


def test_duplicate_entry_is_reported_once() -> None:
    made = catalog(
        package(), channel({"name": A}, {"name": B, "replaces": A}, {"name": A}), bundle(A), bundle(B)
    )
    (finding,) = parse_report(made, "duplicate-entry")
    assert (finding.entry, finding.place.pointer) == (A, ("entries", 2))
    assert finding.message == "v1.0.0 is in the channel twice"


def test_entries_without_a_name_are_duplicates_too() -> None:
    made = catalog(package(), channel({"name": ""}, {"name": ""}))
    assert findings(made, "EP109") == ["EP109 stable: an entry without a name is in the channel twice"]


def test_a_channel_without_entries_is_an_error() -> None:
    assert findings(catalog(package(), channel()), "EP110") == [
        "EP110 stable: the channel stable has no entries"
    ]


def test_fix_deprecates_a_retired_channel_or_package() -> None:
    for made, rule in ((catalog(package(), channel()), "EP110"), (catalog(package()), "EP105")):
        (finding,) = parse_report(made, rule)
        assert finding.fix is not None
        assert "deprecate it in olm.deprecations" in finding.fix
        assert "remove" not in finding.fix


@pytest.mark.parametrize("name", ["stable", "v1.2", "a-b.c", "4.x"])
def test_subdomains_are_safe_names_of_channels(name: str) -> None:
    assert findings(called(A, name), "EP111") == []


def test_s14_a_slash_in_a_channel_breaks_the_namespace() -> None:
    (finding,) = parse_report(called(A, "stable/1"), "unsafe-name")
    assert finding.message == (
        "every Subscription of the namespace fails in OLM v0: the name of channel 'stable/1' has a slash"
    )
    assert (finding.severity, finding.place.pointer) == (Severity.ERROR, ("name",))
    assert finding.channel == "stable/1"
    assert finding.because == (
        "OLM v0 joins catalog, channel and bundle with slashes, and cannot split them again",
    )


def test_s14_a_slash_in_a_bundle_breaks_the_namespace() -> None:
    (finding,) = parse_report(called("a/v1"), "EP111")
    assert (finding.severity, finding.place.pointer) == (Severity.ERROR, ("entries", 0, "name"))
    assert finding.fix == "use only lower-case letters, digits, '-' and '.'"
    assert finding.because == (
        "OLM v0 joins catalog, channel and bundle with slashes, and cannot split them again",
    )


@pytest.mark.parametrize("name", ["Stable", "v1_2", "a b", "-a", "ü"])
def test_other_characters_in_a_channel_are_a_warning(name: str) -> None:
    (finding,) = parse_report(called(A, name), "EP111")
    assert finding.severity is Severity.WARNING
    assert finding.because == ("`channels` of a ClusterExtension accepts only DNS-1123 names",)


def test_fix_keeps_a_channel_that_can_have_users() -> None:
    (finding,) = parse_report(called(A, "original_40"), "EP111")
    assert finding.fix is not None
    assert finding.fix.startswith("keep a channel that has users: ")
    (finding,) = parse_report(called(A, "a/b"), "EP111")  # this one never had any
    assert finding.fix == "use only lower-case letters, digits, '-' and '.'"


@pytest.mark.parametrize("name", ["Op.v1.0.0", "op.v1.0.0+1", "op_1"])
def test_other_characters_in_a_bundle_name_are_an_error(name: str) -> None:
    (finding,) = parse_report(called(name), "EP111")
    assert finding.severity is Severity.ERROR
    assert finding.because == ("OLM cannot create a CSV with this name",)
    assert finding.fix == "use only lower-case letters, digits, '-' and '.'"


def test_bundle_name_too_long_for_a_label_is_a_warning() -> None:
    assert findings(called("a" * 63), "EP111") == []
    (finding,) = parse_report(called("a" * 64), "EP111")
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith("in labels: it has 64 characters")
    assert finding.fix == "before the release, shorten it to 63 characters; after it, shorten the next one"


def test_s14_names_with_the_same_file_in_the_json_cache_are_reported() -> None:
    made = catalog(
        package(default="s"),
        channel("x_b1", name="s"),
        channel("b1", name="s_x"),
        bundle("x_b1", "1.0.0"),
        bundle("b1", "1.0.1"),
    )
    assert (
        "EP111 b1: opm serves one bundle for two entries: b1 in s_x and x_b1 in s have the same file in its "
        "JSON cache"
    ) in findings(made, "EP111")
    for turned in (
        made,
        Catalog("test", tuple(p._replace(channels=p.channels[::-1]) for p in made.packages)),
    ):
        fixes = [f.fix for f in parse_report(turned, "EP111") if "JSON cache" in f.message]
        assert fixes == ["rename x_b1: a bundle with a '_' in its name cannot be installed"]


def test_underscore_without_a_collision_is_accepted() -> None:
    made = catalog(
        package(default="s"), channel("b1", name="s"), channel("b1", name="s_x"), bundle("b1", "1.0.0")
    )
    assert not [f for f in findings(made, "EP111") if "JSON cache" in f]


def test_empty_name_is_shown_in_quotes() -> None:
    made = catalog(package("", ""), channel(A, name="", package=""), bundle(A, package=""))
    messages = [finding.message for finding in parse_report(made, "EP107", "EP103")]
    assert 'a channel of "" has no name' in messages
    assert 'the package "" has no default channel; its channels are ""' in messages
