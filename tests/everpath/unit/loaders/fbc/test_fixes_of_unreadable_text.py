"""Each cause of an unreadable document has its own fix, reported at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.loaders.source_positions import locate
from everpath.loaders.sources import Sources
from everpath.rules.lint import Selection, lint
from tests.support.everpath.bundles import read_bundle, write, write_bundle
from tests.support.everpath.loaded_catalogs import read

DEEP = 600
BOMB = "\n".join(
    ["schema: x", "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
)

TEXTS = {
    "alias bomb": (BOMB.encode(), "write the value in place of the alias"),
    "an anchor in itself": (b"schema: &a [*a]", "write the value in place of the alias"),
    "deep YAML": (b"schema: " + b"[" * DEEP, "no part of a catalog is nested that deep"),
    "deep JSON": (b'{"a": ' + b"[" * DEEP + b"]" * DEEP + b"}", "no part of a catalog is nested that deep"),
    "Latin-1 in YAML": (b"schema: caf\xe9\n", "save the file as UTF-8"),
    "Latin-1 in JSON": (b'{"schema": "caf\xe9"}', "save the file as UTF-8"),
    "UTF-16": (
        "schema: x\n".encode("utf-16"),
        "save the file as UTF-8; if the file does not belong to the catalog",
    ),
    "a control character": (b"schema: \x07\n", "remove this character"),
    "JSON cut between values": (b'{"schema": "x", ', "the JSON is incomplete"),
    "JSON cut in a word": (b'{"schema": "x', "the JSON is incomplete"),
    "JSON without a colon": (b'{"schema": "x"}\n' * 2 + b'{"schema" "x"}\n', "correct the JSON here"),
    "a null byte": (b"schema: x\n\0", "remove the null bytes; if the file does not belong to the catalog"),
    "YAML": (b"schema: a: b\n", "correct the syntax: quote values with ': '"),
}


@pytest.mark.parametrize(("text", "fix"), TEXTS.values(), ids=TEXTS)
def test_the_fix_is_for_what_is_wrong(tmp_path: Path, text: bytes, fix: str) -> None:
    (tmp_path / "catalog.yaml").write_bytes(text)
    selection = Selection(rules=frozenset({"EP001"}))
    [finding] = lint(read(tmp_path / "catalog.yaml"), selection).findings
    assert str(finding.fix).startswith(fix)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        (b"---\nschema: x\n---\nname: y\n\0\0", 5, 1),
        (b"schema: x\nname: a\0b\n", 2, 8),
        ("# caf\u00e9\nname: \u00e9\0\n".encode(), 2, 8),
    ],
)
def test_a_null_byte_is_pointed_at(tmp_path: Path, text: bytes, line: int, column: int) -> None:
    (tmp_path / "catalog.yaml").write_bytes(text)
    [problem] = read(tmp_path / "catalog.yaml").problems
    found = locate(problem.place, Sources())
    assert (found.line, found.column) == (line, column)


def test_the_fix_of_a_bundle_s_file_is_for_what_is_wrong_too(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    write(tmp_path, {"metadata/annotations.yaml": "annotations: &a [*a]\n"})
    fixes = {problem.fix for problem in read_bundle(tmp_path).problems}
    assert "write the value in place of the alias" in fixes
