"""The edges of releases in a catalog: replaces, skips, skipRange."""

from __future__ import annotations

from dataclasses import replace

import pytest

from everpath.graph import PackageGraph
from everpath.model import Property
from everpath.releases.channel_edges import Edges, catalog_package, union_range
from everpath.releases.model import DeclaredEdges, Membership, Release, ReleasesFile, Variant
from everpath.resolvers import olm_v0, olm_v1
from everpath.upgrade_path.hops import hops_from
from tests.support.everpath.release_histories import drawn, source


def test_release_replaces_the_declared_version_in_every_channel() -> None:
    made = source("""
        - {version: 0.1.0, channels: [stable, candidate]}
        - {version: 0.2.0, channels: [stable, candidate], from: {replaces: 0.1.0}}
    """)
    assert drawn(made) == {"candidate": ["0.1.0", "0.2.0: 0.1.0"], "stable": ["0.1.0", "0.2.0: 0.1.0"]}


def test_channels_may_differ_in_what_is_replaced() -> None:
    made = source("""
        - {version: 0.1.0, channels: [stable, candidate]}
        - {version: 0.2.0, channels: [candidate], from: {replaces: 0.1.0}}
        - version: 0.3.0
          channels: {stable: {replaces: 0.1.0, range: ">=0.2.0 <0.3.0"}, candidate: }
          from: {replaces: 0.2.0}
    """)
    assert drawn(made)["stable"] == ["0.1.0", "0.3.0: 0.1.0 / - / >=0.2.0 <0.3.0"]
    assert drawn(made)["candidate"] == ["0.1.0", "0.2.0: 0.1.0", "0.3.0: 0.2.0"]


def test_a_version_means_the_release_and_any_other_name_itself() -> None:
    made = source("""
        - {version: 0.1.0, channels: [stable], name: old-name, from: {replaces: acme-beta.v7}}
        - {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0, skips: [old-name-2]}}
    """)
    entries = catalog_package(made).channels[0].entries
    assert [(e.replaces, e.skips) for e in entries] == [("acme-beta.v7", ()), ("old-name", ("old-name-2",))]


def test_an_empty_name_replaces_nothing() -> None:
    made = ReleasesFile("acme", "stable", (Release("0.1.0", (Membership("stable"),), DeclaredEdges("")),))
    assert catalog_package(made).channels[0].entries[0].replaces is None


def test_absorb_of_the_replaced_entry_continues_the_chain_below_it() -> None:
    assert Edges("b", ("a",)).absorb("b", Edges("a", ("x",))) == Edges("a", ("b", "x"))
    assert Edges().absorb("b", Edges("a")) == Edges("a", ("b",))


def test_absorb_of_another_entry_keeps_the_chain_and_skips_what_it_replaced() -> None:
    assert Edges("c", ("y",)).absorb("b", Edges("a", ("x",))) == Edges("c", ("y", "b", "x", "a"))
    assert Edges("c").absorb("b", Edges()) == Edges("c", ("b",))


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("<1.0.0 || >2.0.0", "<0.5.0", "<1.0.0 || >2.0.0"),
        ("<0.5.0", "<1.0.0 || >2.0.0", "<1.0.0 || >2.0.0"),
        ("1.x", ">=1.2.0 <1.3.0", "1.x"),
        (">=1.2.0 <1.3.0", "1.x", "1.x"),
        ("<1.0.0", ">2.0.0", "<1.0.0 || >2.0.0"),
        ("<1.0.0", ">=0.5.0 <2.0.0", "<2.0.0"),
        (">1.0.0 <=2.0.0", ">=1.5.0 <=3.0.0", ">1.0.0 <=3.0.0"),
        (">=1.0.0 <2.0.0", ">1.5.0", ">=1.0.0"),
    ],
)
def test_union_range_is_as_short_as_possible(one: str, other: str, both: str) -> None:
    assert union_range(one, other) == both


@pytest.mark.parametrize("bad", ["nonsense", ">=1.0.0 || || <0.5.0"])
def test_a_range_that_olm_cannot_read_spoils_no_other(bad: str) -> None:
    assert union_range("<1.0.0", bad) == "<1.0.0"
    assert union_range(bad, "<1.0.0") == "<1.0.0"
    assert union_range(bad, None) == bad


def test_z_stream_release_takes_over_its_stream() -> None:
    made = source("""
        - {version: 0.2.0, channels: [stable]}
        - {version: 0.3.0, channels: [stable], from: {replaces: 0.2.0}}
        - {version: 0.3.1, channels: [stable], from: {replaces: 0.3.0}}
        - {version: 0.3.2, channels: [stable], from: {zstream: true}}
    """)
    assert drawn(made)["stable"][-1] == "0.3.2: 0.2.0 / 0.3.1, 0.3.0 / >=0.3.0 <0.3.2"


