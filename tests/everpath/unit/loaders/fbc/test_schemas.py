"""From documents to the model."""

from __future__ import annotations

from io import BytesIO
from textwrap import dedent

import pytest

from everpath.loaders.fbc.loader import load_fbc
from everpath.loaders.sources import Sources
from everpath.model import (
    UNREAD,
    Bundle,
    Channel,
    Declaration,
    DeprecationEntry,
    Deprecations,
    Entry,
    Other,
    Place,
    Property,
)
from everpath.model.builder import CatalogBuilder
from tests.support.everpath.loaded_catalogs import read, read_lazily

CATALOG = dedent("""
    ---
    schema: olm.package
    name: op
    defaultChannel: stable
    ---
    schema: olm.channel
    name: stable
    package: op
    entries:
      - name: op.v1.1.0
        replaces: op.v1.0.0
        skips: [op.v1.0.1, op.v1.0.2]
        skipRange: '>=1.0.0 <1.1.0'
      - name: op.v1.0.0
    ---
    schema: olm.bundle
    name: op.v1.1.0
    package: op
    image: registry.example/op:v1.1.0
    properties:
      - type: olm.package
        value: {packageName: op, version: 1.1.0, release: "2"}
      - type: olm.gvk
        value: {group: a.b, kind: Thing, version: v1}
    relatedImages:
      - {name: "", image: registry.example/op:v1.1.0}
      - {name: helper, image: registry.example/helper:1}
    ---
    schema: olm.deprecations
    package: op
    entries:
      - reference: {schema: olm.bundle, name: op.v1.0.0}
        message: too old
      - reference: {schema: olm.package}
        message: all of it
    ---
    schema: custom
    package: op
    name: note
""").lstrip("\n")


def at(schema: str, *pointer: str | int) -> Place:
    """A place in the document of a schema."""
    return Place("-", CATALOG.index(f"schema: {schema}\n"), pointer)


def test_all_schemas_of_a_catalog() -> None:
    catalog = read(CATALOG)
    (package,) = catalog.packages
    assert package.declarations == (Declaration(Place("-", 0), "stable"),)
    assert package.channels == (
        Channel(
            "stable",
            "op",
            at("olm.channel"),
            (
                Entry(
                    "op.v1.1.0",
                    at("olm.channel", "entries", 0),
                    replaces="op.v1.0.0",
                    skips=("op.v1.0.1", "op.v1.0.2"),
                    skip_range=">=1.0.0 <1.1.0",
                ),
                Entry("op.v1.0.0", at("olm.channel", "entries", 1)),
            ),
        ),
    )
    assert package.bundles == (
        Bundle(
            "op.v1.1.0",
            "op",
            "1.1.0",
            at("olm.bundle"),
            image="registry.example/op:v1.1.0",
            release="2",
            properties=(
                Property(
                    "olm.package",
                    {"packageName": "op", "version": "1.1.0", "release": "2"},
                    at("olm.bundle", "properties", 0),
                ),
                Property(
                    "olm.gvk",
                    {"group": "a.b", "kind": "Thing", "version": "v1"},
                    at("olm.bundle", "properties", 1),
                ),
            ),
            related_images=(("", "registry.example/op:v1.1.0"), ("helper", "registry.example/helper:1")),
        ),
    )
    assert package.deprecations == (
        Deprecations(
            "op",
            at("olm.deprecations"),
            (
                DeprecationEntry("olm.bundle", "op.v1.0.0", "too old", at("olm.deprecations", "entries", 0)),
                DeprecationEntry("olm.package", "", "all of it", at("olm.deprecations", "entries", 1)),
            ),
        ),
    )
    assert catalog.others == (Other("custom", "op", "note", at("custom")),)
    assert catalog.problems == ()


METADATA = """
    schema: olm.bundle
    name: op.v1.0.0
    package: op
    properties:
    - type: olm.csv.metadata
      value:
        displayName: The Operator
    - type: olm.bundle.object
      value:
        data: e30=
"""


def test_big_values_stay_unread() -> None:
    for catalog in (read(METADATA), read_lazily(METADATA)):
        (bundle,) = catalog.packages[0].bundles
        assert [p.value for p in bundle.properties] == [UNREAD, UNREAD]
        assert bundle.has_objects


def test_a_thorough_reading_keeps_the_metadata_but_not_the_objects() -> None:
    (bundle,) = read(METADATA, thorough=True).packages[0].bundles
    assert [p.value for p in bundle.properties] == [{"displayName": "The Operator"}, UNREAD]


