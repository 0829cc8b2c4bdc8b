"""All of OperatorHub, compared with its state one release before."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.comparison import compare
from everpath.comparison.matrix import compare_sequence
from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.catalog_loader import load
from everpath.model import Catalog, Channel, Package

pytestmark = pytest.mark.corpus


@pytest.fixture(scope="module")
def today(operatorhub: Path) -> Catalog:
    return load(str(operatorhub), cache=None).catalog


@pytest.fixture(scope="module")
def yesterday(today: Catalog) -> Catalog:
    """Return the catalog without the head of every channel; channels with one entry are removed."""
    return today._replace(packages=tuple(map(_earlier, today.packages)))


def _earlier(package: Package) -> Package:
    channels = map(_headless, PackageGraph(package).channels)
    return package._replace(channels=tuple(channel for channel in channels if channel.entries))


def _headless(graph: ChannelGraph) -> Channel:
    return graph.channel._replace(entries=tuple(e for e in graph.channel.entries if e.name != graph.head))


def test_compared_with_itself_nothing_changes(today: Catalog) -> None:
    assert compare(today, today).counts == {"same": 19_038, "before": 144}


def test_last_release_of_every_channel_strands_no_version(yesterday: Catalog, today: Catalog) -> None:
    counts = {outcome.value: number for outcome, number in compare(yesterday, today).counts.items()}
    assert counts == {"further": 15_766, "different-path": 1_816, "before": 144, "same": 52}


def test_removed_release_is_stranded(yesterday: Catalog, today: Catalog) -> None:
    comparison = compare(today, yesterday)
    gone = [c for c in comparison.changes if c.kind.value == "channel-gone"]
    assert len(gone) == 193
    heads = {(p.name, g.name, g.head) for p in today.packages for g in PackageGraph(p).channels if g.head}
    hurt = {(r.package, r.channel, r.installed) for r in comparison.rows if r.outcome.is_regression}
    # Only these two have ranges without an upper bound, by which an older release downgrades them again.
    assert heads - hurt == {
        ("node-maintenance-operator", "stable", "node-maintenance-operator.v0.21.0"),
        ("fence-agents-remediation", "stable", "fence-agents-remediation.v0.8.0"),
    }


def test_removing_and_adding_releases_strands_only_in_the_first_step(
    yesterday: Catalog, today: Catalog
) -> None:
    first, second = compare_sequence([today, yesterday, today]).updates
    assert first.regression_count == compare(today, yesterday).regression_count
    assert second.regression_count == 0