def test_the_order_of_the_file_is_not_the_order_of_a_z_stream() -> None:
    made = source("""
        - {version: 0.2.0, channels: [stable]}
        - {version: 0.3.0, channels: [stable], from: {replaces: 0.2.0}}
        - {version: 0.2.1, channels: [stable], from: {replaces: 0.2.0}}
        - {version: 0.3.1, channels: [stable], from: {zstream: true}}
    """)
    assert drawn(made)["stable"][-1] == "0.3.1: 0.2.0 / 0.3.0 / >=0.3.0 <0.3.1"


def test_the_first_z_stream_release_of_a_stream_replaces_the_head_below() -> None:
    made = source("""
        - {version: 0.2.0, channels: [stable]}
        - {version: 0.3.4, channels: [stable], from: {zstream: true}}
    """)
    assert drawn(made)["stable"][-1] == "0.3.4: 0.2.0 / - / >=0.3.0 <0.3.4"


def test_the_first_z_stream_release_of_a_stream_passes_over_what_is_withdrawn_below() -> None:
    made = source("""
        - {version: 0.2.0, channels: [stable]}
        - {version: 0.2.1, channels: [stable], from: {replaces: 0.2.0}, withdrawn: true}
        - {version: 0.4.0, channels: [stable], from: {replaces: 0.2.1}}
        - {version: 0.3.1, channels: [stable], from: {zstream: true}}
    """)
    assert drawn(made)["stable"][-1] == "0.3.1: 0.2.0 / - / >=0.3.0 <0.3.1"


def test_a_z_stream_release_may_say_itself_what_it_replaces() -> None:
    made = source("""
        - {version: 0.1.0, channels: [stable]}
        - {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}}
        - {version: 0.3.4, channels: [stable], from: {zstream: true, replaces: 0.1.0}}
    """)
    assert drawn(made)["stable"][-1] == "0.3.4: 0.1.0 / - / >=0.3.0 <0.3.4"


def test_a_z_stream_covers_pre_releases_of_its_first_release_where_there_are_any() -> None:
    made = source("""
        - {version: 0.3.0-rc.1, channels: [candidate]}
        - {version: 0.3.1, channels: [stable, candidate], from: {zstream: true}}
    """)
    assert drawn(made)["stable"] == ["0.3.1: - / - / >=0.3.0-0 <0.3.1"]
    assert drawn(made)["candidate"][-1] == "0.3.1: - / 0.3.0-rc.1 / >=0.3.0-0 <0.3.1"


def test_a_z_stream_inherits_what_its_stream_skipped_and_covered() -> None:
    made = source("""
        - {version: 0.1.0, channels: [stable]}
        - {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}}
        - {version: 0.3.0, channels: [stable], from: {replaces: 0.1.0, skips: [0.2.0], range: "<0.1.0"}}
        - {version: 0.3.1, channels: [stable], from: {zstream: true}}
    """)
    assert drawn(made)["stable"][-1] == "0.3.1: 0.1.0 / 0.3.0, 0.2.0 / >=0.3.0 <0.3.1 || <0.1.0"


def test_ranges_that_meet_become_one() -> None:
    made = source("""
        - {version: 0.2.0, channels: [stable]}
        - {version: 0.3.0, channels: [stable], from: {replaces: 0.2.0, range: ">=0.1.0 <0.3.0"}}
        - {version: 0.3.1, channels: [stable], from: {zstream: true}}
        - {version: 0.3.2, channels: [stable], from: {zstream: true, range: "<1.0.0+b"}}
        - {version: 0.3.3, channels: [stable], from: {zstream: true, range: ">0.3.0"}}
    """)
    ranges = [line.rpartition(" / ")[2] for line in drawn(made)["stable"][2:]]
    assert ranges == [">=0.1.0 <0.3.1", "<1.0.0+b", ">=0.3.0 || <1.0.0+b"]


def test_z_stream_never_skips_entries_on_its_replaces_chain() -> None:
    made = source("""
        - {version: 0.2.3, channels: [stable]}
        - {version: 0.2.4, channels: [stable], from: {replaces: 0.2.3}}
        - {version: 0.3.0, channels: [stable], from: {replaces: 0.2.4}}
        - {version: 0.2.5, channels: [stable], from: {replaces: 0.2.4}}
        - {version: 0.3.1, channels: [stable], from: {replaces: 0.2.5, skips: [0.3.0]}}
        - {version: 0.3.2, channels: [stable], from: {zstream: true}}
    """)
    assert drawn(made)["stable"][-1] == "0.3.2: 0.2.5 / 0.3.1, 0.3.0 / >=0.3.0 <0.3.2"
    assert _ends(made) == {"acme.v0.3.2"}


