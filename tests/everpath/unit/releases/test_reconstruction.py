"""Reconstruction of releases.yaml from the channels of a catalog."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.errors import UsageError
from everpath.model import Package
from everpath.releases.model import (
    BundleMetadata,
    ChannelDeclaration,
    DeclaredEdges,
    Membership,
    Release,
    ReleasesFile,
)
from everpath.releases.reconstruction import reconstruct_releases
from tests.support.everpath.documents import Document, bundle, catalog, channel, deprecations
from tests.support.everpath.documents import package as declared


def _package(*documents: Document) -> Package:
    return catalog(*documents).by_name["op"]


def _back(*documents: Document) -> ReleasesFile:
    return reconstruct_releases(_package(*documents))


def _refused(*documents: Document) -> UsageError:
    with pytest.raises(UsageError) as caught:
        _back(*documents)
    return caught.value


ONE, TWO = (bundle(f"op.v{n}.0.0", image=f"quay.io/op:v{n}.0.0") for n in (1, 2))


def test_each_bundle_is_a_release_that_is_published_already_in_order_of_version() -> None:
    made = _back(declared(), channel("op.v1.0.0", "op.v2.0.0"), TWO, ONE)
    assert made == ReleasesFile(
        "op",
        "stable",
        (
            Release("1.0.0", (Membership("stable"),), bundle="published"),
            Release("2.0.0", (Membership("stable"),), DeclaredEdges("1.0.0"), bundle="published"),
        ),
        image="quay.io/op",
    )


def test_edges_are_written_once_where_channels_agree_and_apart_where_they_differ() -> None:
    two = {"name": "op.v2.0.0", "replaces": "op.v1.0.0", "skipRange": "<2.0.0"}
    fast = channel({**two, "skips": ["op.v1.0.0", "x", "op.v1.0.0"]}, name="fast")
    same = _back(declared(), channel(two, "op.v1.0.0"), channel(two, name="a"), ONE, TWO).releases[1]
    assert same.channels == (Membership("stable"), Membership("a"))
    assert same.edges == DeclaredEdges("1.0.0", (), "<2.0.0")
    apart = _back(declared(), fast, channel(two, {"name": "op.v1.0.0"}), ONE, TWO).releases[1]
    assert apart.channels == (
        Membership("stable", DeclaredEdges("1.0.0", (), "<2.0.0")),
        Membership("fast", DeclaredEdges("1.0.0", ("1.0.0", "x"), "<2.0.0")),
    )
    assert apart.edges == DeclaredEdges()


def test_empty_texts_are_no_edges() -> None:
    entry = {"name": "op.v1.0.0", "replaces": "", "skips": ["", "x"], "skipRange": ""}
    assert _back(declared(), channel(entry), ONE).releases[0].edges == DeclaredEdges(None, ("x",))


def test_the_default_channel_comes_first_and_the_others_by_name() -> None:
    names = ("z", "stable", "b")
    made = _back(declared(), *(channel("op.v1.0.0", name=name) for name in names), ONE)
    assert [m.channel for m in made.releases[0].channels] == ["stable", "b", "z"]


def test_a_bundle_in_no_channel_is_a_release_in_none() -> None:
    assert _back(declared(), channel("op.v1.0.0"), ONE, TWO).releases[1].channels == ()


def test_a_name_is_kept_where_it_is_not_the_usual_one() -> None:
    odd = bundle("odd", "2.0.0", image="")
    made = _back(declared(), channel("op.v1.0.0", "odd"), ONE, odd)
    assert [release.name for release in made.releases] == [None, "odd"]


def test_a_version_that_is_another_s_name_or_that_two_have_is_not_used_for_a_name() -> None:
    entries: list[Document] = [{"name": "top", "replaces": "a", "skips": ["b", "c"]}, {"name": "1.0.0"}]
    named = [bundle(n, v) for n, v in (("a", "1.0.0"), ("1.0.0", "3.0.0"), ("b", "2.0.0"), ("c", "2.0.0"))]
    made = _back(declared(), channel(*entries), *named, bundle("top", "9.0.0"))
    assert made.releases[-1].edges == DeclaredEdges("a", ("b", "c"))
    itself = _back(declared(), channel("2.0.0", "top"), bundle("2.0.0", "2.0.0"), bundle("top", "9.0.0"))
    assert itself.releases[-1].edges == DeclaredEdges("2.0.0")


@pytest.mark.parametrize(
    ("images", "prefix", "own"),
    [
        (("q.io/op:v1.0.0", "q.io/op:v2.0.0"), "q.io/op", (None, None)),
        (("q.io/op:v1.0.0", ""), "q.io/op", (None, None)),
        (("q.io/op:v1.0.0", "q.io/x:v2.0.0"), None, ("q.io/op:v1.0.0", "q.io/x:v2.0.0")),
        (("q.io/op:v1.0.0", "q.io/op:2.0.0"), None, ("q.io/op:v1.0.0", "q.io/op:2.0.0")),
        (("v1.0.0", "v2.0.0"), None, ("v1.0.0", "v2.0.0")),
        (("", ""), None, (None, None)),
    ],
)
def test_images_are_left_out_where_all_are_named_alike(
    images: tuple[str, str], prefix: str | None, own: tuple[str | None, str | None]
) -> None:
    bundles = (bundle(f"op.v{n}.0.0", image=image) for n, image in enumerate(images, 1))
    made = _back(declared(), channel("op.v1.0.0", "op.v2.0.0"), *bundles)
    assert made.image == prefix
    assert tuple(release.image for release in made.releases) == own


def test_build_metadata_is_written_with_a_dash_in_a_tag() -> None:
    made = _back(
        declared(), channel("op.v1.0.0-b"), bundle("op.v1.0.0-b", "1.0.0+b", image="q.io/op:v1.0.0-b")
    )
    assert (made.image, made.releases[0].image, made.releases[0].name) == ("q.io/op", None, None)


def test_deprecations_are_kept_with_their_messages() -> None:
    deprecated = deprecations(
        ("olm.package", "", "use other"),
        ("olm.channel", "stable", "use fast"),
        ("olm.bundle", "op.v1.0.0", ""),
        ("olm.bundle", "op.v2.0.0", "bad"),
    )
    made = _back(
        declared(),
        channel("op.v1.0.0", "op.v2.0.0"),
        channel("op.v2.0.0", name="x"),
        ONE,
        TWO,
        deprecated,
    )
    assert made.deprecated == "use other"
    assert made.channels == (ChannelDeclaration("stable", "use fast"),)
    assert [release.deprecated for release in made.releases] == ["deprecated", "bad"]
    plain = _back(declared(), channel("op.v1.0.0"), ONE)
    assert (plain.deprecated, plain.channels, plain.releases[0].deprecated) == (None, (), None)


def _additions(*properties: tuple[str, Any]) -> BundleMetadata:
    stated = [{"type": kind, "value": value} for kind, value in properties]
    return _back(declared(), channel("op.v1.0.0"), bundle("op.v1.0.0", "", *stated)).releases[0].metadata


def test_properties_that_come_of_manifests_are_not_written_down() -> None:
    kinds = ("olm.package", "olm.gvk", "olm.gvk.required", "olm.bundle.object", "olm.csv.metadata")
    assert _additions(*((kind, {"a": "b"}) for kind in kinds)) == BundleMetadata()
    assert _additions(("mine", [1, "a", None]), (" x ", "a"), ("", "b")) == BundleMetadata(
        ({"type": "mine", "value": [1, "a", None]},)
    )


def test_what_is_required_of_others_is_a_dependency() -> None:
    span = {"packageName": "etcd", "versionRange": ">1.0.0"}
    assert _additions(("olm.package.required", span), ("olm.constraint", {"all": {}})) == BundleMetadata(
        None,
        (
            {"type": "olm.package", "value": {"packageName": "etcd", "version": ">1.0.0"}},
            {"type": "olm.constraint", "value": {"all": {}}},
        ),
    )
    assert _additions(("mine", span)).dependencies is None
    for broken in ({"packageName": "etcd"}, {"versionRange": ">1.0.0"}, "etcd", None):
        assert _additions(("olm.package.required", broken)) == BundleMetadata()


@pytest.mark.parametrize(
    ("value", "is_kept"),
    [
        (2**53, True),
        (2**53 + 1, False),
        (-(2**53), True),
        (-(2**53) - 1, False),
        (1.5, True),
        (float("inf"), False),
        (float("nan"), False),
        (True, True),
        (None, True),
        ("text", True),
        ([1, [2**60]], False),
        ([1, ["a"]], True),
        ({"a": {"b": [1]}}, True),
        ({"a": "b", "c": {"b": 2**60}}, False),
        ({1: "a"}, False),
        (b"bytes", False),
    ],
)
def test_a_value_is_written_only_if_every_parser_gives_it_back(value: object, is_kept: bool) -> None:
    assert (_additions(("mine", value)).properties is not None) == is_kept
    assert (_additions(("olm.constraint", value)).dependencies is not None) == is_kept


def test_where_no_channel_is_the_default_it_is_the_one_with_the_highest_release() -> None:
    both = (channel("op.v2.0.0", name="a"), channel("op.v1.0.0", name="z"), ONE, TWO)
    assert _back(*both).default_channel == "a"
    assert _back(declared(default="gone"), *both).default_channel == "a"
    assert _back(declared(default="z"), *both).default_channel == "z"
    three = (
        channel("op.v1.0.0", "op.v3.0.0", name="a"),
        channel("op.v2.0.0", name="z"),
        bundle("op.v3.0.0"),
    )
    assert _back(*three, ONE, TWO).default_channel == "a"
    even = (
        channel("op.v1.0.0", name="a"),
        channel("op.v1.0.0", name="b"),
        channel(name="c"),
        ONE,
    )
    assert _back(*even).default_channel == "b"
    assert _back(declared(default="gone"), ONE).default_channel == "gone"


def test_package_that_opm_rejects_is_not_reconstructed() -> None:
    twice = _refused(declared(), channel("op.v1.0.0"), channel("op.v1.0.0"), ONE)
    assert "declares the channel 'stable' twice" in twice.message
    nothing = _refused(declared(), channel("op.v1.0.0"))
    assert nothing.message == "op has no bundle"
    absent = _refused(declared(), channel("op.v1.0.0", "op.v3.0.0"), ONE)
    assert "op.v3.0.0 of the channel 'stable' has no bundle" in absent.message
    unreadable = _refused(declared(), channel("x"), bundle("x", "v1"))
    assert unreadable.message.startswith("x: ")
    for error in (twice, nothing, absent, unreadable):
        assert error.hint


def test_first_duplicate_channel_by_name_is_reported() -> None:
    names = tuple(f"c{number}" for number in range(1, 10)) * 2
    channels = [channel("op.v1.0.0", name=name) for name in (*names, "c0")]
    assert "'c1'" in _refused(declared(), *channels, ONE).message


def test_a_bundle_without_a_version_is_refused() -> None:
    made = _package(declared(), channel("op.v1.0.0"), ONE)
    blank = made._replace(bundles=(made.bundles[0]._replace(version=None),))
    with pytest.raises(UsageError, match="is not a version"):
        reconstruct_releases(blank)
