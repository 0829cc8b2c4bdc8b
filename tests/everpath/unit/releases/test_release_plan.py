"""Plans of new, promoted and withdrawn releases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from everpath.errors import UsageError
from everpath.releases.model import ChannelDeclaration, DeclaredEdges, Membership, Release, ReleasesFile
from everpath.releases.release_plan import (
    AddRelease,
    ReleaseRequest,
    ReleasesEdit,
    SetChannels,
    SetField,
    SetPins,
    apply_edits,
    plan_release,
)
from tests.support.everpath.release_histories import drawn, source

LINE = """
    - {version: 0.1.0, channels: [stable, candidate]}
    - {version: 0.2.0, channels: [stable, candidate], from: {replaces: 0.1.0}}
    - {version: 0.3.0, channels: [candidate], from: {replaces: 0.2.0}}
"""


def test_a_release_replaces_the_head_in_the_channels_of_the_one_before_it() -> None:
    made = plan_release(source(LINE), ReleaseRequest("0.3.1")).source.releases[-1]
    assert made == Release("0.3.1", (Membership("candidate"),), DeclaredEdges("0.3.0"))


def test_where_heads_differ_each_channel_has_its_own_from() -> None:
    made = plan_release(source(LINE), ReleaseRequest("0.4.0", ("stable", "candidate"))).source.releases[-1]
    assert made.channels == (
        Membership("stable", DeclaredEdges("0.2.0")),
        Membership("candidate", DeclaredEdges("0.3.0")),
    )


def test_the_first_release_goes_into_the_default_channel_and_replaces_nothing() -> None:
    made = plan_release(ReleasesFile("acme", "stable"), ReleaseRequest("0.1.0")).source.releases[-1]
    assert made == Release("0.1.0", (Membership("stable"),))


def test_a_new_channel_takes_over_from_what_the_package_has() -> None:
    known = source(LINE, "package: acme\ndefaultChannel: stable\nchannels: [{name: fast}]")
    made = plan_release(known, ReleaseRequest("0.4.0", ("fast",))).source.releases[-1]
    assert made.edges == DeclaredEdges("0.3.0")


def test_a_release_with_a_name_of_its_own_is_replaced_by_version() -> None:
    known = source("- {version: 0.1.0, channels: [stable], name: acme-operator-0.1}")
    after = plan_release(known, ReleaseRequest("0.2.0")).source
    assert after.releases[-1].edges == DeclaredEdges("0.1.0")
    assert drawn(after)["stable"] == ["acme-operator-0.1", "0.2.0: acme-operator-0.1"]


def test_withdrawing_the_head_writes_down_what_takes_its_place() -> None:
    done = plan_release(source(LINE), ReleaseRequest("0.3.1", withdraw=("0.3.0",), reason="it loses shards"))
    assert done.edits[0] == SetField(2, "withdrawn", "it loses shards")
    assert done.source.releases[-1].edges == DeclaredEdges("0.2.0", ("0.3.0",))
    assert drawn(done.source)["candidate"][-1] == "0.3.1: 0.2.0 / 0.3.0"


def test_withdrawing_without_a_reason_is_a_bare_true() -> None:
    done = plan_release(source(LINE), ReleaseRequest("0.3.1", withdraw=("0.3.0",)))
    assert done.edits[0] == SetField(2, "withdrawn", value=True)
    assert done.source.releases[2].withdrawn == ""


def test_what_is_withdrawn_is_skipped_also_by_edges_that_are_stated() -> None:
    done = plan_release(source(LINE), ReleaseRequest("0.3.1", replaces="0.2.0", withdraw=("0.3.0",)))
    assert done.source.releases[-1].edges == DeclaredEdges("0.2.0", ("0.3.0",))


def test_withdrawn_release_in_a_chain_is_taken_over() -> None:
    known = source(LINE.replace("[stable, candidate], from", "[candidate], from"))
    done = plan_release(known, ReleaseRequest("0.3.1", withdraw=("0.2.0",)))
    assert drawn(done.source)["candidate"] == [
        "0.1.0",
        "0.2.0",
        "0.3.0: 0.1.0 / 0.2.0",
        "0.3.1: 0.3.0",
    ]


def test_a_z_stream_is_written_as_such() -> None:
    made = plan_release(source(LINE), ReleaseRequest("0.3.1", zstream=True)).source.releases[-1]
    assert made.edges == DeclaredEdges(zstream=True)


def test_earlier_bundles_are_frozen_and_those_that_are_stay_as_they_are() -> None:
    frozen = "sha256:" + "a" * 64
    known = source(
        f"- {{version: 0.1.0, channels: [stable], bundle: '{frozen}'}}\n- {{version: 0.2.0, channels: []}}"
    )
    digests = {"acme.v0.1.0": "sha256:" + "b" * 64, "acme.v0.2.0": "sha256:" + "c" * 64}
    after = plan_release(known, ReleaseRequest("0.3.0", ("stable",)), digests).source
    assert [release.bundle for release in after.releases] == [frozen, digests["acme.v0.2.0"], None]


@pytest.mark.parametrize(
    ("release_request", "message", "hint"),
    [
        (ReleaseRequest("0.2.0"), "acme 0.2.0 is already released", "release a higher version"),
        (
            ReleaseRequest("0.3.0+5"),
            "acme 0.3.0 is already released, and OLM ignores build metadata",
            "higher version",
        ),
        (ReleaseRequest("0.4"), "'0.4' is not a version", "three numbers"),
        (ReleaseRequest("v0.4.0"), "'v0.4.0' is not a version", "three numbers"),
        (
            ReleaseRequest("0.2.5", ("candidate",)),
            "0.2.5 is lower than 0.3.0, the head of the channel 'candidate'",
            "above 0.3.0",
        ),
        (ReleaseRequest("0.4.0", ("stabel",)), "no channel 'stabel'", "did you mean 'stable'?"),
        (ReleaseRequest("0.4.0", ("next",)), "no channel 'next'", "`channels: [{name: next}]`"),
        (
            ReleaseRequest("0.4.0", zstream=True, withdraw=("0.3.0",)),
            "clusters on 0.3.0 would get no update: a z-stream of 0.4 does not replace 0.3",
            "leave out --zstream, so that 0.4.0 replaces it; or first release a version of 0.3",
        ),
        (
            ReleaseRequest("0.2.0", ("stable",)),
            "acme 0.2.0 is already released",
            "--channel NAME adds this one to another",
        ),
        (
            ReleaseRequest("0.3.0", ("stable",), min_kube_version="1.29.0"),
            "0.3.0 is already released and can only be added to channels",
            "leave out the other options",
        ),
        (ReleaseRequest("0.4.0", replaces="0.9.0"), "0.9.0: no such release", "did you mean 0."),
        (
            ReleaseRequest("0.4.0", skips=("acme.v7",)),
            "acme.v7: no such release",
            "did you mean acme.v0.",
        ),
        (
            ReleaseRequest("0.4.0", withdraw=("7.7.7",)),
            "--withdraw 7.7.7: no such release",
            "releases: 0.1.0, 0.2.0",
        ),
        (
            ReleaseRequest("0.4.0", replaces="0.3.0", skips=("acme.v0.3.0",)),
            "cannot be replaced and skipped",
            "--replaces 0.3.0",
        ),
    ],
)
def test_impossible_request_has_a_hint(release_request: ReleaseRequest, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        plan_release(source(LINE), release_request)
    assert message in raised.value.message
    assert hint in (raised.value.hint or "")


def test_z_stream_can_withdraw_a_release_in_the_chain() -> None:
    known = source(LINE.replace("[stable, candidate], from", "[candidate], from"))
    done = plan_release(known, ReleaseRequest("0.3.1", zstream=True, withdraw=("0.2.0",)))
    assert drawn(done.source)["candidate"][-1] == "0.3.1: 0.1.0 / 0.3.0, 0.2.0 / >=0.3.0 <0.3.1"


def test_hint_adds_a_channel_to_the_declared_ones() -> None:
    known = replace(source(LINE), channels=(ChannelDeclaration("old"),))
    with pytest.raises(UsageError) as raised:
        plan_release(known, ReleaseRequest("0.4.0", ("next",)))
    assert raised.value.hint == "To create a channel, add `- name: next` to `channels:` in the file."


class TestPromotion:
    """A release that is out is given one more channel: nothing else of it changes."""

    def test_it_goes_on_top_of_the_channel(self) -> None:
        done = plan_release(source(LINE), ReleaseRequest("0.3.0", ("stable",)))
        assert [r.version for r in done.source.releases] == ["0.1.0", "0.2.0", "0.3.0"]
        assert "0.3.0: 0.2.0" in drawn(done.source)["stable"]
        assert [m.edges for m in done.source.releases[-1].channels] == [None, None]

    def test_where_the_channel_is_further_behind_it_has_edges_of_its_own(self) -> None:
        known = source(
            """
            - {version: 0.1.0, channels: [stable, candidate]}
            - {version: 0.2.0, channels: [candidate], from: {replaces: 0.1.0}}
            - {version: 0.3.0, channels: [candidate], from: {replaces: 0.2.0}}
            """
        )
        done = plan_release(known, ReleaseRequest("0.3.0", ("candidate", "stable")))
        assert drawn(done.source)["stable"] == ["0.1.0", "0.3.0: 0.1.0"]
        assert drawn(done.source)["candidate"][-1] == "0.3.0: 0.2.0"

    def test_it_is_not_sent_below_the_head(self) -> None:
        known = source(
            """
            - {version: 0.1.0, channels: [stable, candidate]}
            - {version: 0.2.0, channels: [candidate], from: {replaces: 0.1.0}}
            - {version: 0.3.0, channels: [stable], from: {replaces: 0.1.0}}
            """
        )
        with pytest.raises(UsageError, match=r"0\.2\.0 is lower than 0\.3\.0"):
            plan_release(known, ReleaseRequest("0.2.0", ("stable",)))

    def test_not_what_is_withdrawn(self) -> None:
        known = plan_release(source(LINE), ReleaseRequest("0.3.1", withdraw=("0.3.0",))).source
        with pytest.raises(UsageError, match="can only be added to channels"):
            plan_release(known, ReleaseRequest("0.3.0", ("stable",)))


def test_a_release_cannot_be_withdrawn_twice() -> None:
    known = plan_release(source(LINE), ReleaseRequest("0.3.1", withdraw=("0.3.0",))).source
    with pytest.raises(UsageError, match="already withdrawn"):
        plan_release(known, ReleaseRequest("0.3.2", withdraw=("0.3.0",)))


def test_channel_with_two_heads_needs_explicit_edges() -> None:
    known = source("- {version: 0.1.0, channels: [stable]}\n- {version: 0.2.0, channels: [stable]}")
    with pytest.raises(UsageError, match=r"has 2 heads: 0\.1\.0, 0\.2\.0") as raised:
        plan_release(known, ReleaseRequest("0.3.0"))
    assert raised.value.hint == "choose the edges: --replaces 0.2.0 --skips 0.1.0"
    after = plan_release(known, ReleaseRequest("0.3.0", replaces="0.2.0", skips=("0.1.0",))).source
    assert drawn(after)["stable"][-1] == "0.3.0: 0.2.0 / 0.1.0"


def test_channels_that_are_described_may_be_given_their_first_release() -> None:
    known = ReleasesFile("acme", "stable", channels=(ChannelDeclaration("fast"),))
    assert plan_release(known, ReleaseRequest("0.1.0", ("fast", "stable", "fast"))).source.channel_names == (
        "fast",
        "stable",
    )
    with pytest.raises(UsageError, match="no release is in the default channel 'stable'"):
        plan_release(known, ReleaseRequest("0.1.0", ("fast",)))


def test_release_may_have_only_a_range() -> None:
    made = plan_release(source(LINE), ReleaseRequest("0.4.0", skip_range=">=0.1.0 <0.4.0")).source.releases[
        -1
    ]
    assert made.edges == DeclaredEdges(skip_range=">=0.1.0 <0.4.0")


def test_stated_edges_may_be_those_of_a_z_stream() -> None:
    made = plan_release(
        source(LINE), ReleaseRequest("0.4.0", replaces="0.3.0", zstream=True)
    ).source.releases[-1]
    assert made.edges == DeclaredEdges("0.3.0", zstream=True)


def test_what_is_replaced_or_skipped_already_is_not_skipped_again_when_it_is_withdrawn() -> None:
    made = plan_release(
        source(LINE), ReleaseRequest("0.3.1", replaces="0.3.0", withdraw=("acme.v0.3.0",))
    ).source.releases[-1]
    assert made.edges == DeclaredEdges("0.3.0")
    release_request = ReleaseRequest("0.3.1", replaces="0.2.0", skips=("0.3.0", "0.3.0"), withdraw=("0.3.0",))
    assert plan_release(source(LINE), release_request).source.releases[-1].edges == DeclaredEdges(
        "0.2.0", ("0.3.0",)
    )
    only = ReleaseRequest("0.3.1", skips=("0.3.0", "acme.v0.3.0"))
    assert plan_release(source(LINE), only).source.releases[-1].edges == DeclaredEdges(
        None, ("0.3.0", "acme.v0.3.0")
    )


def test_the_file_of_digests_is_written_down_unless_it_is_there_already() -> None:
    done = plan_release(source(LINE), ReleaseRequest("0.4.0", pins="pins.txt"))
    assert done.source.pins == "pins.txt"
    assert SetPins("pins.txt") in done.edits
    again = plan_release(done.source, ReleaseRequest("0.5.0", pins="pins.txt"))
    assert [type(edit) for edit in again.edits] == [AddRelease]
    assert plan_release(done.source, ReleaseRequest("0.5.0")).source.pins == "pins.txt"


def test_edits_are_applied_each_to_its_own_release() -> None:
    known, frozen = source(LINE), "sha256:" + "a" * 64
    edits: list[ReleasesEdit] = [
        SetField(0, "bundle", frozen),
        SetField(1, "withdrawn", value=True),
        SetField(2, "withdrawn", "bad"),
        SetChannels(2, (Membership("fast"),)),
        AddRelease(Release("0.4.0")),
    ]
    first, second, third, fourth = apply_edits(known, edits).releases
    assert first == replace(known.releases[0], bundle=frozen)
    assert second == replace(known.releases[1], withdrawn="")
    assert third == replace(known.releases[2], withdrawn="bad", channels=(Membership("fast"),))
    assert fourth == Release("0.4.0")


def test_withdrawn_head_needs_a_successor_in_every_channel() -> None:
    with pytest.raises(UsageError, match=r"\'stable\' would still get 0\.2\.0") as raised:
        plan_release(source(LINE), ReleaseRequest("0.3.1", ("candidate",), withdraw=("0.2.0",)))
    assert (raised.value.hint or "").endswith("--channel candidate,stable")
    done = plan_release(source(LINE), ReleaseRequest("0.3.1", ("candidate", "stable"), withdraw=("0.2.0",)))
    assert done.source.releases[1].withdrawn == ""


def test_a_z_stream_may_withdraw_the_head_of_its_own_stream() -> None:
    done = plan_release(source(LINE), ReleaseRequest("0.3.1", zstream=True, withdraw=("0.3.0",)))
    assert drawn(done.source)["candidate"][-1] == "0.3.1: 0.2.0 / 0.3.0 / >=0.3.0 <0.3.1"


def test_existing_release_can_only_be_added_to_channels() -> None:
    with pytest.raises(UsageError, match="can only be added to channels") as raised:
        plan_release(source(LINE), ReleaseRequest("0.3.0", ("stable",), withdraw=("0.3.0",)))
    assert raised.value.hint == "leave out the other options"
    known = plan_release(source(LINE), ReleaseRequest("0.3.1", withdraw=("0.3.0",))).source
    with pytest.raises(UsageError) as raised:
        plan_release(known, ReleaseRequest("0.3.0", ("stable",)))
    assert raised.value.hint == "release a higher version"


def test_every_error_has_a_hint() -> None:
    known = plan_release(source(LINE), ReleaseRequest("0.3.1", withdraw=("0.3.0",))).source
    with pytest.raises(UsageError) as raised:
        plan_release(known, ReleaseRequest("0.3.2", withdraw=("0.3.0",)))
    assert raised.value.hint == "leave out --withdraw"
    with pytest.raises(UsageError) as raised:
        plan_release(ReleasesFile("acme", "stable"), ReleaseRequest("0.1.0", withdraw=("x",)))
    assert raised.value.message == "--withdraw x: no such release"
    assert (raised.value.hint or "").startswith("releases: none")


def test_only_bundles_that_are_released_are_frozen() -> None:
    digest = "sha256:" + "b" * 64
    done = plan_release(source(LINE), ReleaseRequest("0.4.0"), {"acme.v0.2.0": digest})
    assert done.edits[0] == SetField(1, "bundle", digest)
    assert [release.bundle for release in done.source.releases] == [None, digest, None, None]


def test_a_release_in_no_channel_decides_nothing() -> None:
    known = source(LINE + "    - {version: 0.3.5, channels: []}\n")
    made = plan_release(known, ReleaseRequest("0.4.0")).source.releases[-1]
    assert made == Release("0.4.0", (Membership("candidate"),), DeclaredEdges("0.3.0"))


def test_the_release_before_is_the_highest_below_and_not_the_last_in_the_file() -> None:
    known = source("""
        - {version: 0.5.0, channels: [fast]}
        - {version: 0.2.0, channels: [stable]}
        - {version: 0.1.0, channels: [candidate]}
    """)
    assert plan_release(known, ReleaseRequest("0.3.0")).source.releases[-1].channels == (
        Membership("stable"),
    )


def test_withdrawing_the_only_release_leaves_nothing_to_replace() -> None:
    known = source("- {version: 0.1.0, channels: [stable], from: {range: '<0.1.0'}}")
    made = plan_release(known, ReleaseRequest("0.1.1", withdraw=("0.1.0",))).source.releases[-1]
    assert made.edges == DeclaredEdges(None, ("0.1.0",), "<0.1.0")


def test_head_with_ambiguous_version_is_replaced_by_name() -> None:
    known = source("""
        - {version: 0.1.0, channels: [fast], name: a}
        - {version: 0.1.0, channels: [stable], name: b}
    """)
    assert plan_release(known, ReleaseRequest("0.2.0", ("stable",))).source.releases[
        -1
    ].edges == DeclaredEdges("b")


def test_the_lowest_version_of_kubernetes_is_written_down() -> None:
    made = plan_release(source(LINE), ReleaseRequest("0.4.0", min_kube_version="1.29.0")).source.releases[-1]
    assert made.min_kube_version == "1.29.0"
    assert (
        plan_release(source(LINE), ReleaseRequest("0.4.0", min_kube_version=""))
        .source.releases[-1]
        .min_kube_version
        is None
    )


def test_plan_that_makes_the_file_invalid_is_refused_with_the_first_fix() -> None:
    known = ReleasesFile("acme", "stable", channels=(ChannelDeclaration("fast"), ChannelDeclaration("fast")))
    with pytest.raises(UsageError) as raised:
        plan_release(known, ReleaseRequest("0.1.0", ("fast",)))
    assert raised.value.message == (
        "no release is in the default channel 'stable'\nthe channel 'fast' is declared twice"
    )
    assert raised.value.hint == "known: fast"
    twice = Release("0.1.0", (Membership("stable"), Membership("stable")))
    with pytest.raises(UsageError, match="is listed twice") as raised:
        plan_release(ReleasesFile("acme", "stable", (twice,)), ReleaseRequest("0.2.0", ("stable",)))
    assert raised.value.hint == "keep one of them"


def test_each_head_that_a_z_stream_withdraws_must_be_of_its_stream() -> None:
    with pytest.raises(UsageError, match=r"does not replace 0\.3"):
        plan_release(source(LINE), ReleaseRequest("0.4.0", zstream=True, withdraw=("0.1.0", "0.3.0")))


def test_existing_version_is_reported_as_written() -> None:
    with pytest.raises(UsageError) as raised:
        plan_release(source(LINE), ReleaseRequest("0.2.0"))
    assert raised.value.message == "acme 0.2.0 is already released"
    with pytest.raises(UsageError, match=r"0\.3\.0 is already released, and OLM ignores build metadata"):
        plan_release(source(LINE), ReleaseRequest("0.3.0+5", ("stable",)))


def test_several_releases_may_be_withdrawn_at_once() -> None:
    done = plan_release(
        source(LINE), ReleaseRequest("0.3.1", ("candidate", "stable"), withdraw=("0.2.0", "0.3.0"))
    )
    assert [release.withdrawn for release in done.source.releases] == [None, "", "", None]


def test_unknown_channel_is_refused() -> None:
    with pytest.raises(UsageError, match="no channel 'next'"):
        plan_release(source(LINE), ReleaseRequest("0.4.0", ("stable", "next")))


def test_what_is_out_takes_over_in_a_new_channel_from_the_release_below_it() -> None:
    known = source(LINE, "package: acme\ndefaultChannel: stable\nchannels: [{name: fast}]")
    assert drawn(plan_release(known, ReleaseRequest("0.3.0", ("fast",))).source)["fast"] == ["0.3.0: 0.2.0"]


def test_a_release_is_above_every_head() -> None:
    known = source("- {version: 0.1.0, channels: [stable]}\n- {version: 0.5.0, channels: [stable]}")
    with pytest.raises(UsageError, match=r"0\.3\.0 is lower than 0\.5\.0"):
        plan_release(known, ReleaseRequest("0.3.0", ("stable",), replaces="0.1.0"))


def test_version_below_the_head_has_a_hint_about_new_channels() -> None:
    with pytest.raises(UsageError) as caught:
        plan_release(source(LINE), ReleaseRequest("0.2.5", ("candidate",)))
    assert (caught.value.hint or "").endswith(
        "To create a channel, add this line to the file: `channels: [{name: NAME}]`"
    )


def test_edge_to_unknown_release_is_reported_with_its_options() -> None:
    with pytest.raises(UsageError) as caught:
        plan_release(source(LINE), ReleaseRequest("0.4.0", replaces="0.9.9"))
    assert caught.value.message == "--replaces/--skips 0.9.9: no such release"


def test_of_several_heads_the_last_is_to_be_replaced_and_the_first_skipped() -> None:
    heads = "\n".join(f"- {{version: 0.{n}.0, channels: [stable]}}" for n in (1, 2, 3))
    with pytest.raises(UsageError) as caught:
        plan_release(source(heads), ReleaseRequest("0.4.0"))
    versions = caught.value.message.rpartition(": ")[2].split(", ")
    assert caught.value.hint == f"choose the edges: --replaces {versions[-1]} --skips {versions[0]}"


def test_what_takes_the_place_of_a_release_keeps_its_edge_to_one_from_elsewhere() -> None:
    known = source("- {version: 0.1.0, channels: [stable], from: {replaces: acme.v0.0.9}}")
    done = plan_release(known, ReleaseRequest("0.2.0", withdraw=("0.1.0",)))
    assert done.source.releases[-1].edges == DeclaredEdges("acme.v0.0.9", ("0.1.0",))
