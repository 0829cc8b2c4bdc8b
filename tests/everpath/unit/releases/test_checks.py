"""Validation of releases.yaml: each problem has its place and a fix."""

from __future__ import annotations

from dataclasses import replace

import pytest

from everpath.model import Place
from everpath.releases.model import (
    ChannelDeclaration,
    DeclaredEdges,
    Membership,
    Release,
    ReleasesFile,
    Variant,
)
from everpath.releases.validation import ReleasesProblem, find_problems, is_folder_name

FILE, ROW, FROM, NOTE = Place("file"), Place("row"), Place("from"), Place("note")
STABLE = (Membership("stable"),)
GOOD = ReleasesFile("acme", "stable", (Release("0.1.0", STABLE, place=ROW),), place=FILE)


def _released(*releases: Release) -> ReleasesFile:
    return replace(GOOD, releases=releases)


def _one(source: ReleasesFile) -> ReleasesProblem:
    [found] = find_problems(source)
    return found


def test_problem_text_ends_with_its_fix() -> None:
    assert str(ReleasesProblem(FILE, "wrong", "fix it")) == "wrong; fix it"
    assert str(ReleasesProblem(FILE, "wrong")) == "wrong"


def test_valid_file_has_no_problems() -> None:
    assert find_problems(GOOD) == []
    assert find_problems(ReleasesFile("acme", "stable")) == []


def test_empty_values_are_not_reported_again() -> None:
    assert find_problems(ReleasesFile("", "", (Release("", STABLE),))) == []


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a", True),
        ("A.b_c-9", True),
        ("", False),
        (".a", False),
        ("-a", False),
        ("a/b", False),
        ("a b", False),
    ],
)
def test_a_folder_may_have_a_name_that_any_system_takes(text: str, answer: bool) -> None:
    assert is_folder_name(text) is answer


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"package": "a/b"}, "package"),
        ({"image": "quay.io/acme:v1"}, "image"),
        ({"image": "quay.io/acme@sha256:0"}, "image"),
        ({"default_channel": "fast"}, "defaultChannel"),
    ],
)
def test_problem_of_the_file_has_the_place_of_its_key(fields: dict[str, str], key: str) -> None:
    found = _one(replace(GOOD, **fields))  # type: ignore[arg-type]
    assert found.place == FILE.at(key)
    assert found.fix


def test_similar_default_channel_is_suggested() -> None:
    assert _one(replace(GOOD, default_channel="stabel")).fix == "did you mean stable?"
    assert _one(replace(GOOD, default_channel="x")).fix == "known: stable"
    assert _one(_released(Release("0.1.0"))).fix == "none exists yet"


def test_each_duplicate_is_reported_at_its_place() -> None:
    notes = tuple(ChannelDeclaration(name, place=NOTE.at(i)) for i, name in enumerate(("a", "b", "a", "a")))
    found = find_problems(replace(GOOD, channels=notes))
    assert [c.place for c in found] == [NOTE.at(2), NOTE.at(3)]
    assert all(c.fix for c in found)


def test_all_duplicate_catalogs_releases_and_channels_are_reported() -> None:
    places = [NOTE.at(number) for number in range(3)]
    catalogs = tuple(Variant("a", place=place) for place in places)
    assert [c.place for c in find_problems(replace(GOOD, catalogs=catalogs))] == places[1:]
    releases = (Release("0.1.0", STABLE, place=place) for place in places)
    assert [c.place for c in find_problems(_released(*releases))] == [p.at("version") for p in places[1:]]
    memberships = tuple(Membership("stable", place=place) for place in places)
    assert [c.place for c in find_problems(_released(Release("0.1.0", memberships)))] == places[1:]


def test_every_catalog_is_looked_at() -> None:
    catalogs = tuple(Variant(name, place=NOTE.at(name)) for name in ("a/b", "c", "d/e"))
    assert [c.place for c in find_problems(replace(GOOD, catalogs=catalogs))] == [
        NOTE.at("a/b").at("name"),
        NOTE.at("d/e").at("name"),
    ]


def test_a_release_is_not_repeated() -> None:
    found = _one(_released(Release("0.1.0", STABLE), Release("0.1.0", STABLE, place=ROW)))
    assert found.place == ROW.at("version")
    assert found.fix


@pytest.mark.parametrize(
    ("variant", "place"),
    [
        (Variant("a/b", place=NOTE), NOTE.at("name")),
        (Variant("a", "<1", place=NOTE), NOTE.at("releases")),
        (Variant("a", channels=("stable", "x"), place=NOTE), NOTE.at("channels", 1)),
    ],
)
def test_problem_of_a_catalog_has_the_place_of_its_key(variant: Variant, place: Place) -> None:
    found = _one(replace(GOOD, catalogs=(variant,)))
    assert found.place == place
    assert found.fix


