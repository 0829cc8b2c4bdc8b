"""Channels, their entries, and names that are not safe."""

from __future__ import annotations

import pytest

from documents import bundle, catalog, channel, package
from everpath.model import Catalog
from everpath.rules.findings import Severity
from graphs import findings, parse_report

A, B = "op.v1.0.0", "op.v1.1.0"


def called(name: str, channel_name: str = "stable") -> Catalog:
    return catalog(package(default=channel_name), channel(name, name=channel_name), bundle(name, "1.0.0"))


def test_a_channel_described_twice_is_reported_where_it_is_described_again() -> None:
    made = catalog(package(), channel(A), channel(A, B), bundle(A), bundle(B))
    (finding,) = parse_report(made, "duplicate-channel")
    assert (finding.channel, finding.place.file) == ("stable", "2.yaml")
    assert finding.because[0] == "the first description is in 1.yaml"
    assert (finding.related and finding.related.file) == "1.yaml"


def test_entries_of_a_channel_described_twice_are_all_looked_at() -> None:
    made = catalog(package(), channel(A), channel("a/b"), bundle(A), bundle("a/b"))
    assert findings(made, "EP111") == ["EP111 a/b: the name of bundle 'a/b' is not safe: it has a slash"]


def test_an_entry_that_stands_twice_is_reported_once() -> None:
    made = catalog(
        package(), channel({"name": A}, {"name": B, "replaces": A}, {"name": A}), bundle(A), bundle(B)
    )
    (finding,) = parse_report(made, "duplicate-entry")
    assert (finding.entry, finding.place.pointer) == (A, ("entries", 2))
    assert finding.message == "v1.0.0 stands twice in the channel"


def test_entries_without_a_name_are_duplicates_too() -> None:
    made = catalog(package(), channel({"name": ""}, {"name": ""}))
    assert findings(made, "EP109") == ["EP109 stable: an entry without a name stands twice in the channel"]


def test_a_channel_without_entries_is_an_error() -> None:
    assert findings(catalog(package(), channel()), "EP110") == [
        "EP110 stable: the channel stable has no entries"
    ]


def test_what_is_retired_is_deprecated_and_not_removed() -> None:
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
    assert finding.message == "the name of channel 'stable/1' is not safe: it has a slash"
    assert finding.severity is Severity.ERROR
    assert finding.channel == "stable/1"
    assert "every Subscription of the namespace fails" in finding.because[0]


def test_s14_a_slash_in_a_bundle_breaks_the_namespace() -> None:
    (finding,) = parse_report(called("a/v1"), "EP111")
    assert finding.severity is Severity.ERROR
    assert "every Subscription of the namespace fails" in finding.because[0]


@pytest.mark.parametrize("name", ["Stable", "v1_2", "a b", "-a", "ü"])
def test_other_characters_in_a_channel_are_a_warning(name: str) -> None:
    (finding,) = parse_report(called(A, name), "EP111")
    assert finding.severity is Severity.WARNING
    assert finding.because == ("a ClusterExtension cannot select it: `channels` takes DNS-1123 names only",)


def test_a_channel_that_has_users_keeps_its_name() -> None:
    (finding,) = parse_report(called(A, "original_40"), "EP111")
    assert finding.fix is not None
    assert finding.fix.startswith("once it has users, keep it: ")
    (finding,) = parse_report(called(A, "a/b"), "EP111")  # this one never had any
    assert finding.fix == "use lower-case letters, digits, '-' and '.' only"


@pytest.mark.parametrize("name", ["Op.v1.0.0", "op.v1.0.0+1", "op_1"])
def test_other_characters_in_a_bundle_make_it_impossible_to_install(name: str) -> None:
    (finding,) = parse_report(called(name), "EP111")
    assert finding.severity is Severity.ERROR
    assert finding.because == ("the cluster refuses an object of this name: it can never be installed",)


def test_a_bundle_name_that_fits_no_label_is_a_warning() -> None:
    assert findings(called("a" * 63), "EP111") == []
    (finding,) = parse_report(called("a" * 64), "EP111")
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith("has 64 characters")
    assert finding.fix == "shorten it to 63 characters before its release; afterwards the next one's"


def test_s14_names_that_are_one_file_in_the_json_cache_collide() -> None:
    made = catalog(
        package(default="s"),
        channel("x_b1", name="s"),
        channel("b1", name="s_x"),
        bundle("x_b1", "1.0.0"),
        bundle("b1", "1.0.1"),
    )
    assert "EP111 b1: b1 in s_x and x_b1 in s are one file in opm's JSON cache" in findings(made, "EP111")
    for turned in (
        made,
        Catalog("test", tuple(p._replace(channels=p.channels[::-1]) for p in made.packages)),
    ):
        fixes = [f.fix for f in parse_report(turned, "EP111") if "JSON cache" in f.message]
        assert fixes == ["rename x_b1: with a '_' in its name it was never installed"]


def test_an_underscore_alone_collides_with_nothing() -> None:
    made = catalog(
        package(default="s"), channel("b1", name="s"), channel("b1", name="s_x"), bundle("b1", "1.0.0")
    )
    assert not [f for f in findings(made, "EP111") if "JSON cache" in f]


def test_a_name_that_is_empty_is_shown_as_that() -> None:
    made = catalog(package("", ""), channel(A, name="", package=""), bundle(A, package=""))
    said = [finding.message for finding in parse_report(made, "EP107", "EP103")]
    assert 'a channel of "" has no name' in said
    assert 'the package "" names no default channel; it has ""' in said