def test_z_stream_skips_entries_of_its_stream_on_the_chain() -> None:
    made = source("""
        - {version: 0.3.0, channels: [stable]}
        - {version: 0.2.5, channels: [stable], from: {replaces: 0.3.0}}
        - {version: 0.3.1, channels: [stable], from: {replaces: 0.2.5}}
        - {version: 0.3.2, channels: [stable], from: {zstream: true}}
    """)
    assert drawn(made)["stable"][-1] == "0.3.2: 0.2.5 / 0.3.1, 0.3.0 / >=0.3.0 <0.3.2"


def test_z_stream_skips_chain_entries_that_its_stream_skipped() -> None:
    made = source("""
        - {version: 0.2.4, channels: [stable]}
        - {version: 0.2.5, channels: [stable], from: {replaces: 0.2.4}}
        - {version: 0.3.1, channels: [stable], from: {replaces: 0.2.5, skips: [0.2.4]}}
        - {version: 0.3.2, channels: [stable], from: {zstream: true}}
    """)
    assert drawn(made)["stable"][-1] == "0.3.2: 0.2.5 / 0.3.1, 0.2.4 / >=0.3.0 <0.3.2"


def test_a_z_stream_above_a_circle_comes_to_an_end() -> None:
    made = source("""
        - {version: 0.1.0, channels: [stable], from: {replaces: 0.2.0}}
        - {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}}
        - {version: 0.3.0, channels: [stable], from: {replaces: 0.2.0}}
        - {version: 0.3.1, channels: [stable], from: {zstream: true}}
    """)
    assert drawn(made)["stable"][-1] == "0.3.1: 0.2.0 / 0.3.0 / >=0.3.0 <0.3.1"


def test_the_release_after_a_withdrawn_one_takes_its_place() -> None:
    made = source("""
        - {version: 0.1.0, channels: [stable]}
        - {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}, withdrawn: it loses shards}
        - {version: 0.2.1, channels: [stable], from: {replaces: 0.2.0}}
    """)
    assert drawn(made)["stable"] == ["0.1.0", "0.2.0", "0.2.1: 0.1.0 / 0.2.0"]
    assert _ends(made) == {"acme.v0.2.1"}


def test_withdrawn_release_in_a_chain_gets_no_edge() -> None:
    made = source("""
        - {version: 0.1.0, channels: [stable]}
        - {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}, withdrawn: true}
        - {version: 0.3.0, channels: [stable], from: {replaces: 0.2.0}, withdrawn: true}
        - {version: 0.4.0, channels: [stable], from: {replaces: 0.3.0}}
        - {version: 0.5.0, channels: [stable], from: {replaces: 0.4.0}}
    """)
    assert drawn(made)["stable"][-2:] == ["0.4.0: 0.1.0 / 0.3.0, 0.2.0", "0.5.0: 0.4.0"]
    graph = PackageGraph(catalog_package(made)).channels[0]
    for hops in (olm_v0.next_hops(graph).next, olm_v1.next_hops(graph)):
        assert hops_from(hops, "acme.v0.1.0") == ("acme.v0.4.0", "acme.v0.5.0")
        assert hops_from(hops, "acme.v0.2.0") == ("acme.v0.4.0", "acme.v0.5.0")


def test_withdrawn_release_is_deprecated_with_its_reason() -> None:
    made = source("""
        - {version: 0.1.0, channels: [stable], withdrawn: it loses shards}
        - {version: 0.1.1, channels: [stable], from: {replaces: 0.1.0}, deprecated: use 0.2}
        - {version: 0.1.2, channels: [stable], from: {replaces: 0.1.1}, withdrawn: true}
        - {version: 0.1.3, channels: [stable], from: {replaces: 0.1.2}}
    """)
    deprecated = {
        name: entry.message
        for name, entry in catalog_package(made).deprecations_by_name("olm.bundle").items()
    }
    assert deprecated == {
        "acme.v0.1.0": "withdrawn: it loses shards",
        "acme.v0.1.1": "use 0.2",
        "acme.v0.1.2": "withdrawn",
    }


