"""Errors of opm for a package, for commands that run in spite of them."""

from __future__ import annotations

import pytest

from everpath.model import Catalog, Place
from everpath.rules.lint import lint
from everpath.rules.opm_errors import OPM_RULES, opm_errors
from tests.support.everpath.documents import (
    Document,
    bundle,
    catalog,
    channel,
    deprecations,
    in_folder,
    package,
    repository,
)
from tests.support.everpath.graphs import package_graph
from tests.support.everpath.opm_refusals import ACCEPTED, REFUSALS

_PLAIN = (package(), channel("op.v1.0.0", "op.v1.1.0"), bundle(), bundle("op.v1.1.0", "1.1.0"))
_EMPTY = (*_PLAIN, channel(name="c2"))


@pytest.mark.parametrize("law", REFUSALS)
def test_error_of_an_opm_rule_is_an_opm_error(law: str) -> None:
    rule, documents = REFUSALS[law]
    found = [refusal for each in catalog(*documents).packages for refusal in opm_errors(each)]
    # Of a channel without entries the graph is what opm complains of.
    assert (rule if rule != "EP110" else None) in {refusal.rule for refusal in found}


@pytest.mark.parametrize("name", ACCEPTED)
def test_valid_package_has_no_opm_errors(name: str) -> None:
    assert not [r for each in catalog(*ACCEPTED[name]).packages for r in opm_errors(each)]


def test_opm_error_of_a_graph_has_the_message_of_opm() -> None:
    [found] = opm_errors(package_graph("b\na").package)
    assert (found.channel, found.message) == ("stable", "multiple channel heads found in graph: a, b")
    [empty] = opm_errors(catalog(*_EMPTY).packages[0])
    assert (empty.channel, empty.message) == ("c2", "channel must contain at least one bundle")


def test_errors_of_one_kind_are_counted() -> None:
    strays = [bundle(f"op.v1.{n}.0", f"1.{n}.0") for n in (2, 3, 4)]
    [found] = opm_errors(catalog(*_PLAIN, *strays).packages[0])
    assert found.message == "op.v1.2.0 is in no channel (and 2 others of this kind)"


@pytest.mark.parametrize("text", ["*", " ", "x", ">=v1.0.0"])
def test_range_that_does_not_parse_is_an_opm_error(text: str) -> None:
    drawn = package_graph("a").package
    entry = drawn.channels[0].entries[0]._replace(skip_range=text)
    [found] = opm_errors(drawn._replace(channels=(drawn.channels[0]._replace(entries=(entry,)),)))
    assert (found.channel, found.message) == ("stable", f'invalid skipRange "{text}" of a')


@pytest.mark.parametrize("text", [None, "", "<1.0.0", "<1.0.0 || || >2.0.0"])
def test_range_that_opm_accepts_is_no_opm_error(text: str | None) -> None:
    drawn = package_graph("a").package
    entry = drawn.channels[0].entries[0]._replace(skip_range=text)
    assert not opm_errors(drawn._replace(channels=(drawn.channels[0]._replace(entries=(entry,)),)))


@pytest.mark.parametrize(("text", "rule", "is_rejected"), [(" ", "EP301", True), ("", "EP308", False)])
def test_range_of_spaces_is_an_error_and_an_empty_range_is_a_warning(
    text: str, rule: str, *, is_rejected: bool
) -> None:
    """`opm validate` of opm 1.73.0 rejects a range of spaces and accepts an empty one."""
    read = catalog(package(), channel({"name": "op.v1.0.0", "skipRange": text}), bundle())
    found = [finding.rule for finding in lint(read).findings if finding.rule.startswith("EP30")]
    assert found == [rule]
    assert bool(opm_errors(read.packages[0])) is is_rejected


def test_opm_rules_are_those_compared_with_opm() -> None:
    """Of EP111 opm has one part only: that a bundle has a name."""
    assert {rule for rule, _ in REFUSALS.values()} == OPM_RULES | {"EP111"}


