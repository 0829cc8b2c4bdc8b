"""Edits of releases.yaml keep everything else in the file."""

from __future__ import annotations

import pytest

from everpath.errors import ReleasesError
from everpath.loaders.releases.editing import edit_releases
from everpath.loaders.releases.parser import parse_releases
from everpath.releases.model import DeclaredEdges, Membership, Release
from everpath.releases.release_plan import AddRelease, ReleasesEdit, SetChannels, SetField, SetPins

NEW = AddRelease(Release("0.3.0", (Membership("stable"),), DeclaredEdges("0.2.0")))
WITHDRAWN = SetField(0, "withdrawn", "it: loses shards")

LATER = "- {version: 0.4.0, channels: [stable], from: {replaces: 0.2.0}}\n"
TOP = "package: acme   # ours\ndefaultChannel: stable\n"


def _after(text: str, *edits: ReleasesEdit) -> str:
    return edit_releases(text.encode(), edits, "r.yaml").decode()


def test_a_release_is_added_as_the_others_are_indented() -> None:
    text = f"{TOP}releases:\n    -   version: 0.2.0\n        channels:   [ stable ]  # yes\n# the end\n"
    assert _after(text, NEW) == text.replace(
        "# the end",
        "    - version: 0.3.0\n      channels: [stable]\n      from: {replaces: 0.2.0}\n# the end",
    )


def test_comments_of_the_last_release_stay_with_it() -> None:
    text = f"{TOP}releases:\n- version: 0.2.0\n  channels: [stable]\n  # to be withdrawn?\n\n# the end\n"
    added = "- version: 0.3.0\n  channels: [stable]\n  from: {replaces: 0.2.0}\n"
    assert _after(text, NEW) == text.replace("\n\n# the end", f"\n{added}\n# the end")


def test_blank_lines_between_releases_are_kept_up() -> None:
    text = (
        f"{TOP}releases:\n- {{version: 0.1.0, channels: [stable]}}\n\n# two\n"
        "- {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}}\n"
    )
    assert (
        _after(text, NEW) == f"{text}\n- version: 0.3.0\n  channels: [stable]\n  from: {{replaces: 0.2.0}}\n"
    )


def test_a_key_is_added_behind_the_others_of_its_release() -> None:
    text = f"{TOP}releases:\n- version: 0.2.0\n  channels: [stable]  # all\n{LATER}"
    assert _after(text, WITHDRAWN) == text.replace("# all\n", '# all\n  withdrawn: "it: loses shards"\n')


def test_a_key_that_is_there_gets_another_value() -> None:
    text = f"{TOP}releases:\n- version: 0.2.0\n  withdrawn:   false # not yet\n  channels: [stable]\n{LATER}"
    assert _after(text, WITHDRAWN) == text.replace("false", '"it: loses shards"')


@pytest.mark.parametrize(
    ("old", "origin", "new"),
    [
        ("  channels: [ fast ] # one", None, "  channels: [fast, stable] # one"),
        ("  channels:\n    - fast # one", None, "  channels:\n    [fast, stable] # one"),
        (
            "  channels: [fast]",
            DeclaredEdges("0.1.0"),
            "  channels: {fast: null, stable: {replaces: 0.1.0}}",
        ),
    ],
)
def test_a_release_is_given_a_channel(old: str, origin: DeclaredEdges | None, new: str) -> None:
    text = f"{TOP}releases:\n- {{version: 0.1.0, channels: [stable]}}\n- version: 0.2.0\n{old}\n"
    edit = SetChannels(1, (Membership("fast"), Membership("stable", origin)))
    frozen = SetField(1, "bundle", "sha256:" + "0" * 64)
    assert _after(text, edit, frozen) == text.replace(old, f"{new}\n  bundle: {frozen.value}")


def test_channels_behind_an_alias_are_written_out() -> None:
    text = f"{TOP}x-all: &all [fast]\nreleases:\n- {{version: 0.1.0, channels: [stable]}}\n"
    text += "- {version: 0.2.0, channels: *all}\n"
    after = _after(text, SetChannels(1, (Membership("fast"), Membership("stable"))))
    assert after == text.replace("*all", "[fast, stable]")


def test_releases_on_one_line_stay_on_one() -> None:
    text = f"{TOP}releases: [{{version: 0.2.0, channels: [stable]}},]\n"
    frozen = SetField(0, "bundle", "sha256:" + "0" * 64)
    made = _after(text, NEW, frozen)
    assert made == (
        f"{TOP}releases: [{{version: 0.2.0, channels: [stable], bundle: sha256:{'0' * 64}}}, "
        "{version: 0.3.0, channels: [stable], from: {replaces: 0.2.0}},]\n"
    )


@pytest.mark.parametrize("empty", ["releases: []", "releases:", "releases: null", "releases: [] # none yet"])
def test_the_first_release_takes_the_place_of_nothing(empty: str) -> None:
    first = AddRelease(Release("0.1.0", (Membership("stable"),)))
    made = _after(f"{TOP}{empty}\n", first)
    assert made.startswith(f"{TOP}releases:")
    assert "  - version: 0.1.0\n    channels: [stable]" in made
    assert ("# none yet" in made) == ("# none yet" in empty)