def test_packages_and_channels_may_be_deprecated() -> None:
    top = (
        "package: acme\ndefaultChannel: stable\ndeprecated: use other\n"
        "channels: [{name: stable, deprecated: use fast}, {name: gone, deprecated: x}]"
    )
    made = catalog_package(source("- {version: 0.1.0, channels: [stable]}", top))
    entries = [(e.schema, e.name, e.message) for d in made.deprecations for e in d.entries]
    assert entries == [("olm.package", "", "use other"), ("olm.channel", "stable", "use fast")]


def test_catalog_without_deprecations_has_no_document() -> None:
    top = (
        "package: acme\ndefaultChannel: stable\n"
        "channels: [{name: fast}, {name: gone, deprecated: x}, {name: stable, deprecated: use fast}]"
    )
    rows = "- {version: 0.1.0, channels: [stable, fast]}"
    assert catalog_package(source(rows)).deprecations == ()
    [deprecated] = catalog_package(source(rows, top)).deprecations
    assert [(e.schema, e.name, e.message) for e in deprecated.entries] == [
        ("olm.channel", "stable", "use fast")
    ]


def test_deprecation_has_the_place_of_its_key() -> None:
    top = "package: acme\ndefaultChannel: stable\ndeprecated: x\nchannels: [{name: stable, deprecated: x}]"
    made = source(
        """
        - {version: 0.1.0, channels: [stable], withdrawn: x, deprecated: old}
        - {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}, withdrawn: x}
        - {version: 0.3.0, channels: [stable], from: {replaces: 0.2.0}, deprecated: old}
        """,
        top,
    )
    first, second, third = (release.place for release in made.releases)
    [deprecated] = catalog_package(made).deprecations
    assert [entry.place for entry in deprecated.entries] == [
        made.place.at("deprecated"),
        made.channels[0].place,
        first.at("deprecated"),
        second.at("withdrawn"),
        third.at("deprecated"),
    ]
    assert [entry.message for entry in deprecated.entries[2:]] == ["old", "withdrawn: x", "old"]
    [deprecated] = catalog_package(made, Variant("x", ">=0.2.0")).deprecations
    assert [entry.name for entry in deprecated.entries[2:]] == ["acme.v0.2.0", "acme.v0.3.0"]


SEVERAL = """
    - {version: 0.1.0, channels: [stable]}
    - {version: 0.2.0, channels: [stable, fast], from: {replaces: 0.1.0}}
    - {version: 0.3.0, channels: [stable], from: {replaces: 0.2.0}}
    - {version: 0.4.0, channels: [stable], from: {replaces: 0.3.0}}
"""


def test_a_variant_has_the_releases_of_its_range_and_the_channels_it_names() -> None:
    made = source(SEVERAL)
    assert drawn(made, Variant("old", "<0.3.0")) == {
        "fast": ["0.2.0: 0.1.0"],
        "stable": ["0.1.0", "0.2.0: 0.1.0"],
    }
    assert drawn(made, Variant("fast", channels=("fast",))) == {"fast": ["0.2.0: 0.1.0"]}


def test_a_variant_without_the_default_channel_has_another() -> None:
    made = source(SEVERAL)
    assert catalog_package(made, Variant("x", channels=("fast",))).default_channel == "fast"
    assert catalog_package(made).default_channel == "stable"


def test_without_the_default_channel_it_is_the_last_by_name() -> None:
    made = source(SEVERAL, "package: acme\ndefaultChannel: stable")
    gone = replace(made, default_channel="gone")
    assert catalog_package(gone).default_channel == "stable"


def test_bundle_has_name_version_image_and_object_flag() -> None:
    rows = "- {version: 0.1.0, channels: [stable]}\n- {version: 0.2.0, channels: [stable], image: x@y}"
    made = source(rows)
    own, pulled = catalog_package(made).bundles
    assert own.properties == (
        Property("olm.package", {"packageName": "acme", "version": "0.1.0"}, made.releases[0].place),
    )
    assert (own.has_objects, own.place) == (True, made.releases[0].place)
    assert (pulled.has_objects, pulled.image) == (False, "x@y")


def test_the_default_channel_need_not_be_the_last_by_name() -> None:
    assert catalog_package(source(SEVERAL, "package: acme\ndefaultChannel: fast")).default_channel == "fast"


def test_a_variant_has_the_bundles_of_its_entries_and_no_other() -> None:
    made = catalog_package(source(SEVERAL), Variant("old", "<0.3.0"))
    assert [bundle.name for bundle in made.bundles] == ["acme.v0.1.0", "acme.v0.2.0"]


def test_channel_has_the_place_of_its_declaration_or_of_the_file() -> None:
    described = "package: acme\ndefaultChannel: stable\nchannels: [{name: next}, {name: fast}]"
    made = source(SEVERAL, described)
    places = {channel.name: channel.place for channel in catalog_package(made).channels}
    assert places == {"fast": made.channels[1].place, "stable": made.place}
    assert len({made.place, *(note.place for note in made.channels)}) == 3


