"""Changes that are not about the path of one version: packages, channels, releases and properties."""

from __future__ import annotations

from everpath.comparison import ComparisonScope, compare
from everpath.comparison.matrix import compare_sequence
from everpath.loaders.notation import parse
from everpath.model import Catalog
from everpath.rules.findings import Severity
from tests.support.everpath.comparisons import changed, changes, comparison
from tests.support.everpath.documents import bundle, catalog, channel, package

CHAIN = "c: b\nb: a\na"
OPM_FIX = (
    "change the edges: one head, no cycle, and every other entry on the head's replaces chain or skipped"
)


def test_removed_channel_suggests_a_new_one() -> None:
    [change] = changes(f"[alpha]\n{CHAIN}", f"[stable]\n{CHAIN}", "channel-gone")
    assert "was it renamed to stable, which has 3 of its 3 entries?" in change.message
    assert change.reasons[0] == (
        "OLM v0 does not switch to stable; after a manual switch 3 of 3 versions would get updates"
    )
    assert change.fix is not None
    assert change.fix.startswith("keep the channel alpha beside stable")


def test_removed_channel_suggests_no_channel_that_existed_before() -> None:
    [change] = changes(f"[one]\n{CHAIN}\n[other]\nz", "[other]\nz", "channel-gone")
    assert "renamed" not in change.message


def test_removed_package_is_reported_once() -> None:
    old, new = parse(CHAIN, "my-op"), parse(CHAIN, "my-opp")
    comparison = compare(old, new)
    [gone, added] = comparison.changes
    assert gone.message == (
        "The package was removed: clusters on 3 versions in 1 channel get no updates, and resolution fails; "
        "was it renamed to my-opp? OLM does not follow a renamed package"
    )
    assert added.message == "The package is new, with 1 channel"
    assert comparison.regression_count == 6


def test_removed_entry_that_an_edge_names_is_reported() -> None:
    assert changed(CHAIN, "d: c\nc: b\nb: a", "vanished") == ["Removed from the package: a; b replaces a"]


def test_new_release_that_no_version_reaches_is_reported() -> None:
    new = "c: d / - / <3.0.0\nd@9.0.0: b\nb: a\na"
    [change] = changes("b: a\na", new, "unreachable-release")
    assert (change.installed, change.resolvers) == (("d",), ("v0",))
    assert change.message == "No cluster is upgraded to the new release d under OLM v0"


def test_new_release_that_strands_a_version_is_reported_once() -> None:
    assert changes("b: a\na", "c\nb: a\na", "failing")
    assert not changes("b: a\na", "c\nb: a\na", "unreachable-release")


def test_new_release_that_a_newer_one_skips_is_not_reported() -> None:
    new = "d: b / c / <4.0.0\nc: b / - / <3.0.0\nb: a\na"
    assert not changed("b: a\na", new, "unreachable-release")


def test_same_name_with_another_version_is_reported() -> None:
    assert changed("a@1.0.0", "a@1.0.1", "republished") == [
        "a was 1.0.0 and is now 1.0.1: clusters on a keep 1.0.0"
    ]


def test_channel_that_opm_now_rejects_is_reported() -> None:
    [change] = changes(CHAIN, f"d\n{CHAIN}", "rejected-by-opm")
    assert change.fix == OPM_FIX
    assert not changes(f"d\n{CHAIN}", f"d\n{CHAIN}", "rejected-by-opm")


def test_new_channel_that_opm_rejects_has_a_fix() -> None:
    [change] = changes("[x]\na", "[x]\na\n[y]\nb\na", "rejected-by-opm")
    assert (change.channel, change.fix) == ("y", OPM_FIX)


def test_new_channel_without_entries_has_a_fix() -> None:
    once = (package(), bundle(), channel("op.v1.0.0"))
    found = compare(catalog(*once), catalog(*once, channel(name="empty")))
    assert [change.fix for change in found.changes if change.kind.value == "rejected-by-opm"] == [
        "add an entry; to retire a channel, keep its entries and deprecate it in olm.deprecations"
    ]


def test_channel_that_is_now_declared_twice_has_a_fix() -> None:
    once = (package(), bundle(), channel("op.v1.0.0"))
    found = compare(catalog(*once), catalog(*once, channel("op.v1.0.0")))
    assert [change.fix for change in found.changes if change.kind.value == "rejected-by-opm"] == [
        "merge the documents of the channel"
    ]


def test_changed_default_channel_is_reported() -> None:
    old, new = "%default x\n[x]\na\n[y]\na", "%default y\n[x]\na\n[y]\na"
    assert changed(old, new, "default-channel") == ["The default channel is now y; it was x"]


def test_catalog_that_opm_rejects_is_compared() -> None:
    assert comparison("b\na", "c: b\nb: a\na", "v0").counts == {"fixed": 2}


def test_scope_limits_packages_and_channels() -> None:
    def both(drawing: str) -> Catalog:
        return Catalog("both", tuple(p for name in "pq" for p in parse(drawing, name).packages))

    scope = ComparisonScope(packages=frozenset("q"), channels=frozenset(("x",)))
    found = compare(both("[x]\na\n[y]\na"), both("[x]\na"), scope)
    assert {(row.package, row.channel) for row in found.rows} == {("q", "x")}
    assert not found.regression_count


def test_the_properties_are_counted() -> None:
    properties = comparison(CHAIN, "d: c\nc: a\na", "v0").properties
    assert (properties.found_in_old, properties.found_in_new) == ((3, 1), (3, 0))


