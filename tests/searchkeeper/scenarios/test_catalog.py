"""S30: a release that is missing from a catalog is reported with the versions that it strands."""

from __future__ import annotations

from everpath.comparison import compare
from everpath.graph import PackageGraph
from everpath.loaders.catalog_loader import load
from everpath.model import Catalog
from everpath.resolvers import olm_v0, olm_v1
from everpath.upgrade_path.hops import hops_from
from tests.support.commandline import ROOT
from tests.support.everpath.comparisons import outcomes


def own_catalog() -> Catalog:
    return load(str(ROOT / "catalog")).catalog


def without_release(catalog: Catalog, name: str) -> Catalog:
    """The catalog without the entries and the bundle of a release."""
    [package] = catalog.packages
    channels = tuple(
        channel._replace(entries=tuple(entry for entry in channel.entries if entry.name != name))
        for channel in package.channels
    )
    bundles = tuple(bundle for bundle in package.bundles if bundle.name != name)
    return catalog._replace(packages=(package._replace(channels=channels, bundles=bundles),))


def stranded_versions(old: Catalog, new: Catalog) -> set[str]:
    """The installed versions whose upgrade path `compare` reports as worse."""
    return {row.installed for row in compare(old, new).rows if row.outcome.is_regression}


def versions_without_path_to_head(catalog: Catalog) -> set[str]:
    """The entries whose upgrade path, in OLM v0 or v1, does not end at the head of their channel."""
    [package] = catalog.packages
    return {
        name
        for graph in PackageGraph(package).channels
        for hops in (olm_v0.next_hops(graph).next, olm_v1.next_hops(graph))
        for name in graph.entries
        if [name, *hops_from(hops, name)][-1] != graph.head
    }


def test_compare_reports_versions_stranded_by_a_removed_release() -> None:
    """S30: the upgrade path of every older version leads through the removed release."""
    whole, rest = "c: b\nb: a\na", "c: b\na"
    assert outcomes(whole, rest, "v1") == {"a": "stranded", "b": "same", "c": "same"}
    assert set(outcomes(whole, rest, "v0").values()) == {"failing"}


def test_every_released_version_has_an_upgrade_path_to_the_channel_head() -> None:
    """S30: no release is missing from the catalog of searchkeeper."""
    assert not versions_without_path_to_head(own_catalog())


def test_compare_reports_every_version_stranded_by_removing_any_release() -> None:
    """S30: `compare` names every version whose upgrade path no longer ends at the head."""
    whole = own_catalog()
    [package] = whole.packages
    names = {entry.name for channel in package.channels for entry in channel.entries}
    stranded_by = {name: stranded_versions(whole, without_release(whole, name)) for name in sorted(names)}
    for name, stranded in stranded_by.items():
        assert versions_without_path_to_head(without_release(whole, name)) <= stranded, name
    assert any(stranded_by.values())
