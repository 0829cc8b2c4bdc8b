"""A page that violates the format is an error with the missing part."""

from __future__ import annotations

from pathlib import Path

import pytest

from console import ROOT
from tests.docs.example_catalogs import lay_out
from tests.docs.rule_page import Example, Opinion, read_page

GOOD = (ROOT / "docs" / "rules" / "EP203.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("# EP203 fork", "# Fork", "should begin with"),
        ("## Good", "## Better", "has the sections"),
        (
            "```graph\nacme.v3.0.0: acme.v1.0.0\n",
            "```text\nacme.v3.0.0: acme.v1.0.0\n",
            "should have one graph",
        ),
        ("opm: rejects", "opm: grumbles", "should say `opm: accepts`"),
    ],
)
def test_error_has_the_missing_part(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert old in GOOD
    page = tmp_path / "EP203.md"
    page.write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(AssertionError, match=complaint):
        read_page(page)


@pytest.mark.parametrize(
    ("shape", "output", "fits"),
    [
        ("no channel head found in graph", 'msg="invalid index:\\n└── no channel head found in graph"', True),
        ('duplicate package "<p>"', r'level=fatal msg="duplicate package \"acme\""', True),
        ('duplicate package "<p>"', r'level=fatal msg="duplicate channel \"acme\""', False),
        (None, "anything", True),
    ],
)
def test_message_of_opm_must_match_the_pattern(shape: str | None, output: str, fits: bool) -> None:
    assert Opinion("rejects", shape).matches(output) is fits


def test_tree_is_written_with_its_links(tmp_path: Path) -> None:
    lay_out(Example("tree", "a/b.yaml: |\n  x: 1\na/link: -> b.yaml\n"), tmp_path)
    assert (tmp_path / "a" / "b.yaml").read_text(encoding="utf-8") == "x: 1\n"
    assert (tmp_path / "a" / "link").readlink() == Path("b.yaml")


def test_graph_is_written_as_a_catalog(tmp_path: Path) -> None:
    lay_out(Example("graph", "b: a / x / <1.0.0\na\n%deprecated a: old\n"), tmp_path)
    text = (tmp_path / "catalog" / "catalog.json").read_text(encoding="utf-8")
    assert '{"name": "b", "replaces": "a", "skips": ["x"], "skipRange": "<1.0.0"}' in text
    assert '{"reference": {"schema": "olm.bundle", "name": "a"}, "message": "old"}' in text