def test_line_ends_are_those_of_the_file() -> None:
    text = f"{TOP}releases:\n- version: 0.2.0\n  channels: [stable]\n".replace("\n", "\r\n")
    made = _after(text, NEW, SetField(0, "bundle", "sha256:" + "0" * 64))
    assert made.count("\n") == made.count("\r\n") == text.count("\n") + 4


def test_a_last_line_without_an_end_is_given_one_only_in_between() -> None:
    text = f"{TOP}releases:\n- version: 0.2.0\n  channels: [stable]"
    made = _after(text, NEW)
    assert made == f"{text}\n- version: 0.3.0\n  channels: [stable]\n  from: {{replaces: 0.2.0}}"


def test_a_text_of_several_lines_is_not_cut() -> None:
    release = "- version: 0.2.0\n  channels: [stable]\n  deprecated: |\n    two\n    lines\n"
    text = f"{TOP}releases:\n{release}\nbundles: x\n"
    made = parse_releases(_after(text, NEW).encode(), "r.yaml")
    assert made.releases[0].deprecated == "two\nlines"
    assert made.bundles == "x"


def test_file_that_cannot_be_edited_is_refused_with_the_edit() -> None:
    text = f"{TOP}x: &a [{{version: 0.2.0, channels: [stable]}}]\nreleases: *a\n".replace("x: ", "channels: ")
    with pytest.raises(ReleasesError):
        _after(text, NEW)
    anchored = f"{TOP}releases:\n- &a {{version: 0.2.0, channels: [stable]}}\n- {{<<: *a, version: 0.2.1}}\n"
    with pytest.raises(ReleasesError) as raised:
        _after(anchored, SetField(0, "withdrawn", value=True))
    assert raised.value.message == "r.yaml cannot be edited automatically"
    assert (raised.value.hint or "").endswith("set withdrawn: true")


def test_a_file_that_is_not_utf_8_is_refused() -> None:
    text = f"{TOP}releases: []\n".encode("utf-16")
    with pytest.raises(ReleasesError, match="is not UTF-8"):
        edit_releases(text, [NEW], "r.yaml")


PINS = SetPins("../digests: ours.txt")


def test_the_file_of_digests_is_named_behind_the_default_channel() -> None:
    text = f"{TOP}releases: []\n"
    assert _after(text, PINS) == f'{TOP}pins: "../digests: ours.txt"\nreleases: []\n'
    turned = "releases: []\npackage: acme\ndefaultChannel: stable # yes"
    assert _after(turned, PINS) == f'{turned}\npins: "../digests: ours.txt"'


def test_new_pins_file_replaces_the_old_one() -> None:
    text = f"pins:   old.txt  # from CI\n{TOP}releases: []\n"
    assert _after(text, PINS) == text.replace("old.txt", '"../digests: ours.txt"')


def test_a_file_on_one_line_is_refused_with_the_edit_to_make() -> None:
    with pytest.raises(ReleasesError, match="cannot be edited") as refused:
        _after("{package: acme, defaultChannel: stable, releases: []}", PINS)
    assert 'set pins: "../digests: ours.txt"' in str(refused.value.hint)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("x-all: &all [stable]\n{top}releases:\n- version: 0.2.0\n  channels: *all\n{later}", "*all\n"),
        ("x-v: &v 0.2.0\n{top}releases: &r\n- channels: [stable]\n  version: *v\n{later}", "*v\n"),
        ("{top}releases: !!seq\n-   &first\n  channels: [stable]\n  version: 0.2.0\n{later}", "0.2.0\n"),
        ("{top}releases:\n- ? version\n  : 0.2.0\n  ? channels\n  : [stable]\n{later}", "[stable]\n"),
    ],
)
def test_edits_work_beside_anchors_and_aliases(text: str, place: str) -> None:
    text = text.format(top=TOP, later=LATER)
    edited_line = f'{place}  withdrawn: "it: loses shards"\n'
    added = "- version: 0.5.0\n  channels: [stable]\n  from: {replaces: 0.4.0}\n"
    new = AddRelease(Release("0.5.0", (Membership("stable"),), DeclaredEdges("0.4.0")))
    assert _after(text, WITHDRAWN, new) == text.replace(place, edited_line, 1) + added


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("x-r: &r\n- {version: 0.2.0, channels: [stable]}\n{later}{top}releases: *r\n", WITHDRAWN),
        ("x-r: &r\n- {version: 0.2.0, channels: [stable]}\n{top}releases: *r\n", NEW),
        ("x-r: &r {version: 0.2.0, channels: [stable]}\n{top}releases:\n- *r\n{later}", WITHDRAWN),
        (
            "x-r: &r {channels: [stable]}\n{top}releases:\n- <<: *r\n  version: 0.2.0\n",
            SetChannels(0, (Membership("stable"), Membership("fast"))),
        ),
    ],
)
def test_edit_of_an_alias_is_refused_with_the_edit_to_make(text: str, edit: ReleasesEdit) -> None:
    with pytest.raises(ReleasesError, match="cannot be edited") as refused:
        _after(text.replace("{top}", TOP).replace("{later}", LATER), edit)
    assert "or edit the file: " in (refused.value.hint or "")
