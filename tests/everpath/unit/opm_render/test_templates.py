"""Rendering of basic, semver and substitutes templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from everpath.app.opm_validate import rejection_reason
from everpath.model import OpmError
from everpath.opm_render import Blob
from everpath.opm_render.blobs import CatalogDocument
from everpath.opm_render.templates import is_template, render_template
from tests.support.everpath.rendered_catalogs import blob, image_renderer, semver, template

_VERSIONS = ("1.0.0", "1.0.1", "1.1.0", "1.1.1", "1.2.0", "2.0.0")


def render(body: Mapping[str, Any], *bundles: Blob) -> list[Blob]:
    return render_template(template(body), image_renderer(*bundles), rejection_reason)


def channels(body: Mapping[str, Any], *versions: str) -> dict[str, list[str]]:
    """The entries of each channel, written as VERSION<REPLACED -SKIPPED."""
    blobs = render(body, *map(blob, versions))
    return {b["name"]: [_entry_text(e) for e in b["entries"]] for b in blobs if b["schema"] == "olm.channel"}


def _entry_text(entry: Blob) -> str:
    replaces = f"<{entry['replaces'][4:]}" if "replaces" in entry else ""
    return str(entry["name"])[4:] + replaces + "".join(f" -{skip[4:]}" for skip in entry.get("skips", ()))


def default_channel(body: Mapping[str, Any], *versions: str) -> str:
    return str(render(body, *map(blob, versions))[0]["defaultChannel"])


def test_the_highest_patch_replaces_that_of_the_previous_minor_version_and_skips_the_rest() -> None:
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


def test_edges_do_not_cross_major_versions() -> None:
    body = semver(stable=_VERSIONS, generateMajorChannels=True)
    assert channels(body, *_VERSIONS)["stable-v2"] == ["2.0.0"]


def test_entries_of_minor_channels_replace_and_skip_entries_outside_of_them() -> None:
    found = channels(semver(stable=_VERSIONS[:3]), *_VERSIONS)
    assert found == {"stable-v1.0": ["1.0.0", "1.0.1 -1.0.0"], "stable-v1.1": ["1.1.0<1.0.1 -1.0.0"]}


def test_archetypes_are_linked_separately() -> None:
    body = semver(stable=["1.0.0"], candidate=["1.0.0", "1.0.1"])
    assert channels(body, *_VERSIONS) == {
        "candidate-v1.0": ["1.0.0", "1.0.1 -1.0.0"],
        "stable-v1.0": ["1.0.0"],
    }


def test_the_default_channel_has_the_most_stable_archetype_and_the_preferred_type() -> None:
    both = {"generateMajorChannels": True, "generateMinorChannels": True}
    assert default_channel(semver(fast=["1.0.0"], candidate=["2.0.0"]), *_VERSIONS) == "fast-v1.0"
    assert default_channel(semver(stable=["1.0.0"], **both), *_VERSIONS) == "stable-v1.0"
    major = {**both, "defaultChannelTypePreference": "major"}
    assert default_channel(semver(stable=["1.0.0"], **major), *_VERSIONS) == "stable-v1"


def test_the_higher_minor_channel_takes_precedence_over_the_preferred_major_channel() -> None:
    both = {"generateMajorChannels": True, "generateMinorChannels": True}
    body = semver(stable=["1.0.1", "1.1.0"], defaultChannelTypePreference="major", **both)
    assert default_channel(body, *_VERSIONS) == "stable-v1.1"


def test_a_package_with_only_pre_releases_of_0_0_0_has_no_default_channel() -> None:
    assert default_channel(semver(candidate=["0.0.0-alpha"]), "0.0.0-alpha") == ""


def test_a_package_has_icon_and_description_of_the_newest_bundle_of_its_default_channel() -> None:
    from base64 import b64encode  # noqa: PLC0415
    from json import dumps  # noqa: PLC0415

    csv = {
        "kind": "ClusterServiceVersion",
        "spec": {
            "description": "What it does",
            "icon": [{"base64data": "PHN\n2Zy8+", "mediatype": "image/svg+xml"}],
        },
    }
    embedded = {"type": "olm.bundle.object", "value": {"data": b64encode(dumps(csv).encode()).decode()}}
    bundle = blob("1.0.0")
    package = render(semver(stable=["1.0.0"]), {**bundle, "properties": [*bundle["properties"], embedded]})[0]
    assert list(package) == ["schema", "name", "defaultChannel", "icon", "description"]
    assert package["icon"] == {"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}


def test_a_duplicate_key_in_a_semver_template_is_refused() -> None:
    document = CatalogDocument(template({}).place, semver(stable=["1.0.0"]), repeated=(("stable",),))
    with pytest.raises(OpmError, match="duplicate key stable"):
        render_template(document, image_renderer(blob("1.0.0")), rejection_reason)


def test_a_basic_template_keeps_all_entries_except_bundles() -> None:
    other = {"schema": "custom.thing", "package": "op", "b": 1, "a": 2}
    channel = {
        "schema": "olm.channel",
        "name": "c",
        "package": "op",
        "entries": [{"name": "op.v1.0.0", "skips": []}],
    }
    entries = [other, channel, {"schema": "olm.bundle", "image": "op:1.0.0", "name": "ignored"}]
    found = render({"schema": "olm.template.basic", "entries": entries}, blob("1.0.0"))
    assert found[0] == other
    assert found[1]["entries"] == [{"name": "op.v1.0.0"}]
    assert found[2] == blob("1.0.0")


def entries_after_substitution(entries: list[dict[str, Any]], *bundles: Blob) -> list[str]:
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
    found = render(body, blob("1.0.9"))
    return [_entry_text(e) for b in found if b["schema"] == "olm.channel" for e in b["entries"]]


def test_a_substitute_gets_all_edges_of_its_base() -> None:
    entries = [
        {"name": "op.v0.9.0"},
        {"name": "op.v1.0.0", "replaces": "op.v0.9.0", "skipRange": "<0.9.0"},
        {"name": "op.v1.1.0", "replaces": "op.v1.0.0"},
    ]
    bundles = [blob(version) for version in ("0.9.0", "1.0.0", "1.1.0")]
    assert entries_after_substitution(entries, *bundles) == [
        "0.9.0",
        "1.0.0",
        "1.1.0<1.0.9 -1.0.0",
        "1.0.9<0.9.0 -1.0.0",
    ]


def test_an_entry_that_skips_the_base_skips_the_substitute() -> None:
    entries: list[dict[str, Any]] = [
        {"name": "op.v1.0.0"},
        {"name": "op.v1.1.0", "skips": ["op.v1.0.0"]},
    ]
    assert entries_after_substitution(entries, blob("1.0.0"), blob("1.1.0")) == [
        "1.0.0",
        "1.1.0 -1.0.9",
        "1.0.9 -1.0.0",
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"schema": "olm.semver"}, True),
        ({"Schema": "olm.template.basic"}, True),
        ({"schema": "olm.package"}, False),
        ([], False),
    ],
)
def test_a_template_is_recognised_by_its_schema(body: Any, expected: bool) -> None:
    assert is_template(template(body)) is expected
