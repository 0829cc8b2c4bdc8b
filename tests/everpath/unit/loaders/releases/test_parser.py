"""Parsing of releases.yaml: valid files, and the problems of invalid ones."""

from __future__ import annotations

import json

import pytest
import yaml

from everpath.errors import ReleasesError, UnreadableInput
from everpath.loaders.releases.formatting import format_releases, format_scalar
from everpath.loaders.releases.parser import load_releases, parse_releases
from everpath.releases.model import (
    BundleMetadata,
    ChannelDeclaration,
    DeclaredEdges,
    Membership,
    Release,
    ReleasesFile,
    Variant,
)
from tests.support.schemas import conforms

WHOLE = """\
package: searchkeeper
defaultChannel: stable
operator: ../operator/config
bundles: ../bundles
image: registry.example.com/searchkeeper-bundle
images: {searchkeeper: registry.example.com/searchkeeper}
deprecated: no longer developed
pins: ../pins.txt
properties: [{type: olm.maxOpenShiftVersion, value: "4.18"}]
dependencies: []
annotations: {com.redhat.openshift.versions: v4.12}
channels:
  - {name: alpha, deprecated: alpha ended with 0.2}
catalogs:
  - {name: v4.18, releases: "<0.4.0", channels: [stable]}
releases:
  - version: 0.2.1
    channels: [stable]
    withdrawn: true
    x-owner: {team: [a, b]}
  - version: 0.2.2
    channels: {stable: {replaces: 0.2.1}, candidate: }
    from: {replaces: 0.1.1-gone, skips: [0.2.1], range: ">=0.2.0 <0.2.2"}
    deprecated: soon
    minKubeVersion: 1.29.0
    procedures: [1, 2]
    engines: ["2.17.0", "2.19.4"]
    name: searchkeeper-0.2.2
    image: registry.example.com/other@sha256:00
    images: {searchkeeper: other}
    bundle: sha256:0000000000000000000000000000000000000000000000000000000000000000
    properties: []
    dependencies: [{type: olm.package, value: {packageName: other, version: ">1.0.0"}}]
    annotations: {a: b}
"""

READ = ReleasesFile(
    "searchkeeper",
    "stable",
    (
        Release("0.2.1", (Membership("stable"),), withdrawn="", extra={"x-owner": {"team": ["a", "b"]}}),
        Release(
            "0.2.2",
            (Membership("stable", DeclaredEdges("0.2.1")), Membership("candidate")),
            DeclaredEdges("0.1.1-gone", ("0.2.1",), ">=0.2.0 <0.2.2"),
            deprecated="soon",
            min_kube_version="1.29.0",
            procedures=(1, 2),
            engines=("2.17.0", "2.19.4"),
            name="searchkeeper-0.2.2",
            image="registry.example.com/other@sha256:00",
            images={"searchkeeper": "other"},
            bundle="sha256:" + "0" * 64,
            metadata=BundleMetadata(
                (),
                ({"type": "olm.package", "value": {"packageName": "other", "version": ">1.0.0"}},),
                {"a": "b"},
            ),
        ),
    ),
    operator=("../operator/config",),
    bundles="../bundles",
    image="registry.example.com/searchkeeper-bundle",
    images={"searchkeeper": "registry.example.com/searchkeeper"},
    deprecated="no longer developed",
    pins="../pins.txt",
    metadata=BundleMetadata(
        ({"type": "olm.maxOpenShiftVersion", "value": "4.18"},),
        (),
        {"com.redhat.openshift.versions": "v4.12"},
    ),
    channels=(ChannelDeclaration("alpha", "alpha ended with 0.2"),),
    catalogs=(Variant("v4.18", "<0.4.0", ("stable",)),),
)


_ALLOWED = "use letters, digits, dots, dashes and underscores"
_ELSEWHERE = "if it is published elsewhere, write its name"
_NOT_REPEATED = "give one of them a higher version, or remove it"


def _problems(text: str) -> list[str]:
    with pytest.raises(ReleasesError) as raised:
        parse_releases(text.encode(), "r.yaml")
    return raised.value.message.splitlines()


def _releases(text: str) -> str:
    return f"package: acme\ndefaultChannel: stable\nreleases:\n{text}"


def test_every_key_is_read() -> None:
    text = WHOLE.replace("0.1.1-gone", "searchkeeper-gone")
    expected = READ.releases[1]
    found = parse_releases(text.encode(), "r.yaml")
    assert found.releases[1].edges.replaces == "searchkeeper-gone"
    assert found.releases[1].channels == expected.channels
    assert found.releases[0] == READ.releases[0]
    assert (found.catalogs, found.channels, found.operator) == (READ.catalogs, READ.channels, READ.operator)
    assert (found.images, found.image, found.bundles) == (READ.images, READ.image, READ.bundles)
    assert (found.deprecated, found.releases[1].extra) == ("no longer developed", {})
    assert found.releases[1].bundle == expected.bundle
    assert (found.pins, found.metadata) == (READ.pins, READ.metadata)
    assert found.releases[1].metadata == expected.metadata