def test_two_catalogs_need_two_names() -> None:
    found = _one(replace(GOOD, catalogs=(Variant("a"), Variant("b"), Variant("a", place=NOTE))))
    assert found.place == NOTE
    assert found.fix


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"version": "0.1"}, "version"),
        ({"min_kube_version": "1.29"}, "minKubeVersion"),
        ({"name": "a/b"}, "name"),
        ({"bundle": "md5:0"}, "bundle"),
        ({"bundle": ""}, "bundle"),
        ({"bundle": f"sha256:{'0' * 65}"}, "bundle"),
        ({"bundle": f"sha256:{'g' * 64}"}, "bundle"),
    ],
)
def test_problem_of_a_release_has_the_place_of_its_key(fields: dict[str, str], key: str) -> None:
    found = _one(_released(replace(GOOD.releases[0], **fields)))  # type: ignore[arg-type]
    assert found.place == ROW.at(key)
    assert found.fix


@pytest.mark.parametrize("bundle", ["published", f"sha256:{'0' * 64}", None])
def test_bundle_is_published_or_a_digest_or_absent(bundle: str | None) -> None:
    assert find_problems(_released(Release("0.1.0", STABLE, bundle=bundle))) == []


def test_a_channel_is_named_once_by_a_release() -> None:
    twice = Release("0.1.0", (*STABLE, Membership("stable", place=NOTE)))
    assert _one(_released(twice)).place == NOTE


@pytest.mark.parametrize(
    ("origin", "place"),
    [
        (DeclaredEdges(skip_range="<1", place=FROM), FROM.at("range")),
        (DeclaredEdges(skip_range="<1.0.0 || || <2.0.0", place=FROM), FROM.at("range")),
        (DeclaredEdges("0.2.0", place=FROM), FROM.at("replaces")),
        (DeclaredEdges("0.9.0", place=FROM), FROM.at("replaces")),
        (DeclaredEdges(skips=("0.1.0", "0.9.0"), place=FROM), FROM.at("skips", 1)),
    ],
)
def test_problem_of_an_edge_has_the_place_of_its_key(origin: DeclaredEdges, place: Place) -> None:
    first = GOOD.releases[0]
    assert _one(_released(first, Release("0.2.0", STABLE, origin))).place == place
    own = (Membership("fast"), Membership("stable", origin))
    assert _one(_released(first, Release("0.2.0", own))).place == place


def test_invalid_or_crashing_range_has_a_fix() -> None:
    for span in ("<1", "nonsense", "<1.0.0 || || <2.0.0"):
        assert _one(_released(Release("0.2.0", STABLE, DeclaredEdges(skip_range=span)))).fix


def test_similar_version_is_suggested_for_an_unknown_one() -> None:
    first = Release("0.1.0", STABLE)
    found = _one(_released(first, Release("0.2.0", STABLE, DeclaredEdges("0.1.1"))))
    assert found.fix == ("did you mean 0.1.0? if it is published elsewhere, write its name: acme.v0.1.1")
    found = _one(_released(first, Release("0.2.0", STABLE, DeclaredEdges("7.7.7"))))
    assert found.fix == "if it is published elsewhere, write its name: acme.v7.7.7"
    # The release itself was not meant, however like it is.
    found = _one(_released(Release("5.5.5", STABLE), Release("0.2.0", STABLE, DeclaredEdges("0.2.9"))))
    assert found.fix.startswith("if it is published elsewhere")


def test_a_name_from_elsewhere_is_taken_as_it_is() -> None:
    assert find_problems(_released(Release("0.2.0", STABLE, DeclaredEdges("other.v1", ("more",))))) == []


def test_a_version_of_several_releases_must_be_named() -> None:
    twins = [Release("0.1.0", STABLE, name=name) for name in "ab"]
    found = _one(_released(*twins, Release("0.2.0", STABLE, DeclaredEdges("0.1.0", ("a", "b")))))
    assert found.fix == "write a name: a or b"


def test_problems_are_in_file_order() -> None:
    rows = (Release("0.1", STABLE, place=ROW), Release("0.2", STABLE, place=ROW))
    made = replace(_released(*rows), package="a/b", catalogs=(Variant("c/d", place=NOTE),))
    places = [FILE.at("package"), NOTE.at("name"), ROW.at("version"), ROW.at("version")]
    assert [c.place for c in find_problems(made)] == places


def test_withdrawn_heads_are_reported_if_there_are_no_other_problems() -> None:
    rows = (
        Release("0.1.0", (*STABLE, Membership("fast")), withdrawn="", place=ROW),
        Release("0.2.0", STABLE, DeclaredEdges("0.1.0")),
        Release("0.3.0", STABLE, DeclaredEdges("0.2.0"), withdrawn="bad", place=ROW.at(3)),
    )
    made = _released(*rows)
    found = find_problems(made)
    assert [c.place for c in found] == [ROW.at("withdrawn"), ROW.at(3).at("withdrawn")]
    assert [c.message.rpartition(" ")[2] for c in found] == ["'fast'", "'stable'"]
    assert all(c.fix for c in found)
    both = replace(made, catalogs=(Variant("old", "<0.2.0"), Variant("new", ">=0.3.0")))
    assert [c.message.rpartition(" ")[2] for c in find_problems(both)] == [
        "old",
        "old",
        "new",
    ]
    assert [c.place for c in find_problems(replace(made, package="a/b"))] == [FILE.at("package")]