@pytest.mark.parametrize("law", REFUSALS)
def test_opm_error_has_package_place_and_fix(law: str) -> None:
    for each in catalog(*REFUSALS[law][1]).packages:
        for found in opm_errors(each):
            assert found.package == each.name
            assert found.place.file
            assert (found.fix is None) == (found.rule is None)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (_PLAIN[1], 'package "op" has duplicate channel "stable"'),
        (_PLAIN[2], 'package "op" has duplicate bundle "op.v1.0.0"'),
        (deprecations(), 'expected a maximum of one deprecation per package: "op"'),
    ],
)
def test_duplicates_have_the_message_of_opm(document: Document, words: str) -> None:
    [found] = opm_errors(catalog(*_PLAIN, deprecations(), document).packages[0])
    assert (found.channel, found.message) == (None, words)


def test_duplicate_reference_is_not_a_second_document() -> None:
    twice = deprecations(*[("olm.bundle", "op.v1.0.0", "old")] * 2)
    [found] = opm_errors(catalog(*_PLAIN, twice).packages[0])
    assert (found.rule, found.message) == ("EP502", "olm.bundle op.v1.0.0 is deprecated twice")


def test_bundle_without_a_name_is_an_opm_error_with_a_fix() -> None:
    [found] = opm_errors(catalog(package(), channel({"name": ""}), bundle("")).packages[0])
    assert (found.channel, found.rule, found.place.file) == (None, "EP111", "2.yaml")
    assert (found.message, found.fix) == ("a bundle has no name", "add its name")


def test_opm_errors_are_sorted_by_channel() -> None:
    entries = {"name": "op.v1.0.0", "skipRange": "x"}
    channels = [channel(entries, name=name) for name in ("z", "b")]
    [read] = catalog(*_PLAIN, bundle("stray", "9.9.9"), *channels).packages
    assert [found.channel for found in opm_errors(read)] == [None, "b", "z"]


def test_ranges_are_counted_by_channel() -> None:
    wrong = [{"name": "op.v1.1.0", "replaces": "op.v1.0.0"}, {"name": "op.v1.0.0"}]
    made = channel(*({**entry, "skipRange": "x"} for entry in wrong), name="early")
    [found] = opm_errors(catalog(*_PLAIN, made).packages[0])
    assert found.message == 'invalid skipRange "x" of op.v1.1.0 (and 1 others of this kind)'
    assert (found.rule, found.place.pointer[-1]) == ("EP301", "skipRange")


def test_equal_errors_of_two_channels_with_one_name_are_reported_once() -> None:
    """opm rejects the second channel for its name before it looks at a graph."""
    [read] = catalog(*_PLAIN, channel(name="c2"), channel(name="c2")).packages
    assert [(found.channel, found.message) for found in opm_errors(read)] == [
        (None, 'package "op" has duplicate channel "c2"'),
        ("c2", "channel must contain at least one bundle"),
    ]


def test_warning_is_no_opm_error() -> None:
    """A bundle in no channel is a warning as long as it is a folder: opm rejects what is rendered."""
    outside = in_folder("op.v1.1.0", channels=(), annotations=Place("annotations.yaml"))
    [read] = repository(in_folder("op.v1.0.0"), outside).packages
    assert "EP402" in {finding.rule for finding in lint(Catalog("", (read,))).findings}
    assert opm_errors(read) == ()


def test_every_kind_of_error_in_a_channel_is_reported() -> None:
    wrong = [
        {"name": "op.v1.0.0", "skipRange": "x"},
        {"name": "op.v1.1.0"},
        {"name": "gone", "replaces": "op.v1.1.0"},
    ]
    [read] = catalog(
        *_PLAIN, channel(*wrong, name="early"), channel(name="c2"), channel(*wrong[:2], name="c2")
    ).packages
    assert [(found.channel, found.rule) for found in opm_errors(read)] == [
        (None, "EP108"),
        ("c2", None),
        ("c2", None),
        ("c2", "EP301"),
        ("early", "EP401"),
        ("early", None),
        ("early", "EP301"),
    ]
