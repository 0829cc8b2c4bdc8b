"""A fix is safe to follow: carried out to the letter it costs no channel opm's acceptance."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import assume, given

from everpath.formats.notation import parse
from everpath.graph import ChannelGraph
from everpath.model import Channel, Entry
from everpath.policies import opm
from everpath.rules.check import Selection, check
from everpath.rules.registry import find_rules
from strategies import drawings

RULES = ("EP2",)


def followed(fix: str, entry: Entry) -> Entry:
    """The entry after the part of a fix that is about it."""
    name = re.escape(entry.name)
    if found := re.search(rf"add ((?:\w+(?:, | and )?)+) to the skips of {name}\b", fix):
        named = re.split(r", | and ", found[1])
        return entry._replace(skips=(*entry.skips, *(n for n in named if n not in entry.skips)))
    if found := re.search(rf"set replaces: (\w+) on {name}\b", fix):
        return entry._replace(replaces=found[1])
    if found := re.search(rf"give {name} the skipRange '([^']+)'", fix):
        return entry._replace(skip_range=found[1])
    if re.search(rf"remove replaces: \w+ from {name}\b", fix):
        return entry._replace(replaces=None)
    return entry


def mended(channel: Channel, fix: str) -> Channel:
    return replace(channel, entries=tuple(followed(fix, entry) for entry in channel.entries))


@given(drawings())
def test_no_fix_turns_a_channel_opm_accepts_into_one_it_refuses(drawing: str) -> None:
    catalog = parse(drawing)
    [package] = catalog.packages
    [channel] = package.channels
    assume(opm.verdict(ChannelGraph(channel, package)).accepted)
    for finding in check(catalog, Selection(rules=find_rules(RULES))).findings:
        for edit in (finding.fix or "").split(", or "):
            after = ChannelGraph(mended(channel, edit), package)
            assert opm.verdict(after).accepted, (finding.rule, edit)
