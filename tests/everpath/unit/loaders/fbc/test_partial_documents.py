"""The partial parsers accept the layouts that tools write, and decline the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.loaders.fbc import partial_json as fbc_lazy_json
from everpath.loaders.fbc import partial_yaml as fbc_lazy
from everpath.loaders.fbc.document_splitter import JsonChunk, RawDocument, split_json, split_yaml
from everpath.loaders.fbc.loader import load_fbc
from everpath.loaders.fbc.partial_json import PartialJsonParser
from everpath.loaders.fbc.partial_yaml import PartialYamlParser
from everpath.loaders.sources import Sources
from everpath.model import UNREAD
from everpath.model.builder import CatalogBuilder
from everpath.parsing import json_parser, yaml_parser, yaml_subset
from tests.bench.make_catalog import Format, make_catalog

FLUSH = b"""---
image: registry.example/op:v1.0.0
name: op.v1.0.0
package: op
properties:
- type: olm.gvk
  value:
    group: a.b
    kind: Thing
    version: v1
- type: olm.package
  value:
    packageName: op
    version: 1.0.0
- type: olm.csv.metadata
  value:
    annotations:
      alm-examples: |-
        [{"a": "- type: olm.package"}]

      note: 'quoted
        text'
    description: |
      - type: olm.package
relatedImages:
- image: registry.example/op:v1.0.0
  name: ""
