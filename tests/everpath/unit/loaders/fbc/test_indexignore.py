"""`.indexignore`, as go-git reads it."""

from __future__ import annotations

import pytest

from everpath.loaders.fbc.indexignore import IgnoreRules


def _ignored(lines: str, path: str) -> bool:
    rules = IgnoreRules()
    rules.extend(lines.split("\n"), ())
    return rules.ignores(path.split("/"))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("README.md", "README.md"),
        ("README.md", "deep/down/README.md"),
        ("*.md", "a/b.md"),
        ("doc?", "docs/x"),
        ("docs/", "docs/x"),
        ("docs/", "a/docs/x"),
        ("/docs", "docs/a/b"),
        ("a/b", "a/b/c"),
        ("a/*", "a/b/c"),
        ("a/**", "a/b"),
        ("**/c", "a/b/c"),
        ("**/c", "a/b/c/d"),
        ("a/**/d", "a/d"),
        ("a/**/d", "a/b/c/d"),
        ("[a-c]", "b"),
        ("[^x]", "b"),
        ("\\*", "*"),
        ("  spaced  ", "spaced"),
        ("[a\\-c]", "-"),
    ],
)
def test_what_a_pattern_leaves_out(pattern: str, path: str) -> None:
    assert _ignored(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("# README.md", "README.md"),
        ("", "a"),
        ("docs/", "docs"),
        ("/docs", "a/docs"),
        ("a/b", "x/a/b"),
        ("a*", "ba"),
        ("?", "ab"),
        ("a/**b", "a/xb"),
        ("[a-c]", "d"),
        ("[^a]", "a"),
        ("[!a]", "b"),
        ("[", "["),
        ("[]a]", "a"),
        ("[-a]", "a"),
        ("a\\", "a"),
        ("**/c", "a/b"),
        ("a/b/c", "a/b"),
        ("a/b/", "a/b"),
    ],
)
def test_what_a_pattern_does_not_speak_of(pattern: str, path: str) -> None:
    assert not _ignored(pattern, path)


def test_the_last_pattern_that_speaks_of_a_file_decides() -> None:
    assert not _ignored("*.md\n!keep.md", "keep.md")
    assert _ignored("!keep.md\n*.md", "keep.md")


def test_a_file_below_an_ignored_folder_can_be_included_again() -> None:
    assert not _ignored("docs/\n!docs/catalog.yaml", "docs/catalog.yaml")
    assert _ignored("docs/\n!docs/catalog.yaml", "docs/other.yaml")


def test_a_file_of_patterns_speaks_of_its_own_folder_only() -> None:
    rules = IgnoreRules()
    rules.extend(["a"], ())
    rules.extend(["!a", "/b"], ("sub",))
    assert [rules.ignores(path.split("/")) for path in ("a", "sub/a", "b", "sub/b", "sub/x/b", "sub")] == [
        True,
        False,
        False,
        True,
        False,
        False,
    ]