def test_absent_release_in_a_chain_is_taken_over() -> None:
    made = source(SEVERAL)
    assert drawn(made, Variant("x", "!=0.2.0 !=0.3.0"))["stable"] == ["0.1.0", "0.4.0: 0.1.0 / 0.3.0, 0.2.0"]


def test_what_a_release_that_is_left_out_had_skipped_is_skipped_in_its_stead() -> None:
    made = source("""
        - {version: 0.1.2, channels: [stable]}
        - {version: 0.1.3, channels: [stable], from: {zstream: true}}
        - {version: 0.1.4, channels: [stable], from: {replaces: 0.1.3}}
    """)
    assert drawn(made, Variant("x", "!=0.1.3"))["stable"] == [
        "0.1.2",
        "0.1.4: - / 0.1.3, 0.1.2 / >=0.1.0 <0.1.3",
    ]


def test_a_catalog_that_begins_later_keeps_the_name_of_what_came_before() -> None:
    made = source(SEVERAL)
    assert drawn(made, Variant("x", ">=0.3.0"))["stable"] == ["0.3.0: 0.2.0", "0.4.0: 0.3.0"]


def test_absent_release_is_kept_if_taking_it_over_adds_no_entry() -> None:
    made = source("""
        - {version: 0.1.0, channels: [stable]}
        - {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}}
        - {version: 0.3.0, channels: [stable], from: {replaces: 0.2.0}}
        - {version: 0.4.0, channels: [stable], from: {replaces: 0.2.0, skips: [0.3.0]}}
    """)
    assert drawn(made, Variant("x", ">=0.3.0"))["stable"][-1] == "0.4.0: 0.2.0 / 0.3.0"


def test_a_channel_without_a_release_is_in_no_catalog() -> None:
    made = source(SEVERAL, "package: acme\ndefaultChannel: stable\nchannels: [{name: next}]")
    assert set(drawn(made)) == {"stable", "fast"}
    assert set(drawn(made, Variant("x", ">=0.3.0"))) == {"stable"}


def test_images_get_the_version_as_tag_by_default() -> None:
    top = "package: acme\ndefaultChannel: stable\nimage: quay.io/acme\nimages: {op: quay.io/op, db: 'db:5'}"
    made = source(
        "- {version: 0.1.0+b, channels: [stable]}\n- {version: 0.2.0, channels: [stable], image: x@y}", top
    )
    assert [b.image for b in catalog_package(made).bundles] == ["quay.io/acme:v0.1.0-b", "x@y"]
    assert made.operator_images(made.releases[1]) == {"op": "quay.io/op:v0.2.0", "db": "db:5"}


def test_a_circle_of_withdrawn_releases_comes_to_an_end() -> None:
    made = ReleasesFile("acme", "stable")
    circle = source("""
        - {version: 0.1.0, channels: [stable], from: {replaces: 0.2.0}, withdrawn: true}
        - {version: 0.2.0, channels: [fast], from: {replaces: 0.1.0}}
        - {version: 0.3.0, channels: [stable], from: {replaces: 0.1.0}}
    """)
    assert drawn(circle)["stable"][-1] == "0.3.0: 0.2.0 / 0.1.0"
    assert catalog_package(made).channels == ()
    within = source("""
        - {version: 0.1.0, channels: [stable], from: {replaces: 0.2.0}, withdrawn: true}
        - {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}, withdrawn: true}
        - {version: 0.3.0, channels: [stable], from: {replaces: 0.2.0}}
    """)
    assert drawn(within)["stable"][-1] == "0.3.0: 0.2.0 / 0.1.0"


def test_hundreds_of_patches_are_no_deeper_than_one() -> None:
    lines = "\n".join(
        f"- {{version: 0.1.{n}, channels: [stable], from: {{zstream: true}}}}" for n in range(600)
    )
    made = source(lines)
    for each in (made, replace(made, releases=made.releases[::-1])):
        head = catalog_package(each).channels[0].by_name["acme.v0.1.599"]
        assert (head.replaces, len(head.skips), head.skip_range) == (None, 599, ">=0.1.0 <0.1.599")


def _ends(made: ReleasesFile) -> set[str]:
    """Where all paths end, under OLM v0 and v1."""
    graph = PackageGraph(catalog_package(made)).channels[0]
    hops = (olm_v0.next_hops(graph).next, olm_v1.next_hops(graph))
    return {[name, *hops_from(each, name)][-1] for each in hops for name in graph.entries}