def test_every_key_is_in_the_schema_and_what_is_written_conforms_to_it() -> None:
    found = parse_releases(WHOLE.replace("0.1.1-gone", "gone").encode(), "r.yaml")
    written = format_releases(found, "s.json")
    assert parse_releases(written.encode(), "r.yaml") == found
    conforms("releases", yaml.safe_load(written))


def test_places_lead_to_lines() -> None:
    found = parse_releases(_releases("- {version: 0.1.0, channels: [stable]}").encode(), "r.yaml")
    assert found.releases[0].place.pointer == ("releases", 0)


def test_all_problems_are_reported_with_their_lines() -> None:
    assert _problems("""\
package: a/b
defaultChanel: stable
defaultChannel: stabel
catalogs: [{name: x/y, channels: [nope], releases: "<1"}]
releases:
- version: 0.1
  channels: [stable]
- version: 0.2.0
  chanels: [stable]
- version: 0.2.0
  channels: {stable: {replaces: 0.1.9, range: ">=v1"}}
""") == [
        "r.yaml:1:10: 'a/b' is not a valid package name; use letters, digits, dots and dashes",
        "r.yaml:2:1: unknown key 'defaultChanel'; did you mean 'defaultChannel'?",
        "r.yaml:3:17: no release is in the default channel 'stabel'; did you mean stable?",
        f"r.yaml:4:19: 'x/y' is not a valid folder name; {_ALLOWED}",
        "r.yaml:4:35: no release is in the channel 'nope'; known: stable",
        "r.yaml:4:52: '<1' is not a range: a version has three numbers, MAJOR.MINOR.PATCH; write '<1.0.0'",
        "r.yaml:6:12: version must be text such as 1.2.3, not 0.1",
        "r.yaml:8:3: channels is missing; write [] for a release that is in no channel",
        "r.yaml:9:3: unknown key 'chanels'; did you mean 'channels'?",
        f"r.yaml:10:12: a/b.v0.2.0 is released twice; {_NOT_REPEATED}",
        f"r.yaml:11:33: no release has the version 0.1.9; {_ELSEWHERE}: a/b.v0.1.9",
        "r.yaml:11:47: '>=v1' is not a range: a version starts with a digit, not with a v; write '>=1.0.0'",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "r.yaml:1:1: the file must be a mapping, not nothing"),
        ("[]", "r.yaml:1:1: the file must be a mapping, not a list"),
        ("package: a", "r.yaml:1:1: defaultChannel is missing"),
        ("package: a\npackage: b\ndefaultChannel: s\nreleases: []", "r.yaml:2:1: duplicate key"),
        ("package: [\n", "r.yaml:2:1: did not find expected node content"),
        (_releases("- {version: 0.1.x, channels: [stable]}"), "'0.1.x' is not a version: 'x' is not allowed"),
        (_releases("- {version: 0.1.0, channels: stable}"), "channels must be a list, not text"),
        (_releases("- {version: 0.1.0, channels: [stable, stable]}"), "the channel 'stable' is listed twice"),
        (
            _releases("- {version: 0.1.0, channels: [stable], from: {replaces: 0.1.0}}"),
            "0.1.0 is the release itself",
        ),
        (_releases("- {version: 0.1.0, channels: [stable], from: {range: '||'}}"), "r.yaml:4:"),
        (
            _releases("- {version: 0.1.0, channels: [stable], from: {range: '<0.1.0 || || <0.2.0'}}"),
            "crashes OLM",
        ),
        (
            _releases("- {version: 0.1.0, channels: [stable], from: {zstream: 1}}"),
            "zstream must be true or false, not 1",
        ),
        (
            _releases("- {version: 0.1.0, channels: [stable], minKubeVersion: 1.29}"),
            "such as 1.29.0, not 1.29",
        ),
        (_releases("- {version: 0.1.0, channels: [stable], minKubeVersion: v1}"), "'v1' is not a version"),
        (_releases("- {version: 0.1.0, channels: [stable], procedures: [a]}"), "a whole number, not text"),
        (_releases("- {version: 0.1.0, channels: [stable], bundle: md5:1}"), "'md5:1' is neither a digest"),
        (_releases("- {version: 0.1.0, channels: [stable], name: ''}"), "name must not be empty"),
        (
            _releases("- {version: 0.1.0, channels: [stable], name: ../x}"),
            "'../x' is not a valid CSV name",
        ),
        (
            _releases("- {version: 0.1.0, channels: [stable], withdrawn: bad}"),
            "everpath release VERSION --channel stable --withdraw 0.1.0",
        ),
        (
            _releases(
                "- {version: 0.1.0, channels: [stable], name: a}\n"
                "- {version: 0.1.0, channels: [fast], name: b}\n"
                "- {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}}"
            ),
            "several releases have the version 0.1.0; write a name: a or b",
        ),
        (
            "channels: [{name: a}, {name: a}]\n" + _releases("- {version: 0.1.0, channels: [stable]}"),
            "r.yaml:1:23: the channel 'a' is declared twice",
        ),
        (
            "catalogs: [{name: a}, {name: a}]\n" + _releases("- {version: 0.1.0, channels: [stable]}"),
            "r.yaml:1:23: two catalogs have the name 'a'",
        ),
        (
            "catalogs: [{releases: '<1.0.0'}]\n" + _releases("- {version: 0.1.0, channels: [stable]}"),
            "r.yaml:1:12: name is missing in an item of catalogs",
        ),
    ],
)
def test_problem_is_reported(text: str, problem: str) -> None:
    assert problem in "\n".join(_problems(text))


