"""Channels as Mermaid flowcharts in Markdown, which GitHub and GitLab draw.

One flowchart a channel: Mermaid lays out what hangs together, and channels do not.
"""

from __future__ import annotations

__all__ = ["MOST_ARROWS", "MOST_CHARACTERS", "excess", "flowchart", "render"]

import re
from collections.abc import Iterator, Sequence
from typing import Final

from everpath.layout.picture import Node, Picture, Reach
from everpath.layout.scene import Scene
from everpath.layout.words import heading, remarks, roads_told, runs, titled
from everpath.reporters.formatting import one_line
from everpath.reporters.markdown import disable_autolinks

#: What GitHub draws; neither limit can be raised from inside a flowchart.
MOST_ARROWS: Final = 500
MOST_CHARACTERS: Final = 50_000

# Everything else could be Mermaid's, Markdown's or HTML's own: it is written as a character reference.
_STRANGE: Final = re.compile(r"[^A-Za-z0-9 ._+,/()-]")
_MARKUP: Final = re.compile(r"[^\w .,:;+/()…-]|(?<![^\W_])_|_(?![^\W_])")
_ARROWS: Final = (" --> ", " -. skips .-> ", " ==> ", " -.- ")
_STYLES: Final = (
    "classDef head stroke:#1a7f4b,stroke-width:3px",
    "classDef skipped stroke-dasharray:4 3,opacity:0.65",
    "classDef deprecated opacity:0.55",
    "classDef absent stroke-dasharray:2 2,opacity:0.5",
    "classDef error stroke:#c81e3a,stroke-width:3px",
    "classDef warning stroke:#b7791f,stroke-width:3px",
    "classDef range fill:none,stroke:#0a7f88,stroke-dasharray:4 3",
)


def render(scenes: Sequence[Scene]) -> Iterator[str]:
    """Markdown: a heading and a flowchart for each channel."""
    for number, scene in enumerate(scenes):
        yield "\n" if number else ""
        yield f"### {_markdown(f'{scene.picture.package}, channel {heading(scene)}')}\n\n"
        yield "```mermaid\n"
        yield from (f"{line}\n" for line in flowchart(scene))
        yield "```\n"
        yield from (f"\n{_markdown(text)}\n" for text in roads_told(scene))
    yield "\nSolid arrows replace, dotted ones skip, thick ones come from a skipRange and what it covers.\n"


def excess(scene: Scene) -> str | None:
    """What makes GitHub refuse the flowchart of a channel, if something does."""
    lines = list(flowchart(scene))
    arrows = sum(any(arrow in line for arrow in _ARROWS) for line in lines if '"' not in line)
    if arrows > MOST_ARROWS:
        return f"{arrows:,} arrows, and GitHub draws {MOST_ARROWS:,}"
    characters = sum(len(line) + 1 for line in lines)
    if characters > MOST_CHARACTERS:
        return f"{characters:,} characters, and GitHub takes {MOST_CHARACTERS:,}"
    return None


def flowchart(scene: Scene) -> Iterator[str]:
    """The lines of one flowchart: nodes, then edges from the older to the newer."""
    picture = scene.picture
    yield "flowchart LR"
    for column, node in enumerate(picture.nodes):
        yield f'  n{column}["{_label(scene, node)}"]{_class(scene, node)}'
    for new, old in picture.replaces.items():
        yield f"  n{old} --> n{new}"
    for skips in picture.skips:
        yield from (f"  n{old} -. skips .-> n{skips.successor}" for old in skips.targets)
    for reach in picture.reaches:
        yield from _range(picture, reach)
    for drawn in scene.paths:
        yield from (f"  n{old} == OLM {drawn.resolver} ==> n{new}" for old, new in scene.lit_hops(drawn))
    yield from (f"  {style}" for style in _STYLES)


def _label(scene: Scene, node: Node) -> str:
    said = ", ".join(remarks(scene, node))
    rules = ", ".join(dict.fromkeys(s.finding.rule for s in scene.hurting(node.name)))
    return "<br/>".join(_quoted(part) for part in (titled(node), said, rules) if part)


def _class(scene: Scene, node: Node) -> str:
    """One class: of several states the one that matters most to whoever looks."""
    worst = scene.worst(node.name)
    if worst is not None:
        return f":::{worst.word}"
    if node.entry is None:
        return ":::absent"
    states = {"head": node.is_head, "deprecated": node.deprecated is not None, "skipped": node.is_skipped}
    return next((f":::{state}" for state, holds in states.items() if holds), "")


def _range(picture: Picture, reach: Reach) -> Iterator[str]:
    """A node of its own for the range: an arrow for each entry it covers would be n² of them."""
    name = f"r{reach.successor}"
    yield f'  {name}(["{_quoted(f"skipRange {reach.text}")}<br/>{_quoted(runs(picture, reach))}"]):::range'
    yield f"  {name} {'==>' if reach.is_read else '-.-'} n{reach.successor}"
    yield from (f"  n{column} -.- {name}" for column in _ends(reach))


def _ends(reach: Reach) -> list[int]:
    """The first and the last entry of each run, without the entry itself."""
    return [c for c in dict.fromkeys(c for run in reach.runs for c in run) if c != reach.successor]


def _quoted(text: str) -> str:
    """A label in Mermaid's own character references, which it resolves after it has parsed the flowchart."""
    return _STRANGE.sub(lambda match: f"#{ord(match[0])};", one_line(text))


def _markdown(text: str) -> str:
    """The same in Markdown, which takes those of HTML. An underscore inside a word is left to stand."""
    return disable_autolinks(_MARKUP.sub(lambda match: f"&#{ord(match[0])};", one_line(text)))
