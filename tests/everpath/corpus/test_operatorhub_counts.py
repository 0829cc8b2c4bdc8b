"""The findings in all upgrade graphs of OperatorHub have the counts that were measured before.

The expected figures were measured with other code; docs/corpus.md has the method and every difference.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.catalog_loader import load
from everpath.model import Catalog
from everpath.resolvers import opm
from everpath.rules.lint import Report, lint

pytestmark = pytest.mark.corpus


@pytest.fixture(scope="module")
def catalog(operatorhub: Path) -> Catalog:
    return load(str(operatorhub), cache=None).catalog


@pytest.fixture(scope="module")
def report(catalog: Catalog) -> Report:
    return lint(catalog)


@pytest.fixture(scope="module")
def channels(catalog: Catalog) -> list[ChannelGraph]:
    return [graph for package in catalog.packages for graph in PackageGraph(package).channels]


def test_every_package_channel_entry_and_bundle_is_loaded(catalog: Catalog, report: Report) -> None:
    bundles = sum(len(package.bundles) for package in catalog.packages)
    assert (report.packages, report.channels, report.entries, bundles) == (447, 706, 9591, 7722)


@pytest.mark.parametrize(
    ("rule", "findings", "packages", "channels"),
    [
        ("EP201", 0, 0, 0),  # no head
        ("EP203", 0, 0, 0),  # ambiguous successor
        ("EP204", 0, 0, 0),  # cycle
        ("EP205", 0, 0, 0),
        ("EP211", 0, 0, 0),  # self-replace
        ("EP212", 0, 0, 0),  # replaces a bundle absent from the package
        ("EP213", 97, 29, 94),  # replaces a bundle of the package that is not in this channel
        ("EP214", 129, 4, 10),  # skips a name absent from the package
        ("EP215", 0, 0, 0),  # skips a bundle not in this channel
        ("EP208", 2, 2, 2),  # stranded by opm's rule with one head
        ("EP216", 6, 2, 2),  # replaces and skips name the same bundle
        ("EP220", 0, 0, 0),  # replaces a higher version
        ("EP301", 0, 0, 0),  # skipRange does not parse
        ("EP304", 19, 2, 2),  # skipRange contains the bundle's own version
        ("EP305", 17, 2, 2),  # skipRange contains newer bundles of the channel
        ("EP306", 1, 1, 1),  # skipRange matches no version at all
        ("EP307", 86, 23, 66),  # skipRange matches nothing else in the channel
        ("EP308", 3, 1, 1),  # skipRange is the empty string
        ("EP109", 0, 0, 0),  # one bundle name twice in a channel
        ("EP104", 0, 0, 0),  # default channel declared but nonexistent
        ("EP103", 0, 0, 0),  # default channel undeclared, several channels
    ],
)
def test_findings_of_a_rule_have_the_expected_count(
    report: Report, rule: str, findings: int, packages: int, channels: int
) -> None:
    found = [f for f in report.findings if f.rule == rule]
    places = {(f.package, f.channel) for f in found}
    assert (len(found), len({p for p, _ in places}), len(places)) == (findings, packages, channels)


@pytest.mark.parametrize("rule", ["EP202", "EP207"])
def test_several_heads_and_stranded_v1_are_the_same_four_channels(report: Report, rule: str) -> None:
    channels = {(f.package, f.channel) for f in report.findings if f.rule == rule}
    assert channels == {
        ("postgresql", "stable"),
        ("infinispan", "stable"),
        ("infinispan", "preview"),
        ("camel-k", "stable-1.8"),
    }


def test_opm_rejects_six_channels_of_five_packages(channels: list[ChannelGraph]) -> None:
    refused = {(g.package.name, g.name) for g in channels if not opm.validate_channel(g).is_valid}
    assert (len(refused), len({package for package, _ in refused})) == (6, 5)


def test_two_entries_that_replace_one_are_no_fork_if_one_replaces_the_other(
    channels: list[ChannelGraph],
) -> None:
    doubled = Counter(
        (g.package.name, g.name) for g in channels for r in g.replacers.values() for _ in combinations(r, 2)
    )
    assert (sum(doubled.values()), len({p for p, _ in doubled}), len(doubled)) == (27, 7, 8)


def test_default_channels_are_counted_by_package(report: Report) -> None:
    counts = Counter(f.rule for f in report.findings)
    assert (counts["EP112"], counts["EP113"], counts["EP114"]) == (85, 2, 36)


def test_names_that_do_not_end_in_their_version_are_37_in_14_packages(report: Report) -> None:
    found = [f for f in report.findings if f.rule == "EP410"]
    assert (len(found), len({f.package for f in found})) == (37, 14)


def test_misspelled_and_misplaced_ranges_are_31(report: Report) -> None:
    assert sum(f.rule == "EP431" for f in report.findings) == 7 + 5 + 18 + 1


def test_channels_stranded_by_opms_rule_are_stranded_under_v0_too(report: Report) -> None:
    """Newer releases skip entries on the paths of flink and grafana, so OLM v0 never installs those."""
    found = {(f.package, f.channel) for f in report.findings if f.rule == "EP206"}
    assert found == {("flink-kubernetes-operator", "alpha"), ("grafana-operator", "v5")}