schema: olm.bundle
"""
METADATA = FLUSH[FLUSH.index(b"- type: olm.csv.metadata") : FLUSH.index(b"relatedImages")]
VALUE = {
    "image": "registry.example/op:v1.0.0",
    "name": "op.v1.0.0",
    "package": "op",
    "properties": [
        {"type": "olm.gvk", "value": {"group": "a.b", "kind": "Thing", "version": "v1"}},
        {"type": "olm.package", "value": {"packageName": "op", "version": "1.0.0"}},
        {"type": "olm.csv.metadata", "value": {}},
    ],
    "relatedImages": [{"image": "registry.example/op:v1.0.0", "name": ""}],
    "schema": "olm.bundle",
}


def _indented(text: bytes) -> bytes:
    """The same with the items of lists two columns in."""
    lines = text.split(b"\n")
    return b"\n".join(b"  " + line if line[:2] in (b"- ", b"  ") else line for line in lines)


@pytest.mark.parametrize("text", [FLUSH, _indented(FLUSH), FLUSH.removeprefix(b"---\n"), FLUSH + b"\n"])
def test_a_rendered_bundle_is_read_without_its_metadata(text: bytes) -> None:
    skeleton = PartialYamlParser().parse(text)
    assert skeleton is not None
    assert (skeleton.value, skeleton.is_complete) == (VALUE, False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'  name: ""\n', b"  name: on\n"),
        (b'  name: ""\n', b"  name: n\n"),
        (b"quoted", b"caf\xc3\xa9"),
        (b"package: op\n", b"package: op\nicon:\n  base64data: e30=\n  mediatype: x\n"),
        (b"    version: 1.0.0\n", b"    version: 1.0.0\n    release: 1\n"),
        (b"    version: 1.0.0\n", b"    version: 1.0\n"),
        (b"packageName: op\n", b"packageName: on\n"),
    ],
)
def test_small_differences_are_taken_as_a_parser_takes_them(old: bytes, new: bytes) -> None:
    assert old in FLUSH
    text = FLUSH.replace(old, new, 1)
    skeleton = PartialYamlParser().parse(text)
    assert skeleton is not None
    assert _small(skeleton.value) == _small(yaml_parser.load(text))


def test_objects_are_passed_over() -> None:
    text = b"schema: olm.bundle\nproperties:\n" + b"- type: olm.bundle.object\n  value:\n    data: e30=\n" * 3
    skeleton = PartialYamlParser().parse(text)
    assert skeleton is not None
    assert skeleton.value["properties"] == [{"type": "olm.bundle.object", "value": {}}] * 3


def test_a_channel_is_read_as_a_whole() -> None:
    text = b"schema: olm.channel\nentries:\n- name: b\n  replaces: a\n  skips:\n  - x\n  - z\n- name: a\n"
    skeleton = PartialYamlParser().parse(text)
    assert skeleton is not None
    assert skeleton.is_complete
    assert skeleton.value["entries"] == [{"name": "b", "replaces": "a", "skips": ["x", "z"]}, {"name": "a"}]


@pytest.mark.parametrize(
    ("what", "old", "new"),
    [
        ("a carriage return", b"image:", b"x: y\r\nimage:"),
        ("another break of lines", b"quoted", b"quo\xe2\x80\xa8ted"),
        ("what is not UTF-8", b"quoted", b"\xff"),
        ("a null byte", b"quoted", b"\0"),
        ("a first key that stands in", b"---\nimage", b"---\n image"),
        ("a comment", b"package: op\n", b"package: op # the package\n"),
        ("an anchor", b"package: op\n", b"package: &p op\n"),
        ("a key twice in an item", b'  name: ""\n', b"  image: b\n"),
        ("a tag", b"package: op\n", b"package: !!str op\n"),
        ("a key twice", b"schema: olm.bundle\n", b"schema: olm.bundle\npackage: op\n"),
        ("a key that is a truth value", b"package: op\n", b"package: op\ny: op\n"),
        ("a list in flow style", b"relatedImages:\n", b"other: [a]\nrelatedImages:\n"),
        ("the end of a document", b"schema: olm.bundle\n", b"schema: olm.bundle\n...\n"),
        ("a second metadata value", b"relatedImages:\n", METADATA + b"relatedImages:\n"),
        ("a key beside the metadata", b"relatedImages:\n", b"  other: |\n    a\nrelatedImages:\n"),
        ("a list two columns out", b"    packageName", b"  packageName"),
    ],
)  # fmt: skip
def test_what_is_out_of_shape_is_declined(what: str, old: bytes, new: bytes) -> None:
    assert old in FLUSH, what
    assert PartialYamlParser().parse(FLUSH.replace(old, new, 1)) is None


def test_a_quoted_scalar_that_runs_over_the_end_of_the_metadata_is_declined() -> None:
    text = FLUSH.replace(b"'quoted\n        text'", b"'quoted")
    assert PartialYamlParser().parse(text + b"last: it'\n") is None


def test_the_same_pieces_are_read_once() -> None:
    skeletons = PartialYamlParser()
    first, second = skeletons.parse(FLUSH), skeletons.parse(FLUSH)
    assert first is not None
    assert second is not None
    assert first.value["properties"][0] is second.value["properties"][0]


JSON = b"""{
    "schema": "olm.bundle",
    "name": "op.v1.0.0",
    "package": "op",
    "properties": [
        {"type": "olm.package", "value": {"packageName": "op", "version": "1.0.0"}},
        {"type": "olm.csv.metadata", "value": {"displayName": "x"}}
    ]
}"""


def test_a_json_bundle_is_read_without_its_metadata() -> None:
    skeleton = PartialJsonParser().parse(JSON)
    assert skeleton is not None
    assert skeleton.value == {
        "schema": "olm.bundle",
        "name": "op.v1.0.0",
        "package": "op",
        "image": "",
        "relatedImages": [],
        "properties": [
            {"type": "olm.package", "value": {"packageName": "op", "version": "1.0.0"}},
            {"type": "olm.csv.metadata", "value": UNREAD},
        ],
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"schema": "olm.bundle"', b'"schema": "olm.channel"'),
        (b'"schema": "olm.bundle"', b'"Schema": "olm.bundle"'),
        (b'"name": "op.v1.0.0"', b'"name": 1'),
        (b'"name": "op.v1.0.0"', b'"name": "\xff"'),
        (b'"package": "op"', b'"package": "op", "other": 1'),
        (b'{"type": "olm.package", ', b'{"type": "olm.package", "other": 1, '),
        (b'"version": "1.0.0"', b'"version": 9007199254740993'),
        (b'"x"}}', b'"x"}}}'),
    ],
)
def test_json_that_is_out_of_shape_is_declined(old: bytes, new: bytes) -> None:
    assert old in JSON
    assert PartialJsonParser().parse(JSON.replace(old, new, 1)) is None


@pytest.mark.corpus
@pytest.mark.parametrize(("fmt", "megabytes", "least"), [("yaml", 200, 8000), ("json", 30, 1000)])
def test_every_document_of_the_corpus_is_read_the_same_way_lazily_and_by_a_parser(
    corpus: Path, tmp_path: Path, fmt: Format, megabytes: int, least: int
) -> None:
    make_catalog(corpus, tmp_path, megabytes, fmt)
    compared = declined = 0
    for path in sorted(tmp_path.rglob(f"*.{fmt}")):
        with path.open("rb") as stream:
            skeletons = PartialYamlParser() if fmt == "yaml" else PartialJsonParser()
            for item in split_yaml(stream) if fmt == "yaml" else split_json(stream):
                assert isinstance(item, RawDocument | JsonChunk)
                skeleton = skeletons.parse(item.text)
                compared += 1
                declined += skeleton is None
                if skeleton is not None:
                    assert _small(skeleton.value) == _small(_parsed(item.text, fmt)), (
                        f"{path} at byte {item.offset}"
                    )
    assert compared > least
    assert declined < compared / (50 if fmt == "yaml" else 5)


def _parsed(text: bytes, fmt: Format) -> dict[str, object]:
    value: dict[str, object] = (yaml_parser.parse(text) if fmt == "yaml" else json_parser.parse(text)).value
    return {"image": "", "relatedImages": []} | value if fmt == "json" else value


def _small(document: dict[str, object]) -> dict[str, object]:
    properties = document.get("properties")
    for stated in properties if isinstance(properties, list) else ():
        if stated["type"] in ("olm.csv.metadata", "olm.bundle.object"):
            stated["value"] = UNREAD
    return document


@pytest.mark.corpus
def test_a_catalog_of_the_corpus_has_no_problems(corpus: Path, tmp_path: Path) -> None:
    figures = make_catalog(corpus, tmp_path, 20, "yaml")
    builder = CatalogBuilder()
    load_fbc(str(tmp_path), builder, Sources())
    catalog = builder.build("corpus")
    assert catalog.problems == ()
    assert (len(catalog.packages), sum(len(p.bundles) for p in catalog.packages)) == (
        figures.packages,
        figures.bundles,
    )


def test_a_hostile_catalog_does_not_fill_the_memory_of_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fbc_lazy, "CACHE_SIZE", 10)
    monkeypatch.setattr(fbc_lazy_json, "CACHE_SIZE", 10)
    skeletons, objects = PartialYamlParser(), PartialJsonParser()
    for i in range(30):
        assert skeletons.parse(FLUSH.replace(b"kind: Thing", b"kind: Thing%d" % i)) is not None
        assert objects.parse(JSON.replace(b'"version": "1.0.0"', b'"version": "1.0.%d"' % i)) is not None
    sizes = [len(d) for o in (skeletons, objects) for d in vars(o).values()]
    assert sizes == [10, 10]


def test_the_quick_reader_of_blocks_knows_its_depth() -> None:
    lines = [" " * i + "a:" for i in range(60)]
    assert yaml_subset.parse_simple_yaml("\n".join(lines[:40]).encode()) is not None
    assert yaml_subset.parse_simple_yaml("\n".join(lines).encode()) is None
