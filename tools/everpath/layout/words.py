"""What a picture says in words: to whoever cannot see it, hovers over it or reads it as text.

Texts hold names as they were written; views make them safe to show.
"""

from __future__ import annotations

__all__ = [
    "accepted",
    "counted",
    "covered",
    "described",
    "findings",
    "heading",
    "remarks",
    "roads_told",
    "runs",
    "told",
]

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from everpath.graph import EdgeKind
from everpath.layout.layout import Stroke
from everpath.layout.picture import Node, Picture, Reach
from everpath.layout.scene import Scene
from everpath.rules.findings import Severity
from everpath.upgrade_paths import PathEnd

#: What is said of a policy that stops beside the head.
_STOPS: Final = {PathEnd.ERROR: "fails", PathEnd.HEAD: "arrives here"}


def counted(number: int, noun: str) -> str:
    """`1 error`, `2 errors`, `3 entries`."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def heading(scene: Scene) -> str:
    """`stable (default): 12 entries, head op.v3; 1 error and 2 warnings.`"""
    picture = scene.picture
    heads = [node.name for node in reversed(picture.nodes) if node.is_head]
    default = " (default)" if picture.is_default else ""
    entries = counted(len(picture.graph.entries), "entry")
    found = findings(scene)
    return f"{picture.channel}{default}: {entries}, {_heads(heads)}{f'; {found}' if found else ''}"


def _heads(names: list[str]) -> str:
    if len(names) == 1:
        return f"head {names[0]}"
    more = ", …" if len(names) > 4 else ""
    return f"{len(names):,} heads: {', '.join(names[:4])}{more}" if names else "no head"


def findings(scene: Scene) -> str:
    """`1 error, 2 warnings`; empty when there is nothing that hurts."""
    counts = Counter(sighted.finding.severity for sighted in scene.findings)
    return ", ".join(counted(counts[s], s.word) for s in (Severity.ERROR, Severity.WARNING) if counts[s])


def described(scene: Scene, column: int) -> str:
    """A node in one sentence."""
    node = scene.picture.nodes[column]
    marks = [*remarks(scene, node), *(f"{s.finding.rule} {s.finding.name}" for s in scene.hurting(node.name))]
    return f"{titled(node)}{': ' if marks else ''}{'; '.join(marks)}"


def titled(node: Node) -> str:
    """The name, with the version where the name does not say it: `op.latest (1.2.3)`."""
    return f"{node.name} ({node.version})" if node.version and node.version not in node.name else node.name


def remarks(scene: Scene, node: Node) -> Iterator[str]:
    """What there is to know of a node beside its edges."""
    if node.entry is None:
        yield "not in this channel"
        return
    if node.is_head:
        yield "head"
    if node.is_skipped:
        yield "skipped"
    if node.deprecated is not None:
        yield "deprecated"
    if node.prohibited is not None:
        yield f"{node.prohibited}, OLM v0 does not install it"
    if not node.has_bundle:
        yield "has no bundle"
    for drawn in scene.paths:
        path = drawn.by_entry[node.name]
        if not node.is_head and path.next is None and not drawn.is_broken:
            yield f"OLM {drawn.resolver} {_STOPS.get(path.end, 'never moves it on')}"


def roads_told(scene: Scene, most: int | None = None) -> Iterator[str]:
    """The roads of what is installed, of each policy: `OLM v0: op.v1 → op.v3: reaches the head in 1 hop`.

    With `most`, of more hops the first and the last few.
    """
    for drawn in scene.paths:
        for installed in scene.installed:
            path = drawn.path(installed)
            names = _some((installed.name, *path.hops), most)
            yield f"OLM {drawn.resolver}: {' → '.join(names)}: {path.reason}"


def _some(names: Sequence[str], most: int | None) -> Sequence[str]:
    if most is None or len(names) <= most:
        return names
    return [*names[: most - 2], f"({len(names) - most:,} more)", *names[-2:]]


def accepted(picture: Picture, column: int) -> Iterator[str]:
    """The edges that an entry declares: `replaces op.v1`, `skips op.v2, op.v3`, `skipRange … covers …`."""
    node, reach = picture.nodes[column], picture.reach_of.get(column)
    if node.entry is not None and node.entry.replaces:
        yield f"replaces {node.entry.replaces}"
    if node.entry is not None and node.entry.skips:
        yield f"skips {', '.join(node.entry.skips)}"
    if reach is not None:
        yield f"skipRange {covered(picture, reach)}"


def told(picture: Picture, stroke: Stroke) -> str:
    """An edge, or a group of them that one entry declares, in words."""
    successor = picture.nodes[stroke.successor].name
    if stroke.kind is EdgeKind.RANGE:
        return f"{successor} skipRange {covered(picture, picture.reach_of[stroke.successor])}"
    names = ", ".join(picture.nodes[target].name for target in stroke.targets)
    return f"{successor} {stroke.kind.value} {names}"


def covered(picture: Picture, reach: Reach) -> str:
    """`>=1.0.0 <3.0.0 covers op.v1 … op.v2 (7 entries)`."""
    return (
        f"{reach.text} covers {runs(picture, reach)}"
        if reach.is_read
        else f"{reach.text} {runs(picture, reach)}"
    )


def runs(picture: Picture, reach: Reach) -> str:
    """The entries in a range, run by run: `op.v1 … op.v2 (7 entries), op.v4`."""
    if not reach.is_read:
        return "cannot be read, OLM ignores it"
    return ", ".join(_run(picture, first, last) for first, last in reach.runs) or "nobody in this channel"


def _run(picture: Picture, first: int, last: int) -> str:
    oldest, newest = picture.nodes[first].name, picture.nodes[last].name
    if first == last:
        return oldest
    return f"{oldest} … {newest} ({counted(last - first + 1, 'entry')})"
