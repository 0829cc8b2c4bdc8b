"""everpath.resolvers.subscription and the resolver of OLM v0 have the same results and messages.

Packages have several channels, and every installed version is resolved in every channel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Final

import pytest

from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.notation import parse
from everpath.resolvers.resolution import FailureKind, InstalledBundle, Resolution
from everpath.resolvers.subscription import CATALOG, SUBSCRIPTION, no_channel_failure, resolve
from everpath.versions import parse as parse_version
from tests.everpath.conformance.oracle import Answer, Oracle, Question
from tests.everpath.conformance.random_graphs import OUTSIDERS, random_graph
from tests.everpath.conformance.small_graphs import PACKAGE, SmallEntry, SmallGraph, as_channel

pytestmark = pytest.mark.conformance

SHARDS: Final = 4
PACKAGES_A_SHARD: Final = 200

#: Versions of a CSV in no channel, and of an entry whose version on the cluster differs from the catalog.
ELSEWHERE: Final = ("0.0.1", "1.1.0", "1.2.0-rc.1")

#: A channel that no package has.
NOWHERE: Final = "nowhere"


@dataclass(frozen=True, slots=True)
class SmallPackage:
    """Channels over one set of bundles: an entry has its version and its properties in all of them."""

    channels: dict[str, SmallGraph]

    def __str__(self) -> str:
        return "\n".join(f"[{name}]\n{graph}" for name, graph in self.channels.items())

    @property
    def entries(self) -> dict[str, SmallEntry]:
        return {e.name: e for graph in self.channels.values() for e in graph.entries}

    def on_cluster(self) -> Iterator[tuple[str, str]]:
        """Return all installed versions to resolve: entries of all channels, and others."""
        for entry in self.entries.values():
            yield entry.name, entry.version
        for name in (*OUTSIDERS, *sorted(self.entries)[:1]):
            yield from ((name, version) for version in ELSEWHERE)


def random_package(random: Random) -> SmallPackage:
    first = random_graph(random)
    known = {entry.name: entry for entry in first.entries}
    channels = {"alpha": first}
    for name in ("beta", "gamma")[: random.randint(0, 2)]:
        entries = []
        for entry in random_graph(random).entries:
            same = known.setdefault(entry.name, entry)
            entries.append(replace(entry, version=same.version, deprecated=same.deprecated))
        channels[name] = SmallGraph(tuple(entries))
    return SmallPackage(channels)


def asked(package: SmallPackage) -> Iterator[tuple[str, str | None, Question]]:
    """Yield a question for each channel with all installed versions, and one for each startingCSV."""
    channels = [{**as_channel(g), "name": name, "package": ""} for name, g in package.channels.items()]
    catalog = {"packages": [{"name": PACKAGE, "defaultChannel": "alpha", "channels": channels}]}
    installed = [{"name": name, "version": version} for name, version in package.on_cluster()]
    for channel in (*package.channels, NOWHERE):
        wanted = {"package": PACKAGE, "channel": channel, "catalog": "catalog"}
        question: Question = {"ask": "v0", "catalogs": [catalog], "subscription": wanted}
        yield channel, None, {**question, "installed": installed}
        if channel != NOWHERE:
            for starting in (*package.channels[channel].names, "ghost"):
                yield channel, starting, {**question, "subscription": {**wanted, "starting": starting}}


def theirs(outcome: Answer) -> str:
    if outcome["error"] is not None:
        return f"fails: {outcome['error']}"
    return f"takes {outcome['pick']}"


def ours(decision: Resolution, channel: str) -> str:
    if decision.failure is None:
        return f"takes {decision.next}"
    failure = decision.failure
    if failure.kind is FailureKind.NO_CHANNEL and not failure.message:
        failure = no_channel_failure(PACKAGE, channel)
    words = failure.message.replace(SUBSCRIPTION, "subscription").replace(CATALOG, "catalog/olm")
    return f"fails: {'panic: ' * (failure.kind is FailureKind.PANIC)}{words}"


def answers(
    graph: ChannelGraph | None, channel: str, starting: str | None, installed: list[tuple[str, str]]
) -> list[str]:
    """Return everpath's results in the order of the oracle: a new Subscription, then installed versions."""
    there = [None, *(InstalledBundle(name, parse_version(version)) for name, version in installed)]
    return [ours(resolve(graph, each, starting_csv=starting), channel) for each in there]


@pytest.mark.parametrize("seed", range(SHARDS))
def test_random_packages(oracle: Oracle, seed: int, record_property: Callable[[str, object], None]) -> None:
    random = Random(f"subscriptions {seed}")
    counts: Counter[str] = Counter()
    packages = [random_package(random) for _ in range(PACKAGES_A_SHARD)]
    told = [(package, *question) for package in packages for question in asked(package)]
    replies = oracle.ask_many(question for *_, question in told)
    for (package, channel, starting, question), reply in zip(told, replies, strict=True):
        graph = PackageGraph(parse(str(package)).packages[0]).by_name.get(channel)
        installed = list(package.on_cluster()) if "installed" in question else []
        expected = [theirs(outcome) for outcome in (reply["fresh"], *reply["installed"])]
        given = answers(graph, channel, starting, installed)
        assert expected == given, f"channel {channel}, startingCSV {starting}:\n{package}"
        count(counts, package, channel, starting, installed, given)
    record_property("counted", f"subscriptions, seed {seed}: {shown(counts)}")
    assert counts["questions"] > 5_000
    assert min(counts.values()) > 5


def count(
    counts: Counter[str],
    package: SmallPackage,
    channel: str,
    starting: str | None,
    installed: list[tuple[str, str]],
    given: list[str],
) -> None:
    members = package.channels[channel].names if channel in package.channels else ()
    counts["questions"] += len(given)
    counts["fresh installs"] += starting is None
    counts["startingCSVs"] += starting is not None
    counts["from outside the channel"] += sum(name not in members for name, _ in installed)
    counts["from another channel"] += sum(
        name in package.entries.keys() - {*members} for name, _ in installed
    )
    counts["moves"] += sum(answer.startswith("takes ") and answer != "takes None" for answer in given)
    counts["stays"] += given.count("takes None")
    for text in (
        "unique",
        "cycle",
        "no channel heads",
        "in channel nowhere",
        "with name",
        "panic",
        "deprecated",
    ):
        counts[f"failures: {text}"] += sum(answer.startswith("fails") and text in answer for answer in given)


def shown(counts: Counter[str]) -> str:
    return ", ".join(f"{number:,} {what}" for what, number in counts.items()) + ", 0 disagreements"
