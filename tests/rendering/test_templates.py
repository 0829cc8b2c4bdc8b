"""Templates: what becomes of versions, images and substitutes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from everpath.loaders.fbc.acceptance import why_refused
from everpath.opm_render import Blob, Refusal
from everpath.opm_render.blobs import CatalogDocument
from everpath.opm_render.templates import is_template, render_template
from rendered import blob, rendering, semver, template

_VERSIONS = ("1.0.0", "1.0.1", "1.1.0", "1.1.1", "1.2.0", "2.0.0")


def made(body: Mapping[str, Any], *bundles: Blob) -> list[Blob]:
    return render_template(template(body), rendering(*bundles), why_refused)


def channels(body: Mapping[str, Any], *versions: str) -> dict[str, list[str]]:
    """Every entry of every channel in short: version<replaced -skipped."""
    blobs = made(body, *map(blob, versions))
    return {b["name"]: [_short(e) for e in b["entries"]] for b in blobs if b["schema"] == "olm.channel"}


def _short(entry: Blob) -> str:
    replaces = f"<{entry['replaces'][4:]}" if "replaces" in entry else ""
    return str(entry["name"])[4:] + replaces + "".join(f" -{skip[4:]}" for skip in entry.get("skips", ()))


def default(body: Mapping[str, Any], *versions: str) -> str:
    return str(made(body, *map(blob, versions))[0]["defaultChannel"])


def test_the_last_patch_of_a_minor_version_replaces_the_one_before_and_skips_the_rest() -> None:
    body = semver(stable=_VERSIONS[:5], generateMajorChannels=True)
    assert channels(body, *_VERSIONS) == {
        "stable-v1": [
            "1.0.0",
            "1.0.1 -1.0.0",
            "1.1.0",
            "1.1.1<1.0.1 -1.0.0 -1.1.0",
            "1.2.0<1.1.1 -1.0.0 -1.0.1 -1.1.0",
        ]
    }


def test_edges_never_cross_major_versions() -> None:
    body = semver(stable=_VERSIONS, generateMajorChannels=True)
    assert channels(body, *_VERSIONS)["stable-v2"] == ["2.0.0"]


def test_entries_of_minor_channels_replace_and_skip_what_stands_outside() -> None:
    found = channels(semver(stable=_VERSIONS[:3]), *_VERSIONS)
    assert found == {"stable-v1.0": ["1.0.0", "1.0.1 -1.0.0"], "stable-v1.1": ["1.1.0<1.0.1 -1.0.0"]}


def test_archetypes_are_linked_apart() -> None:
    body = semver(stable=["1.0.0"], candidate=["1.0.0", "1.0.1"])
    assert channels(body, *_VERSIONS) == {
        "candidate-v1.0": ["1.0.0", "1.0.1 -1.0.0"],
        "stable-v1.0": ["1.0.0"],
    }


def test_the_default_channel_is_of_the_most_stable_archetype_and_of_the_kind_preferred() -> None:
    both = {"generateMajorChannels": True, "generateMinorChannels": True}
    assert default(semver(fast=["1.0.0"], candidate=["2.0.0"]), *_VERSIONS) == "fast-v1.0"
    assert default(semver(stable=["1.0.0"], **both), *_VERSIONS) == "stable-v1.0"
    major = {**both, "defaultChannelTypePreference": "major"}
    assert default(semver(stable=["1.0.0"], **major), *_VERSIONS) == "stable-v1"


def test_the_preference_for_major_channels_is_lost_on_two_minor_streams() -> None:
    both = {"generateMajorChannels": True, "generateMinorChannels": True}
    body = semver(stable=["1.0.1", "1.1.0"], defaultChannelTypePreference="major", **both)
    assert default(body, *_VERSIONS) == "stable-v1.1"


def test_a_pre_release_of_nothing_leaves_the_package_without_a_default() -> None:
    assert default(semver(candidate=["0.0.0-alpha"]), "0.0.0-alpha") == ""


def test_a_package_shows_what_the_newest_csv_of_the_default_channel_shows() -> None:
    from base64 import b64encode  # noqa: PLC0415
    from json import dumps  # noqa: PLC0415

    csv = {
        "kind": "ClusterServiceVersion",
        "spec": {
            "description": "What it does",
            "icon": [{"base64data": "PHN\n2Zy8+", "mediatype": "image/svg+xml"}],
        },
    }
    carried = {"type": "olm.bundle.object", "value": {"data": b64encode(dumps(csv).encode()).decode()}}
    stated = blob("1.0.0")
    package = made(semver(stable=["1.0.0"]), {**stated, "properties": [*stated["properties"], carried]})[0]
    assert list(package) == ["schema", "name", "defaultChannel", "icon", "description"]
    assert package["icon"] == {"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}


def test_a_key_that_stands_twice_in_a_semver_template_is_refused() -> None:
    document = CatalogDocument(template({}).place, semver(stable=["1.0.0"]), repeated=(("stable",),))
    with pytest.raises(Refusal, match="stable stands here twice"):
        render_template(document, rendering(blob("1.0.0")), why_refused)


def test_a_basic_template_keeps_everything_but_its_bundles() -> None:
    other = {"schema": "custom.thing", "package": "op", "b": 1, "a": 2}
    channel = {
        "schema": "olm.channel",
        "name": "c",
        "package": "op",
        "entries": [{"name": "op.v1.0.0", "skips": []}],
    }
    entries = [other, channel, {"schema": "olm.bundle", "image": "op:1.0.0", "name": "whatever"}]
    found = made({"schema": "olm.template.basic", "entries": entries}, blob("1.0.0"))
    assert found[0] == other
    assert found[1]["entries"] == [{"name": "op.v1.0.0"}]
    assert found[2] == blob("1.0.0")


def substituted(entries: list[dict[str, Any]], *bundles: Blob) -> list[str]:
    catalog = [
        {"schema": "olm.package", "name": "op", "defaultChannel": "stable"},
        {"schema": "olm.channel", "name": "stable", "package": "op", "entries": entries},
        *bundles,
    ]
    body = {
        "schema": "olm.template.substitutes",
        "entries": catalog,
        "substitutions": [{"name": "op:1.0.9", "base": "op.v1.0.0"}],
    }
    found = made(body, blob("1.0.9"))
    return [_short(e) for b in found if b["schema"] == "olm.channel" for e in b["entries"]]


def test_a_substitute_takes_the_edges_of_its_base_and_everybody_who_came_to_it() -> None:
    entries = [
        {"name": "op.v0.9.0"},
        {"name": "op.v1.0.0", "replaces": "op.v0.9.0", "skipRange": "<0.9.0"},
        {"name": "op.v1.1.0", "replaces": "op.v1.0.0"},
    ]
    bundles = [blob(version) for version in ("0.9.0", "1.0.0", "1.1.0")]
    assert substituted(entries, *bundles) == ["0.9.0", "1.0.0", "1.1.0<1.0.9 -1.0.0", "1.0.9<0.9.0 -1.0.0"]


def test_who_skipped_the_base_skips_the_substitute() -> None:
    entries: list[dict[str, Any]] = [
        {"name": "op.v1.0.0"},
        {"name": "op.v1.1.0", "skips": ["op.v1.0.0"]},
    ]
    assert substituted(entries, blob("1.0.0"), blob("1.1.0")) == ["1.0.0", "1.1.0 -1.0.9", "1.0.9 -1.0.0"]


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"schema": "olm.semver"}, True),
        ({"Schema": "olm.template.basic"}, True),
        ({"schema": "olm.package"}, False),
        ([], False),
    ],
)
def test_a_template_is_known_by_its_schema(body: Any, answer: bool) -> None:
    assert is_template(template(body)) is answer