def test_keys_match_in_any_case_at_every_depth() -> None:
    catalog = read("""
        Schema: olm.channel
        NAME: stable
        pAcKaGe: op
        Entries:
        - NAME: a
          Replaces: b
          SKIPRANGE: <1.0.0
    """)
    (entry,) = catalog.packages[0].channels[0].entries
    assert (entry.name, entry.replaces, entry.skip_range) == ("a", "b", "<1.0.0")


def test_of_two_keys_that_differ_in_case_the_one_that_sorts_last_wins() -> None:
    catalog = read(
        "schema: olm.channel\npackage: op\nentries: [{name: a, skipRange: <1.0.0, skiprange: <2.0.0}]\n"
    )
    assert catalog.packages[0].channels[0].entries[0].skip_range == "<2.0.0"


def test_a_bundle_without_its_identity_has_no_version() -> None:
    bundle = read("schema: olm.bundle\nname: a\npackage: op\n").packages[0].bundles[0]
    assert (bundle.version, bundle.release, bundle.image, bundle.properties) == (None, None, "", ())


@pytest.mark.parametrize("value", ["{version: 1.0}", "{}", "text", "null", "{packageName: op}"])
def test_an_identity_of_another_shape_gives_no_version(value: str) -> None:
    text = f"schema: olm.bundle\nname: a\npackage: op\nproperties: [{{type: olm.package, value: {value}}}]\n"
    assert read(text).packages[0].bundles[0].version is None


def test_the_keys_of_an_identity_match_in_any_case() -> None:
    text = "schema: olm.bundle\nname: a\nproperties: [{type: olm.package, value: {Version: 1.0.0}}]\n"
    assert read(text).packages[0].bundles[0].version == "1.0.0"


def test_null_is_as_good_as_nothing() -> None:
    catalog = read("""
        schema: olm.channel
        name: stable
        package: op
        entries: [null, {name: a, replaces: null, skips: null, skipRange: null}, {name: b, skips: [null]}]
        properties: null
    """)
    entries = catalog.packages[0].channels[0].entries
    assert [(e.name, e.replaces, e.skips, e.skip_range) for e in entries] == [
        ("", None, (), None),
        ("a", None, (), None),
        ("b", None, ("",), None),
    ]
    assert catalog.problems == ()


def test_documents_about_one_package_meet_wherever_they_stand() -> None:
    catalog = read("""
        schema: olm.channel
        name: b
        package: op
        ---
        schema: olm.package
        name: other
        ---
        schema: olm.package
        name: op
        ---
        schema: olm.channel
        name: a
        package: op
    """)
    assert [(p.name, len(p.declarations), [c.name for c in p.channels]) for p in catalog.packages] == [
        ("op", 1, ["b", "a"]),
        ("other", 1, []),
    ]


@pytest.mark.parametrize(("release", "kept"), [('"2"', "2"), ('""', None), ("2", None), ("null", None)])
def test_a_release_is_text_or_nothing(release: str, kept: str | None) -> None:
    value = f"{{packageName: op, version: 1.0.0, release: {release}}}"
    text = f"schema: olm.bundle\nname: a\nproperties: [{{type: olm.package, value: {value}}}]\n"
    assert read(text).packages[0].bundles[0].release == kept


def test_metadata_is_not_kept_unless_asked_for() -> None:
    builder = CatalogBuilder()
    sources = Sources()
    sources.add_stream("-", BytesIO(dedent(METADATA).encode()))
    load_fbc("-", builder, sources)
    (bundle,) = builder.build("x").packages[0].bundles
    assert bundle.properties[0].value is UNREAD


def _misshapen(padding: int) -> str:
    return dedent("""\
        schema: olm.bundle
        name: op.v1
        package: op
        properties:
        - type: olm.csv.metadata
          value:
            keywords: text
            description: %s
    """).replace("%s", "x" * padding)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (_misshapen(1), True),
        (_misshapen(1 << 20), False),
        (
            _misshapen(1 << 20)
            .replace("keywords: text", "keywords: {a: &b c, d: *b}")
            .replace("name: op.v1", "name: !!str op.v1"),
            True,
        ),
        (_misshapen(1).replace("keywords: text", "keywords: [text]"), False),
    ],
)
def test_metadata_of_the_wrong_shape_is_kept_where_it_was_parsed(text: str, kept: bool) -> None:
    builder = CatalogBuilder()
    sources = Sources()
    sources.add_stream("-", BytesIO(text.encode()))
    load_fbc("-", builder, sources)
    (bundle,) = builder.build("x").packages[0].bundles
    assert (bundle.properties[0].value is not UNREAD) is kept
