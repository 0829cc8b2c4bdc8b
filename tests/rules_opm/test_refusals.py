"""What opm refuses of a package: one answer for all commands that go on all the same."""

from __future__ import annotations

import pytest

from documents import bundle, catalog, channel, package
from everpath.rules.refusals import refusals
from graphs import package_graph
from opm_refusals import ACCEPTED, REFUSALS

_PLAIN = (package(), channel("op.v1.0.0", "op.v1.1.0"), bundle(), bundle("op.v1.1.0", "1.1.0"))
_EMPTY = (*_PLAIN, channel(name="c2"))


@pytest.mark.parametrize("law", REFUSALS)
def test_a_breach_of_a_law_is_a_refusal(law: str) -> None:
    rule, documents = REFUSALS[law]
    found = [refusal for each in catalog(*documents).packages for refusal in refusals(each)]
    # Of a channel without entries the graph is what opm complains of.
    assert (rule if rule != "EP110" else None) in {refusal.rule for refusal in found}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_opm_accepts_is_none(name: str) -> None:
    assert not [r for each in catalog(*ACCEPTED[name]).packages for r in refusals(each)]


def test_the_graph_of_a_channel_is_refused_in_opm_s_words() -> None:
    [found] = refusals(package_graph("b\na").package)
    assert (found.channel, found.words) == ("stable", "multiple channel heads found in graph: a, b")
    [empty] = refusals(catalog(*_EMPTY).packages[0])
    assert (empty.channel, empty.words) == ("c2", "channel must contain at least one bundle")


def test_of_one_kind_the_first_is_told_and_the_others_are_counted() -> None:
    strays = [bundle(f"op.v1.{n}.0", f"1.{n}.0") for n in (2, 3, 4)]
    [found] = refusals(catalog(*_PLAIN, *strays).packages[0])
    assert found.words == "op.v1.2.0 is in no channel (and 2 others of this kind)"


@pytest.mark.parametrize("text", ["*", " ", "x", ">=v1.0.0"])
def test_a_range_that_does_not_parse_is_refused(text: str) -> None:
    drawn = package_graph("a").package
    entry = drawn.channels[0].entries[0]._replace(skip_range=text)
    [found] = refusals(drawn._replace(channels=(drawn.channels[0]._replace(entries=(entry,)),)))
    assert (found.channel, found.words) == ("stable", f'invalid skipRange "{text}" of a')


@pytest.mark.parametrize("text", [None, "", "<1.0.0", "<1.0.0 || || >2.0.0"])
def test_a_range_that_opm_takes_is_not(text: str | None) -> None:
    drawn = package_graph("a").package
    entry = drawn.channels[0].entries[0]._replace(skip_range=text)
    assert not refusals(drawn._replace(channels=(drawn.channels[0]._replace(entries=(entry,)),)))
