"""Hostile inputs: too large, too deep, binary, cut short. A problem or a clear error, in bounded memory."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import pytest

from everpath.errors import UnreadableInput
from everpath.loaders.fbc import document_splitter
from everpath.loaders.fbc import loader as fbc
from everpath.loaders.fbc.loader import load_fbc
from everpath.loaders.sources import MEBIBYTE, Sources
from everpath.model.builder import CatalogBuilder
from tests.support.everpath.loaded_catalogs import problems, problems_of, read, read_lazily

PACKAGE = b"schema: olm.package\nname: %b\n"


def _sparse(path: Path, head: bytes, megabytes: int, tail: bytes = b"") -> Path:
    """A file with a hole of null bytes: large without taking room on the disk."""
    with path.open("wb") as file:
        file.write(head)
        file.seek(megabytes * MEBIBYTE)
        file.write(tail)
    return path


@pytest.mark.exhaustive
def test_a_document_of_100_mb_is_refused_in_little_memory(tmp_path: Path) -> None:
    head = PACKAGE % b"a" + b"---\nschema: x\n" + b"a: b\n" * 2000
    path = _sparse(tmp_path / "catalog.yaml", head, 100, b"\n---\n" + PACKAGE % b"b")
    tracemalloc.start()
    catalog = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [package.name for package in catalog.packages] == ["a", "b"]
    (problem,) = catalog.problems
    assert (problem.kind, problem.message) == (
        "unreadable-document",
        "the document is larger than 64 MiB and is not read",
    )
    assert peak < 160 * MEBIBYTE


def test_a_json_document_of_100_mb_is_refused(tmp_path: Path) -> None:
    head = b'{"schema": "olm.package", "name": "a"}\n{"schema": "x", "a": "' + b"x" * 10_000
    path = _sparse(tmp_path / "catalog.json", head, 100, b'"}\n{"schema": "olm.package", "name": "b"}\n')
    catalog = read(path)
    assert [package.name for package in catalog.packages] == ["a", "b"]
    assert [problem.kind for problem in catalog.problems] == ["unreadable-document"]


def test_many_documents_of_any_total_size_are_read_piece_by_piece(tmp_path: Path) -> None:
    data = b"A" * 100_000
    head = b"---\nschema: olm.bundle\nname: b%d\npackage: op\nproperties:\n"
    bundle = head + b"- type: olm.bundle.object\n  value:\n    data: %b\n"
    path = tmp_path / "catalog.yaml"
    with path.open("wb") as file:
        file.writelines(bundle % (i, data) for i in range(300))
    tracemalloc.start()
    (package,) = read(path).packages
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(package.bundles) == 300
    assert peak < 16 * MEBIBYTE < path.stat().st_size


def test_a_large_binary_file_is_left_at_its_first_bytes(tmp_path: Path) -> None:
    _sparse(tmp_path / "disk.img", b"\x7fELF\0", 2000)
    assert problems_of(tmp_path) == ["disk.img not-a-catalog-file"]


def test_standard_input_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = Sources()
    with pytest.raises(UnreadableInput, match="standard input is larger than 1 MiB"):
        sources.add_stream("-", io.BytesIO(b"x" * (MEBIBYTE + 1)), MEBIBYTE)
    sources.add_stream("-", io.BytesIO(b"x" * MEBIBYTE), MEBIBYTE)
    assert len(sources.read("-")) == MEBIBYTE


@pytest.mark.parametrize("text", [b"", b"\n"[:0]])
def test_empty_standard_input_is_an_error(text: bytes) -> None:
    sources = Sources()
    sources.add_stream("-", io.BytesIO(text))
    with pytest.raises(UnreadableInput, match="standard input contains no catalog"):
        load_fbc("-", CatalogBuilder(), sources)


def test_standard_input_must_be_there() -> None:
    with pytest.raises(UnreadableInput):
        load_fbc("-", CatalogBuilder(), Sources())


def test_nesting_is_refused_in_json_too() -> None:
    for depth in (600, 100_000):
        text = b'{"schema": "x", "a": ' + b"[" * depth + b"]" * depth + b"}"
        assert [problem.partition(" ")[0] for problem in problems(text)] == ["unreadable-document"]


def test_an_alias_bomb_is_a_problem() -> None:
    lines = [b"schema: x", b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [b"a%d: &a%d [%b]" % (i, i, b", ".join([b"*a%d" % (i - 1)] * 10)) for i in range(1, 12)]
    (problem,) = problems(b"\n".join(lines))
    assert problem.startswith("unreadable-document")
    assert "alias bomb" in problem


RENDERED = b"""---
schema: olm.bundle
name: op.v1.0.0
package: op
image: registry.example/op:1
properties:
- type: olm.csv.metadata
  value:
    description: |-
      a text
    displayName: "quoted"