STRAY = [package(), bundle("op.v1.0.0"), bundle("op.v1.1.0"), bundle("op.v1.2.0")]


def test_bundle_without_its_entry_is_rejected_by_opm_and_has_no_replacement() -> None:
    old = catalog(*STRAY, channel("op.v1.0.0", "op.v1.1.0", "op.v1.2.0"))
    new = catalog(*STRAY, channel("op.v1.1.0", "op.v1.2.0"))
    found = compare(old, new)
    [refused] = [change for change in found.changes if change.kind.value == "rejected-by-opm"]
    assert refused.message == "opm rejects the new catalog: op.v1.0.0 is in no channel"
    assert refused.fix == "remove the olm.bundle of op.v1.0.0, too, or add it to a channel"
    assert refused.installed == ("op.v1.0.0",)
    assert found.properties.found_in_new == (6, 2)
    assert not [c for c in compare(new, new).changes if c.kind.value == "rejected-by-opm"]


def test_bundle_in_no_channel_that_a_range_contains_has_a_replacement() -> None:
    head = {"name": "op.v1.2.0", "replaces": "op.v1.1.0", "skipRange": "<1.2.0"}
    stray = catalog(*STRAY, channel("op.v1.1.0", head))
    assert compare(stray, stray).properties.found_in_new == (6, 0)
    scope = ComparisonScope(channels=frozenset(("stable",)))
    assert compare(stray, stray, scope).properties.found_in_new == (4, 0)


def test_z_stream_release_should_be_upgraded_to_the_latest_in_one_hop() -> None:
    chain = "p.v1.0.2: p.v1.0.1\np.v1.0.1: p.v1.0.0\np.v1.0.0"
    assert comparison(chain, chain, "v0").properties.z_streams == (2, 1)
    ranged = "p.v1.0.2: p.v1.0.1 / - / <1.0.2\np.v1.0.1: p.v1.0.0\np.v1.0.0"
    assert comparison(chain, ranged, "v0").properties.z_streams == (2, 0)


def test_z_stream_release_may_be_upgraded_beyond_its_stream() -> None:
    old = "p.v1.0.1: p.v1.0.0\np.v1.0.0"
    new = "p.v1.1.0: p.v1.0.1 / - / <1.1.0\np.v1.0.1: p.v1.0.0\np.v1.0.0"
    assert comparison(old, new, "v0").properties.z_streams == (1, 0)


def test_new_release_without_a_replacement_is_reported() -> None:
    old, new = "e@3.0.0: a@2.0.0\na@2.0.0", "e@3.0.0: a / d\nd@2.5.0: - / c\nc@2.4.0\na@2.0.0"
    [change] = changes(old, new, "no-replacement")
    assert change.message == "Clusters on c get no further updates under OLM v0: nothing replaces it"
    assert change.severity is Severity.ERROR
    assert change.fix == "add c to the skips of e"
    assert comparison(old, new).errors == 1


def test_new_release_that_no_edit_of_the_head_updates_has_advice() -> None:
    [change] = changes("b@1.0.0", "c@2.0.0: c\nb@1.0.0", "no-replacement")
    assert change.fix == "let a higher version with an upgrade path to the head replace or skip c"
    assert change.fix_entries == ()


def test_release_without_a_replacement_before_is_not_reported() -> None:
    channel = "e@3.0.0: a / d\nd@2.5.0: - / c\nc@2.4.0\na@2.0.0"
    assert not changes(channel, f"f@4.0.0: e\n{channel}", "no-replacement")


def test_removed_empty_channel_is_a_note() -> None:
    [package] = parse("[one]\na\n[two]\nb").packages
    [one, two] = package.channels
    old = Catalog("old", (package._replace(channels=(one, two._replace(entries=()))),))
    found = compare(old, Catalog("new", (package._replace(channels=(one,)),)))
    assert [(c.severity, c.message) for c in found.changes if c.kind.value == "channel-gone"] == [
        (Severity.NOTE, "The channel was removed; it had no entries")
    ]
    assert (found.errors, found.regression_count) == (0, 0)


def test_emptied_channel_is_reported() -> None:
    old = parse("b: a\na")
    [package] = old.packages
    [channel] = package.channels
    emptied = package._replace(channels=(channel._replace(entries=()),))
    found = compare(old, Catalog("new", (emptied,)))
    [change] = [c for c in found.changes if c.severity is Severity.ERROR]
    assert change.message == (
        "The channel is empty: clusters that use it on any of 2 versions get no updates, and resolution fails"
    )
    assert (change.fix, change.place) == (f"restore b and a in {channel.name}", channel.place)
    [update] = compare_sequence([old, Catalog("new", (emptied,))]).updates
    assert [c.message for c in update.changes] == [change.message]


def test_stranded_version_that_loses_a_hop_is_reported() -> None:
    [change] = changes("d: c\nc\nb: a\na", "d: c\nc\nb\na", "further-behind", "v1")
    assert change.severity is Severity.WARNING
    assert (
        change.message
        == "Clusters on a could not reach the head before, and now stop at a lower version under OLM v1"
    )
    assert (change.old_path, change.new_path) == ("a → b (no further update)", "a (no further update)")


def test_release_without_a_replacement_beside_several_heads_has_reason_and_fix() -> None:
    [change] = changes("d\na", "d\nb\na", "no-replacement")
    assert change.installed == ("b",)
    assert change.reasons == ("nothing in the new channel replaces b, skips it or covers 2.0.0",)
    assert change.fix == "add b to the skips of d"
