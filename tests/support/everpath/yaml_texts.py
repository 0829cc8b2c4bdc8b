"""Random YAML, mostly as tools write it, with wrong indentation, odd scalars and open quotes."""

from __future__ import annotations

__all__ = ["block_texts", "json_values", "scalars"]

from typing import Any

from hypothesis import strategies as st

_KEYS = ("name", "version", "value", "type", "a", "b", "y", "on", "1", "x.y/z-1", '"quoted"', "<<", "&k key")
_SCALARS = (
    *("a", "1.2.3", "1.10", "017", "0x1F", "1_000", "yes", "off", "~", "null", ".5", "1e3", "2024-01-31"),
    *(
        "op.v1.2.3",
        "registry.example/op@sha256:0a",
        "a b",
        "a  b",
        "a #c",
        "a:b",
        "a: b",
        "a:",
        "#",
        "-",
        "- a",
    ),
    *("'quoted'", '"quoted"', "'it''s'", '"a\\nb"', "'open", '"open', "'", '"', "[]", "{}", "[a", "{a: b}"),
    *("|", ">-", "&x a", "*x", "!!str 1", "!t a", "%a", "@a", "`a", "a\tb", "\ta", "é", "a\u2028b", "9" * 17),
    *(".inf", "...", "--- ", "<<", "=", "?", "? a", "a,b", "a]", "trailing ", "12:30", "+1", "0o17"),
)


def scalars() -> st.SearchStrategy[str]:
    return st.sampled_from(_SCALARS)


@st.composite
def _lines(draw: st.DrawFn) -> str:
    indent = " " * draw(st.sampled_from((0, 0, 0, 2, 2, 2, 4, 4, 1, 3, 6)))
    dash = draw(st.sampled_from(("", "", "", "- ", "- ", "- - ", "-")))
    key = draw(st.sampled_from(_KEYS)) + ":" if draw(st.booleans()) else ""
    value = draw(st.sampled_from(("", "", " ", None)))
    if value is None:
        value = " " + draw(scalars()) if key else draw(scalars())
    return f"{indent}{dash}{key}{value}"


def block_texts() -> st.SearchStrategy[bytes]:
    """Return up to eight lines of different shapes, sometimes blank, comments, or with carriage returns."""
    odd = st.sampled_from(("", "  ", "# comment", "  # comment", "---", "...", "a: b\r", "\t"))
    line = st.one_of(_lines(), _lines(), _lines(), odd)
    return st.lists(line, min_size=1, max_size=8).map(lambda lines: ("\n".join(lines) + "\n").encode())


def json_values(leaves: int = 12) -> st.SearchStrategy[Any]:
    """Return a value of a property, with text that YAML must quote, fold or escape."""
    text = st.one_of(
        scalars(), st.text(max_size=12), st.sampled_from(("line\nline", "x" * 90 + " y", "", " "))
    )
    leaf = st.one_of(st.none(), st.booleans(), st.integers(-(2**40), 2**40), text)
    return st.recursive(
        leaf,
        lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(text, below, max_size=3)),
        max_leaves=leaves,
    )
