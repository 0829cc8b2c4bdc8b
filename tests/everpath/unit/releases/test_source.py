"""The model of releases.yaml: names, images, channels, references."""

from __future__ import annotations

import pytest

from everpath.releases.model import (
    BundleMetadata,
    ChannelDeclaration,
    DeclaredEdges,
    Membership,
    Release,
    ReleasesFile,
    Variant,
    default_csv_name,
    has_tag_or_digest,
)
from tests.support.everpath.release_histories import source

STABLE = (Membership("stable"),)


def test_a_channel_s_own_from_comes_before_the_release_s() -> None:
    own, shared = DeclaredEdges("0.1.0"), DeclaredEdges("0.2.0")
    release = Release("0.3.0", (Membership("fast", own), Membership("stable")), shared)
    assert [release.edges_in(name) for name in ("fast", "stable", "next")] == [own, shared, None]


def test_a_bundle_that_only_a_catalog_has_is_called_published() -> None:
    made = source("- {version: 0.1.0, channels: [stable], bundle: published}")
    assert made.releases[0].bundle == "published"


def test_a_release_is_named_after_package_and_version_unless_it_has_a_name() -> None:
    made = ReleasesFile("acme", "stable")
    assert made.csv_name(Release("1.0.0")) == "acme.v1.0.0"
    assert made.csv_name(Release("1.0.0", name="old")) == "old"
    assert default_csv_name("acme", "1.0.0-RC.1+B") == "acme.v1.0.0-rc.1-b"


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("quay.io/acme/op", False),
        ("localhost:5000/op", False),
        ("op", False),
        ("op:v1", True),
        ("localhost:5000/op:v1", True),
        ("quay.io/op@sha256:00", True),
        ("op@digest", True),
    ],
)
def test_the_port_of_a_registry_is_no_tag(reference: str, answer: bool) -> None:
    assert has_tag_or_digest(reference) is answer


def test_an_image_is_that_of_the_release_or_the_file_s_with_the_version_or_none() -> None:
    release = Release("1.0.0+b")
    made = ReleasesFile("acme", "stable", image="quay.io/acme", images={"op": "quay.io/op", "db": "db:5"})
    assert made.bundle_image(release) == "quay.io/acme:v1.0.0-b"
    assert made.bundle_image(Release("1.0.0", image="x")) == "x"
    assert ReleasesFile("acme", "stable").bundle_image(release) == ""
    assert made.operator_images(Release("1.0.0", images={"op": "mine"})) == {"op": "mine", "db": "db:5"}


def test_metadata_of_a_release_overrides_that_of_the_file() -> None:
    theirs = BundleMetadata(({"type": "a"},), ({"type": "b"},), {"x": "1", "y": "1"})
    made = ReleasesFile("acme", "stable", metadata=theirs)
    assert made.bundle_metadata(Release("1.0.0")) == theirs
    own = BundleMetadata((), None, {"y": "2", "z": "2"})
    assert made.bundle_metadata(Release("1.0.0", metadata=own)) == BundleMetadata(
        (), ({"type": "b"},), {"x": "1", "y": "2", "z": "2"}
    )
    none = BundleMetadata(None, ())
    assert made.bundle_metadata(Release("1.0.0", metadata=none)) == BundleMetadata(
        ({"type": "a"},), (), {"x": "1", "y": "1"}
    )


def test_a_reference_is_a_name_before_it_is_a_version() -> None:
    first, second = Release("1.0.0", name="2.0.0"), Release("2.0.0")
    made = ReleasesFile("acme", "stable", (first, second))
    assert made.find_release("2.0.0") is first
    assert made.find_release("acme.v2.0.0") is second
    assert made.find_release("1.0.0") is first
    assert made.find_release("3.0.0") is None
    assert (made.resolve_csv_name("1.0.0"), made.resolve_csv_name("elsewhere.v1")) == (
        "2.0.0",
        "elsewhere.v1",
    )


def test_ambiguous_version_finds_no_release() -> None:
    twins = (Release("1.0.0", name="a"), Release("1.0.0", name="b"), Release("1.0.0", name="b"))
    made = ReleasesFile("acme", "stable", twins)
    assert made.find_release("1.0.0") is None
    assert made.find_release("b") is twins[1]
    assert made.by_version == {"1.0.0": twins}


def test_known_channels_have_releases_or_are_declared() -> None:
    first = tuple(map(Membership, ("stable", "fast", "z", "alpha", "candidate")))
    rows = (Release("1.0.0", first), Release("2.0.0", STABLE))
    made = ReleasesFile("acme", "main", rows, channels=(ChannelDeclaration("next"),))
    assert made.channel_names == ("alpha", "candidate", "fast", "stable", "z")
    assert made.known_channels == ("alpha", "candidate", "fast", "main", "next", "stable", "z")
    assert [release.version for release, _ in made.releases_in("stable")] == ["1.0.0", "2.0.0"]
    assert [release.version for release, _ in made.releases_in("fast")] == ["1.0.0"]


def test_a_stream_is_early_once_a_pre_release_of_its_first_release_is_out() -> None:
    rows = tuple(map(Release, ("1.0.0-rc.1", "1.1.0", "1.2.1-rc.1", "1.3.0-alpha")))
    assert ReleasesFile("acme", "stable", rows).prerelease_streams == {(1, 0), (1, 3)}


def test_a_source_without_catalogs_makes_one_with_everything_in_it() -> None:
    assert ReleasesFile("acme", "stable").variants == (Variant(""),)
    some = (Variant("old", "<1.0.0"), Variant("new"))
    assert ReleasesFile("acme", "stable", catalogs=some).variants == some
