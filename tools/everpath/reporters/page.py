"""One self-contained HTML page: every channel of a package, to look at, search and walk through.

Nothing is decided in the page. Pictures, roads, findings and sentences are made here, the script only shows
and hides them; without it the page still has every picture and a table of every entry. Those stand in
<noscript>, which a browser with scripts reads as text: elements are made of what is looked at, so that a
channel of ten thousand entries opens like one of a hundred. The page loads nothing: its policy allows the one
style and the one script whose hashes it names.
"""

from __future__ import annotations

__all__ = ["render"]

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from typing import Final

from everpath import __version__
from everpath.layout.scene import Scene, Sighted
from everpath.layout.words import accepted, findings, heading, remarks, titled
from everpath.reporters.formatting import count, one_line
from everpath.reporters.page_data import called, embedded
from everpath.reporters.svg import asset, drawing
from everpath.rules.findings import Severity

#: A picture of more columns is no use on paper, where it cannot be scrolled; the table is.
_WIDEST_PRINT: Final = 60


def render(scenes: Sequence[Scene]) -> Iterator[str]:
    """The page, channel by channel."""
    package = _text(scenes[0].picture.package if scenes else "")
    style, script = asset("graph.css") + asset("page.css"), asset("page.js")
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="color-scheme" content="light dark">\n'
    yield f'<meta name="generator" content="everpath {__version__}">\n'
    yield f"<title>{package}: upgrade graph</title>\n<style>{style}</style>\n</head>\n<body>\n"
    yield from _header(package, scenes)
    yield '<main>\n<div class="channels">\n'
    for number, scene in enumerate(scenes):
        yield from _section(number, scene)
    yield f"</div>\n{asset('legend.html')}"
    yield '<aside id="panel" aria-label="Details" tabindex="-1"></aside>\n</main>\n'
    yield '<p id="said" class="unseen" role="status" aria-live="polite"></p>\n'
    yield f'<script type="application/json" id="data">{embedded(scenes)}</script>\n'
    yield f"<script>{script}</script>\n</body>\n</html>\n"


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def _header(package: str, scenes: Sequence[Scene]) -> Iterator[str]:
    entries = len({name for scene in scenes for name in scene.picture.graph.entries})
    size = f"{count(len(scenes), 'channel')}, {count(entries, 'entry')}"
    yield f'<header>\n<div class="title"><h1>{package}</h1><p>{size}</p></div>\n'
    yield asset("controls.html")
    yield '<nav role="tablist" aria-label="Channels">\n'
    for number, (scene, name) in enumerate(zip(scenes, called(scenes), strict=True)):
        yield _tab(number, scene, name)
    yield "</nav>\n</header>\n"


def _tab(number: int, scene: Scene, name: str) -> str:
    worst = max(
        (s.finding.severity for s in scene.findings if s.finding.severity > Severity.NOTE), default=None
    )
    flag = f'<span class="flag {worst.word}" title="{_text(findings(scene))}">!</span>' if worst else ""
    star = '<span class="default">default</span>' if scene.picture.is_default else ""
    label = f'<span class="name" title="{escape(name)}">{escape(name)}</span>'
    return (
        f'<button type="button" role="tab" id="tab-{number}" aria-controls="channel-{number}" '
        f'aria-label="{escape(_tab_said(scene, name))}" aria-selected="false" tabindex="-1">{label}{star}'
        f'<span class="count">{len(scene.picture.graph.entries):,}</span>{flag}</button>\n'
    )


def _tab_said(scene: Scene, name: str) -> str:
    """`stable, default, 13 entries, 5 warnings`: what a tab shows in badges."""
    default = "default" if scene.picture.is_default else ""
    parts = (name, default, count(len(scene.picture.graph.entries), "entry"), findings(scene))
    return ", ".join(filter(None, parts))


def _section(number: int, scene: Scene) -> Iterator[str]:
    plan = scene.layout
    wide = " wide" if len(scene.picture.nodes) > _WIDEST_PRINT else ""
    yield f'<section class="channel{wide}" role="tabpanel" id="channel-{number}" '
    yield f'aria-labelledby="tab-{number}">\n'
    yield f'<h2>{_text(heading(scene))}</h2>\n<div class="view"><noscript>'
    yield (
        f'<svg class="everpath live" viewBox="0 0 {plan.width:g} {plan.height:g}" width="{plan.width:g}" '
        f'height="{plan.height:g}" role="group" aria-label="Entries, the oldest first">\n'
    )
    yield from drawing(scene, is_live=True)
    yield "</svg>\n</noscript></div>\n"
    yield from _table(scene)
    yield "</section>\n"


def _table(scene: Scene) -> Iterator[str]:
    """Every entry with its edges and hops: for paper, for screen readers, and for whoever likes tables."""
    yield "<details><summary>All entries as a table</summary>\n"
    yield '<noscript><div class="scroll"><table>\n<thead><tr><th>Entry</th>'
    yield "<th>Takes over from</th><th>OLM v0 goes to</th><th>OLM v1 goes to</th><th>Remarks</th></tr>"
    yield "</thead>\n<tbody>\n"
    for column in range(len(scene.picture.nodes) - 1, -1, -1):
        yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in _cells(scene, column))}</tr>\n"
    yield "</tbody>\n</table></div></noscript>\n</details>\n"


def _cells(scene: Scene, column: int) -> Iterator[str]:
    node = scene.picture.nodes[column]
    yield _text(titled(node))
    yield "<br>".join(map(_text, accepted(scene.picture, column)))
    for drawn in scene.paths:
        yield _text(drawn.by_entry[node.name].next or "") if node.entry else ""
    told = [*remarks(scene, node), *(_rule(sighted) for sighted in scene.hurting(node.name))]
    yield "<br>".join(map(_text, told))


def _rule(sighted: Sighted) -> str:
    return f"{sighted.finding.rule} {sighted.finding.name}"


def _text(text: str) -> str:
    """Text from a catalog, on one line and harmless in markup."""
    return escape(one_line(text))
