"""The tree of text: read back, it has every entry and every edge; long lines fold."""

from __future__ import annotations

import re
from textwrap import dedent

from hypothesis import given

from everpath.layout.drawing import ChannelDrawing
from everpath.reporters.graph.tree_text import render
from tests.support.everpath.channel_drawings import edge_set, hostile_scenes, scenes_of, without_findings
from tests.support.everpath.strategies import drawings


def tree(drawing: str, *installed: str) -> str:
    return "".join(render(scenes_of(drawing, *installed)))


def test_a_channel_is_drawn_from_the_head_down() -> None:
    drawing = """
        op.v1.3.0: op.v1.1.0 / op.v1.2.0 / >=1.0.0 <1.3.0
        op.v1.2.0: op.v1.1.0
        op.v1.1.0: op.v1.0.0
        op.v1.0.0: op.v0.9.0
        %deprecated op.v1.0.0: too old
    """
    assert tree(drawing) == dedent("""\
        package p, channel stable (default): 4 entries, head op.v1.3.0

        ◉ op.v1.3.0  head
        │ ├ skipRange >=1.0.0 <1.3.0 covers op.v1.0.0 … op.v1.2.0 (3 entries)
        │ └ skips op.v1.2.0  skipped
        │       └ replaces op.v1.1.0
        ● op.v1.1.0
        ● op.v1.0.0  deprecated
        ○ op.v0.9.0  not in this channel
    """)


def test_a_stranded_entry_has_its_finding() -> None:
    text = tree("op.v3: - / op.v2\nop.v2: - / op.v1\nop.v1")
    assert "op.v1 (1.0.0)  skipped, no further updates under OLM v0\n" in text
    assert "! error EP206: clusters on op.v1 get no further updates under OLM v0\n" in text


def test_three_hundred_entries_in_a_line_are_readable() -> None:
    text = tree("\n".join(f"op.v1.{i}.0: op.v1.{i - 1}.0" for i in range(1, 301)))
    assert len(text.splitlines()) < 40
    assert "⋮ 299 entries, each replaces the next: op.…\n" in text
    assert max(map(len, text.splitlines())) < 110


def test_what_there_is_something_to_say_of_is_not_folded() -> None:
    drawing = "\n".join(f"op.v1.{i}.0: op.v1.{i - 1}.0" for i in range(1, 30))
    text = tree(f"{drawing}\n%deprecated op.v1.15.0: too old")
    assert "● op.v1.15.0  deprecated\n" in text
    assert text.count("⋮") == 2


def test_paths_of_installed_versions_have_all_hops() -> None:
    text = tree("c: b\nb: a / - / <2.0.0\na", "a", "p.v0.5.0")
    told = "reaches the head in 2 hops"
    assert text.endswith(
        f"\n\nOLM v0: a → b → c: {told}\nOLM v0: p.v0.5.0 → b → c: {told}\n"
        f"OLM v1: a → b → c: {told}\nOLM v1: p.v0.5.0 → b → c: {told}\n"
    )


def test_a_failing_resolver_is_quoted() -> None:
    assert "OLM v0: a: OLM v0 fails for the whole namespace: a unique replacement chain" in tree(
        "c: a\nb: a\na", "a"
    )


def test_lines_that_hang_on_lines_do_not_go_on_for_ever_to_the_right() -> None:
    text = tree("\n".join(f"b{i}: - / b{i - 1}" for i in range(1, 200)))
    assert max(map(len, text.splitlines())) < 110


def test_nothing_in_a_name_reaches_the_terminal() -> None:
    text = "".join(render(hostile_scenes()))
    assert "\u202e" not in text
    assert all(line.isprintable() for line in text.splitlines())


def test_colour_is_only_added() -> None:
    shown = scenes_of("c: a / b\nb: a\na")
    plain, painted = "".join(render(shown)), "".join(render(shown, colour=True))
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == plain
    assert painted != plain


@given(drawings())
def test_every_entry_and_every_edge_can_be_read_back(drawing: str) -> None:
    scene = without_findings(drawing)
    names, edges = _read_back("".join(render([scene])), scene)
    assert names >= set(scene.diagram.columns)
    assert edges == edge_set(scene.diagram)


_ROW = re.compile(r"(?P<rail>[│ ]*)(?P<mark>[◉○●]|[├└] (?:skips|replaces|skipRange)) (?P<rest>.+)")


def _read_back(text: str, scene: ChannelDrawing) -> tuple[set[str], set[tuple[str, str, str]]]:
    """Names and edges in the order of a tree, and what is attached to which entry."""
    at: dict[int, str] = {}
    names, edges = set[str](), set[tuple[str, str, str]]()
    for line in text.splitlines()[1:]:
        row = _ROW.fullmatch(line)
        if not line:
            at.clear()
        if row is None:
            continue
        column, kind = len(row["rail"]), row["mark"][2:]
        here = [name.strip() for name in row["rest"].split("  ")[0].split(" (")[0].split(",")]
        if kind == "skipRange":
            edges |= _covered(at[column - 2], row["rest"], scene)
        elif kind:
            edges |= {(at[column - 2], name, kind) for name in here}
            at[column + 4] = here[0]
        else:
            if column in at:
                edges.add((at[column], here[0], "replaces"))
            at[column] = here[0]
        names |= set(here) if kind != "skipRange" else set()
    return names, edges


def _covered(owner: str, rest: str, scene: ChannelDrawing) -> set[tuple[str, str, str]]:
    order, found = scene.diagram.graph.by_version, set[tuple[str, str, str]]()
    covered = rest.partition(" covers ")[2]
    for run in re.sub(r" \(.*?\)", "", covered).split(", "):
        first, _, last = run.partition(" … ")
        if first in order:
            names = order[order.index(first) : order.index(last or first) + 1]
            found |= {(owner, name, "skipRange") for name in names}
    return found


def test_where_a_resolver_arrives_below_the_head_is_not_called_stuck() -> None:
    assert "● a (1.0.0)  OLM v1 stays here\n" in tree("b: a\na\n%deprecated b: old")
