"""S30: a release that is missing from a catalog strands nobody without a word."""

from __future__ import annotations

from commandline import ROOT
from comparisons import outcomes
from everpath.compare import compare
from everpath.formats.reading import read
from everpath.graph import PackageGraph
from everpath.model import Catalog
from everpath.policies import olm_v0, olm_v1
from everpath.policies.walks import walk


def ours() -> Catalog:
    return read(str(ROOT / "catalog")).catalog


def without(catalog: Catalog, name: str) -> Catalog:
    """The catalog as if this release had been forgotten: no entry in any channel, and no bundle."""
    [package] = catalog.packages
    channels = tuple(
        channel._replace(entries=tuple(each for each in channel.entries if each.name != name))
        for channel in package.channels
    )
    bundles = tuple(each for each in package.bundles if each.name != name)
    return catalog._replace(packages=(package._replace(channels=channels, bundles=bundles),))


def cut_off(old: Catalog, new: Catalog) -> set[str]:
    """Whoever could go on before and cannot any more, by what they have installed."""
    return {row.installed for row in compare(old, new).rows if row.outcome.hurts}


def ends_elsewhere(catalog: Catalog) -> set[str]:
    """The releases from which OLM of either generation does not come to the head of their channel."""
    [package] = catalog.packages
    return {
        name
        for graph in PackageGraph(package).channels
        for hops in (olm_v0.hops(graph).next, olm_v1.hops(graph))
        for name in graph.entries
        if [name, *walk(hops, name)][-1] != graph.head
    }


def test_compare_reports_versions_stranded_by_a_removed_release() -> None:
    """S30: the road over it is gone for those before it, and found to be so before anybody ships it."""
    whole, rest = "c: b\nb: a\na", "c: b\na"
    assert outcomes(whole, rest, "v1") == {"a": "stranded", "b": "same", "c": "same"}
    assert set(outcomes(whole, rest, "v0").values()) == {"failing"}


def test_every_released_version_has_an_upgrade_path_to_the_channel_head() -> None:
    """S30: none was lost from our own catalog."""
    assert not ends_elsewhere(ours())


def test_compare_reports_every_version_stranded_by_removing_any_release() -> None:
    """S30: whoever is left without a road in what remains is somebody that the comparison names."""
    whole = ours()
    [package] = whole.packages
    names = {each.name for channel in package.channels for each in channel.entries}
    hurt = {name: cut_off(whole, without(whole, name)) for name in sorted(names)}
    for name, stranded in hurt.items():
        assert ends_elsewhere(without(whole, name)) <= stranded, name
    assert any(hurt.values())
