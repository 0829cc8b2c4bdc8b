"""The upgrade graph as Mermaid flowcharts in Markdown, one for each channel. GitHub and GitLab draw them."""

from __future__ import annotations

__all__ = ["MAX_ARROWS", "MAX_CHARACTERS", "flowchart", "github_limit_exceeded", "render"]

import re
from collections.abc import Iterator, Sequence
from typing import Final

from everpath.layout.captions import covered_text, heading, label_parts, path_texts
from everpath.layout.diagram import CoveredRange, Diagram, Node
from everpath.layout.drawing import ChannelDrawing
from everpath.reporters.formatting import one_line
from everpath.reporters.lint.markdown import disable_autolinks

#: Limits of GitHub. A flowchart cannot raise them.
MAX_ARROWS: Final = 500
MAX_CHARACTERS: Final = 50_000

# All other characters may be markup of Mermaid, Markdown or HTML, and are written as character references.
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9 ._+,/()-]")
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


def render(drawings: Sequence[ChannelDrawing]) -> Iterator[str]:
    """Yield Markdown with a heading and a flowchart for each channel."""
    for number, drawing in enumerate(drawings):
        yield "\n" if number else ""
        yield f"### {_escape_markdown(f'{drawing.diagram.package}, channel {heading(drawing)}')}\n\n"
        yield "```mermaid\n"
        yield from (f"{line}\n" for line in flowchart(drawing))
        yield "```\n"
        yield from (f"\n{_escape_markdown(text)}\n" for text in path_texts(drawing))
    yield "\nSolid arrows are replaces, dotted ones skips, thick ones skipRanges.\n"


def github_limit_exceeded(drawing: ChannelDrawing) -> str | None:
    """Return which limit of GitHub a flowchart exceeds; None if GitHub draws it."""
    lines = list(flowchart(drawing))
    arrows = sum(any(arrow in line for arrow in _ARROWS) for line in lines if '"' not in line)
    if arrows > MAX_ARROWS:
        return f"{arrows:,} arrows, and GitHub draws {MAX_ARROWS:,}"
    characters = sum(len(line) + 1 for line in lines)
    if characters > MAX_CHARACTERS:
        return f"{characters:,} characters, and GitHub takes {MAX_CHARACTERS:,}"
    return None


def flowchart(drawing: ChannelDrawing) -> Iterator[str]:
    """Yield the lines of a flowchart: nodes, then edges from the older entry to the newer one."""
    diagram = drawing.diagram
    yield "flowchart LR"
    for column, node in enumerate(diagram.nodes):
        label = "<br/>".join(map(_escape_label, label_parts(drawing, node)))
        yield f'  n{column}["{label}"]{_class(drawing, node)}'
    for new, old in diagram.replaces.items():
        yield f"  n{old} --> n{new}"
    for skips in diagram.skips:
        yield from (f"  n{old} -. skips .-> n{skips.successor}" for old in skips.targets)
    for covered in diagram.covered_ranges:
        yield from _range(diagram, covered)
    for drawn in drawing.paths:
        yield from (
            f"  n{old} == OLM {drawn.resolver} ==> n{new}" for old, new in drawing.hops_of_installed(drawn)
        )
    yield from (f"  {style}" for style in _STYLES)


def _class(drawing: ChannelDrawing, node: Node) -> str:
    """Return one class: Mermaid styles the most important of several states."""
    worst_severity = drawing.worst_severity(node.name)
    if worst_severity is not None:
        return f":::{worst_severity.word}"
    if node.entry is None:
        return ":::absent"
    states = {"head": node.is_head, "deprecated": node.deprecated is not None, "skipped": node.is_skipped}
    return next((f":::{state}" for state, holds in states.items() if holds), "")


def _range(diagram: Diagram, covered: CoveredRange) -> Iterator[str]:
    """Yield a node for a range. Arrows from all entries that it covers would be n²."""
    name = f"r{covered.successor}"
    text = f"{_escape_label(f'skipRange {covered.text}')}<br/>{_escape_label(covered_text(diagram, covered))}"
    yield f'  {name}(["{text}"]):::range'
    yield f"  {name} {'==>' if covered.is_valid else '-.-'} n{covered.successor}"
    for column in dict.fromkeys(column for run in covered.runs for column in run):
        if column != covered.successor:
            yield f"  n{column} -.- {name}"


def _escape_label(text: str) -> str:
    """Escape a label with character references, which Mermaid resolves after parsing."""
    return _UNSAFE.sub(lambda match: f"#{ord(match[0])};", one_line(text))


def _escape_markdown(text: str) -> str:
    """Escape text with character references of HTML. An underscore inside a word stays."""
    return disable_autolinks(_MARKUP.sub(lambda match: f"&#{ord(match[0])};", one_line(text)))