relatedImages:
- image: registry.example/op:1
  name: ""
"""


@pytest.mark.parametrize("kept", [RENDERED.index(b"quoted"), len(RENDERED) - 2])
def test_a_file_cut_short_is_noticed_even_in_what_nobody_reads(kept: int) -> None:
    catalog = read_lazily(RENDERED + RENDERED[:kept])
    assert [problem.kind for problem in catalog.problems] == ["unreadable-document"]
    assert len(catalog.packages[0].bundles) == 1


def test_bad_metadata_in_a_small_catalog_is_noticed() -> None:
    broken = RENDERED.replace(b'"quoted"', b'"a": b: c')
    assert [problem.partition(" ")[0] for problem in problems(broken + RENDERED)] == ["unreadable-document"]


def test_bad_metadata_amid_a_large_catalog_is_noticed_by_a_thorough_reading() -> None:
    broken = RENDERED.replace(b'"quoted"', b'"a": b: c')
    assert read_lazily(broken + RENDERED).problems == ()
    assert [p.kind for p in read(broken + RENDERED, thorough=True).problems] == ["unreadable-document"]


def told(item: document_splitter.RawDocument | document_splitter.SplitError) -> tuple[object, ...]:
    """Without what a reader may use to save time."""
    return item if isinstance(item, document_splitter.SplitError) else (item.offset, item.text)


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64])
def test_where_blocks_end_does_not_matter(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = (
        PACKAGE % b"a" + b"---\n" + RENDERED + b"--- # c\n" + PACKAGE % b"c" + b"---\n---\n--- x\n" + RENDERED
    )
    whole = list(document_splitter.split_yaml(io.BytesIO(stream)))
    objects = b'{"a": 1}\n{"b": 2}\r\n \n{"c": 3} {"d": 4}\n'
    whole_objects = list(document_splitter.split_json(io.BytesIO(objects)))
    monkeypatch.setattr(document_splitter, "_BLOCK", block)
    cut = list(document_splitter.split_yaml(io.BytesIO(stream)))
    assert [told(item) for item in cut] == [told(item) for item in whole]
    assert list(document_splitter.split_json(io.BytesIO(objects))) == whole_objects
    assert [item.text for item in whole_objects if isinstance(item, document_splitter.JsonChunk)] == [
        b'{"a": 1}\n',
        b'{"b": 2}\r\n \n',
        b'{"c": 3} {"d": 4}\n',
    ]


@pytest.mark.parametrize("of", ["file", "folder"])
def test_up_to_a_size_all_of_a_catalog_is_checked(
    of: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "catalog.yaml"
    path.write_bytes(RENDERED.replace(b'"quoted"', b'"a": b: c') + RENDERED)
    asked = path if of == "file" else tmp_path
    monkeypatch.setattr(fbc, "_PARSED_SIZE", 0)
    monkeypatch.setattr(fbc, "_CHECKED_SIZE", path.stat().st_size)
    assert [problem.kind for problem in read(asked).problems] == ["unreadable-document"]
    monkeypatch.setattr(fbc, "_CHECKED_SIZE", path.stat().st_size - 1)
    assert read(asked).problems == ()
