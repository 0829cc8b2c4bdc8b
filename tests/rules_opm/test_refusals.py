"""What opm refuses of a package: one answer for all commands that go on all the same."""

from __future__ import annotations

import pytest

from documents import Document, bundle, catalog, channel, deprecations, in_folder, package, repository
from everpath.model import Catalog, Place
from everpath.rules.lint import lint
from everpath.rules.opm_errors import OPM_RULES, opm_errors
from graphs import package_graph
from opm_refusals import ACCEPTED, REFUSALS

_PLAIN = (package(), channel("op.v1.0.0", "op.v1.1.0"), bundle(), bundle("op.v1.1.0", "1.1.0"))
_EMPTY = (*_PLAIN, channel(name="c2"))


@pytest.mark.parametrize("law", REFUSALS)
def test_a_breach_of_a_law_is_a_refusal(law: str) -> None:
    rule, documents = REFUSALS[law]
    found = [refusal for each in catalog(*documents).packages for refusal in opm_errors(each)]
    # Of a channel without entries the graph is what opm complains of.
    assert (rule if rule != "EP110" else None) in {refusal.rule for refusal in found}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_opm_accepts_is_none(name: str) -> None:
    assert not [r for each in catalog(*ACCEPTED[name]).packages for r in opm_errors(each)]


def test_the_graph_of_a_channel_is_refused_in_opm_s_words() -> None:
    [found] = opm_errors(package_graph("b\na").package)
    assert (found.channel, found.message) == ("stable", "multiple channel heads found in graph: a, b")
    [empty] = opm_errors(catalog(*_EMPTY).packages[0])
    assert (empty.channel, empty.message) == ("c2", "channel must contain at least one bundle")


def test_of_one_kind_the_first_is_told_and_the_others_are_counted() -> None:
    strays = [bundle(f"op.v1.{n}.0", f"1.{n}.0") for n in (2, 3, 4)]
    [found] = opm_errors(catalog(*_PLAIN, *strays).packages[0])
    assert found.message == "op.v1.2.0 is in no channel (and 2 others of this kind)"


@pytest.mark.parametrize("text", ["*", " ", "x", ">=v1.0.0"])
def test_a_range_that_does_not_parse_is_refused(text: str) -> None:
    drawn = package_graph("a").package
    entry = drawn.channels[0].entries[0]._replace(skip_range=text)
    [found] = opm_errors(drawn._replace(channels=(drawn.channels[0]._replace(entries=(entry,)),)))
    assert (found.channel, found.message) == ("stable", f'invalid skipRange "{text}" of a')


@pytest.mark.parametrize("text", [None, "", "<1.0.0", "<1.0.0 || || >2.0.0"])
def test_a_range_that_opm_takes_is_not(text: str | None) -> None:
    drawn = package_graph("a").package
    entry = drawn.channels[0].entries[0]._replace(skip_range=text)
    assert not opm_errors(drawn._replace(channels=(drawn.channels[0]._replace(entries=(entry,)),)))


def test_the_laws_are_those_that_opm_is_held_against() -> None:
    """Of EP111 opm has one part only: that a bundle has a name."""
    assert {rule for rule, _ in REFUSALS.values()} == OPM_RULES | {"EP111"}


@pytest.mark.parametrize("law", REFUSALS)
def test_a_refusal_says_of_which_package_it_is_where_and_what_helps(law: str) -> None:
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
def test_what_stands_there_twice_is_refused_in_opm_s_words_and_is_no_matter_of_a_channel(
    document: Document, words: str
) -> None:
    [found] = opm_errors(catalog(*_PLAIN, deprecations(), document).packages[0])
    assert (found.channel, found.message) == (None, words)


def test_a_reference_that_is_deprecated_twice_is_not_taken_for_a_second_document() -> None:
    twice = deprecations(*[("olm.bundle", "op.v1.0.0", "old")] * 2)
    [found] = opm_errors(catalog(*_PLAIN, twice).packages[0])
    assert (found.rule, found.message) == ("EP502", "olm.bundle op.v1.0.0 is deprecated twice")


def test_a_bundle_without_a_name_is_shown_with_what_to_do() -> None:
    [found] = opm_errors(catalog(package(), channel({"name": ""}), bundle("")).packages[0])
    assert (found.channel, found.rule, found.place.file) == (None, "EP111", "2.yaml")
    assert (found.message, found.fix) == ("a bundle has no name", "add its name")


def test_what_is_no_matter_of_a_channel_comes_first_and_channels_by_name() -> None:
    entries = {"name": "op.v1.0.0", "skipRange": "x"}
    channels = [channel(entries, name=name) for name in ("z", "b")]
    [read] = catalog(*_PLAIN, bundle("stray", "9.9.9"), *channels).packages
    assert [found.channel for found in opm_errors(read)] == [None, "b", "z"]


def test_ranges_are_counted_by_channel_and_pointed_at() -> None:
    wrong = [{"name": "op.v1.1.0", "replaces": "op.v1.0.0"}, {"name": "op.v1.0.0"}]
    made = channel(*({**entry, "skipRange": "x"} for entry in wrong), name="early")
    [found] = opm_errors(catalog(*_PLAIN, made).packages[0])
    assert found.message == 'invalid skipRange "x" of op.v1.1.0 (and 1 others of this kind)'
    assert (found.rule, found.place.pointer[-1]) == ("EP301", "skipRange")


def test_graphs_of_two_channels_of_one_name_that_are_wrong_alike_are_told_once() -> None:
    """opm refuses the second channel for its name before it looks at a graph."""
    [read] = catalog(*_PLAIN, channel(name="c2"), channel(name="c2")).packages
    assert [(found.channel, found.message) for found in opm_errors(read)] == [
        (None, 'package "op" has duplicate channel "c2"'),
        ("c2", "channel must contain at least one bundle"),
    ]


def test_a_finding_that_is_no_error_is_no_refusal() -> None:
    """A bundle in no channel is a warning as long as it is a folder: opm refuses what is rendered."""
    outside = in_folder("op.v1.1.0", channels=(), annotations=Place("annotations.yaml"))
    [read] = repository(in_folder("op.v1.0.0"), outside).packages
    assert "EP402" in {finding.rule for finding in lint(Catalog("", (read,))).findings}
    assert opm_errors(read) == ()


def test_each_kind_of_thing_that_is_wrong_with_a_channel_is_told() -> None:
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