def test_withdrawn_head_of_one_variant_is_reported() -> None:
    text = "catalogs: [{name: old, releases: '<0.2.0'}]\n" + _releases(
        "- {version: 0.1.0, channels: [stable], withdrawn: bad}\n"
        "- {version: 0.2.0, channels: [stable], from: {replaces: 0.1.0}}"
    )
    assert "in the channel 'stable' of old" in _problems(text)[0]


def test_missing_file_has_a_hint_about_init() -> None:
    with pytest.raises(UnreadableInput) as raised:
        load_releases("nowhere/releases.yaml")
    assert raised.value.hint == "create one with everpath init, or choose another with --file"


_TEXTS = [
    "0.1.0",
    "1.10",
    "1e3",
    "yes",
    "on",
    "null",
    "~",
    "0x1f",
    "1:30",
    "a: b",
    "a #b",
    " a",
    "- a",
    "{a",
    "é\n",
    "2026-11-16",
    "a:b",
    ".5",
    "../x",
    "=",
    "",
    "012",
    "1_0",
    "!x",
    "%a",
    "@a",
]


@pytest.mark.parametrize("text", [*_TEXTS, "\u2028"])
def test_any_text_is_written_so_that_every_parser_reads_it_back(text: str) -> None:
    written = f"a: {format_scalar(text)}\n"
    assert yaml.safe_load(written)["a"] == text
    if text:
        quoted = _releases(f"- {{version: 0.1.0, channels: [stable], x-a: {format_scalar(text)}}}")
        assert parse_releases(quoted.encode(), "r.yaml").releases[0].extra == {"x-a": text}


def test_long_lists_are_written_one_line_each() -> None:
    skips = tuple(f"0.1.{n}" for n in range(30))
    others = tuple(Release(version, (Membership("stable"),)) for version in skips)
    made = ReleasesFile(
        "acme", "stable", (*others, Release("0.2.0", (Membership("stable"),), DeclaredEdges(skips=skips)))
    )
    written = format_releases(made, "s.json")
    assert "      skips:\n        - 0.1.0\n        - 0.1.1\n" in written
    assert parse_releases(written.encode(), "r.yaml") == made


def test_the_schema_knows_every_key_the_reader_knows() -> None:
    from everpath.loaders.releases import parser  # noqa: PLC0415
    from tests.support.schemas import SCHEMAS  # noqa: PLC0415

    schema = json.loads((SCHEMAS / "releases.schema.json").read_text())
    release = schema["$defs"]["release"]
    assert set(schema["properties"]) == set(parser._KEYS)
    assert set(release["properties"]) == set(parser._RELEASE_KEYS)
    assert set(schema["$defs"]["from"]["properties"]) == set(parser._EDGE_KEYS)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("properties: x", "r.yaml:3:13: properties must be a list, not text"),
        ("properties: [{type: a}]", "r.yaml:3:14: value is missing in an item of properties"),
        ("properties: [{value: a}]", "r.yaml:3:14: type is missing in an item of properties"),
        ("dependencies: [{type: a, value: 1, more: 2}]", "unknown key 'more'"),
        (
            "properties: [{type: olm.package, value: {}}]",
            "everpath generates olm.package from the manifests; remove it",
        ),
        ("annotations: {a: 1}", "r.yaml:3:18: a must be text, not 1"),
        (
            "annotations: {operators.operatorframework.io.bundle.package.v1: x}",
            "everpath generates the annotation operators.operatorframework.io.bundle.package.v1; remove it",
        ),
        ("pins: []", "r.yaml:3:7: pins must be text, not a list"),
    ],
)
def test_problem_of_metadata_is_reported_with_its_place(text: str, problem: str) -> None:
    lines = _problems(f"package: acme\ndefaultChannel: stable\n{text}\nreleases: []\n")
    assert any(problem in line for line in lines), lines


def test_missing_key_does_not_hide_other_problems() -> None:
    text = "pakage: acme\ndefaultChannel: stable\nreleases:\n- {version: 1, channels: [stable]}\n"
    text += "- {version: 0.2.0, channels: [stable], from: {replaces: 0.1.9}}\n"
    with pytest.raises(ReleasesError) as raised:
        parse_releases(text.encode(), "r.yaml")
    lines = raised.value.message.splitlines()
    assert [line.partition(": ")[2].partition(";")[0] for line in lines] == [
        "package is missing",
        "unknown key 'pakage'",
        "version must be text such as 1.2.3, not 1",
        "no release has the version 0.1.9",
    ]
    assert (raised.value.hint or "").startswith("https://")
