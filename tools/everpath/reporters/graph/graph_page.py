"""The upgrade graph as one self-contained HTML page with search and upgrade paths.

The page computes nothing: drawings, paths, findings and texts are created here, the script shows and hides
them. Without scripts, the page still has every drawing and a table of all entries. Both are in <noscript>,
which browsers with scripts treat as text. The script creates elements for the viewport only, so a channel of
ten thousand entries opens as fast as one of a hundred. The page loads nothing: its Content-Security-Policy
allows only its own style and script, by hash.
"""

from __future__ import annotations

__all__ = ["render"]

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from typing import Final

from everpath import __version__
from everpath.layout.captions import declared_edges, finding_counts, heading, node_states, node_title
from everpath.layout.drawing import ChannelDrawing
from everpath.reporters.formatting import one_line
from everpath.reporters.graph.graph_page_data import embedded_json, tab_names
from everpath.reporters.graph.svg import asset, draw_channel
from everpath.rules.findings import Severity
from everpath.wording import count

#: Wider drawings are not printed, because paper cannot be scrolled; their table is.
_MAX_PRINTED_COLUMNS: Final = 60


def render(drawings: Sequence[ChannelDrawing]) -> Iterator[str]:
    """Yield the page, channel by channel."""
    package = _text(drawings[0].diagram.package if drawings else "")
    style, script = asset("graph.css") + asset("page.css"), asset("page.js")
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    allowed = f"style-src {_hash(style)}; script-src {_hash(script)}"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="color-scheme" content="light dark">\n'
    yield f'<meta name="generator" content="everpath {__version__}">\n'
    yield f"<title>{package}: upgrade graph</title>\n<style>{style}</style>\n</head>\n<body>\n"
    yield from _header(package, drawings)
    yield '<main>\n<div class="channels">\n'
    for number, drawing in enumerate(drawings):
        yield from _section(number, drawing)
    yield f"</div>\n{asset('legend.html')}"
    yield '<aside id="panel" aria-label="Details" tabindex="-1"></aside>\n</main>\n'
    yield '<p id="said" class="unseen" role="status" aria-live="polite"></p>\n'
    yield f'<script type="application/json" id="data">{embedded_json(drawings)}</script>\n'
    yield f"<script>{script}</script>\n</body>\n</html>\n"


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def _header(package: str, drawings: Sequence[ChannelDrawing]) -> Iterator[str]:
    entries = len({name for drawing in drawings for name in drawing.diagram.graph.entries})
    size = f"{count(len(drawings), 'channel')}, {count(entries, 'entry')}"
    yield f'<header>\n<div class="title"><h1>{package}</h1><p>{size}</p></div>\n'
    yield asset("controls.html")
    yield '<nav role="tablist" aria-label="Channels">\n'
    for number, (drawing, name) in enumerate(zip(drawings, tab_names(drawings), strict=True)):
        yield _tab(number, drawing, name)
    yield "</nav>\n</header>\n"


def _tab(number: int, drawing: ChannelDrawing, name: str) -> str:
    entries, counts = len(drawing.diagram.graph.entries), finding_counts(drawing)
    default = "default" if drawing.diagram.is_default else ""
    # Such as `stable, default, 13 entries, 5 warnings`.
    label = ", ".join(filter(None, (name, default, count(entries, "entry"), counts)))
    worst = max((f.severity for f in drawing.findings if f.severity > Severity.NOTE), default=None)
    flag = f'<span class="flag {worst.word}" title="{_text(counts)}">!</span>' if worst else ""
    star = f'<span class="default">{default}</span>' if default else ""
    return (
        f'<button type="button" role="tab" id="tab-{number}" aria-controls="channel-{number}" '
        f'aria-label="{escape(label)}" aria-selected="false" tabindex="-1">'
        f'<span class="name" title="{escape(name)}">{escape(name)}</span>{star}'
        f'<span class="count">{entries:,}</span>{flag}</button>\n'
    )


def _section(number: int, drawing: ChannelDrawing) -> Iterator[str]:
    plan = drawing.layout
    wide = " wide" if len(drawing.diagram.nodes) > _MAX_PRINTED_COLUMNS else ""
    yield f'<section class="channel{wide}" role="tabpanel" id="channel-{number}" '
    yield f'aria-labelledby="tab-{number}">\n'
    yield f'<h2>{_text(heading(drawing))}</h2>\n<div class="view"><noscript>'
    yield (
        f'<svg class="everpath live" viewBox="0 0 {plan.width:g} {plan.height:g}" width="{plan.width:g}" '
        f'height="{plan.height:g}" role="group" aria-label="Entries, the oldest first">\n'
    )
    yield from draw_channel(drawing, is_live=True)
    yield "</svg>\n</noscript></div>\n"
    yield from _table(drawing)
    yield "</section>\n"


def _table(drawing: ChannelDrawing) -> Iterator[str]:
    """Yield a table of all entries with edges and next hops, for print and screen readers."""
    yield "<details><summary>All entries as a table</summary>\n"
    yield '<noscript><div class="scroll"><table>\n<thead><tr><th>Entry</th>'
    yield "<th>Accepts upgrades from</th><th>Next hop, OLM v0</th><th>Next hop, OLM v1</th>"
    yield "<th>State</th></tr>"
    yield "</thead>\n<tbody>\n"
    for column in range(len(drawing.diagram.nodes) - 1, -1, -1):
        yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in _cells(drawing, column))}</tr>\n"
    yield "</tbody>\n</table></div></noscript>\n</details>\n"


def _cells(drawing: ChannelDrawing, column: int) -> Iterator[str]:
    node = drawing.diagram.nodes[column]
    yield _text(node_title(node))
    yield "<br>".join(map(_text, declared_edges(drawing.diagram, column)))
    for drawn in drawing.paths:
        yield _text(drawn.by_entry[node.name].next or "") if node.entry else ""
    problems = (f"{finding.rule} {finding.name}" for finding in drawing.problems(node.name))
    states = [*node_states(drawing, node), *problems]
    yield "<br>".join(map(_text, states))


def _text(text: str) -> str:
    """Escape text of a catalog and put it on one line."""
    return escape(one_line(text))
