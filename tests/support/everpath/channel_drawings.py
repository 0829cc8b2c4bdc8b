"""Channel drawings for tests: a package in the notation, its findings, and installed versions."""

from __future__ import annotations

__all__ = ["HOSTILE", "edge_set", "hostile_scenes", "scenes_of", "twins", "without_findings"]

from textwrap import dedent

from everpath.graph import PackageGraph
from everpath.layout.diagram import Diagram
from everpath.layout.drawing import ChannelDrawing, channel_drawings
from everpath.loaders.notation import parse
from everpath.model import Bundle, Catalog, Channel, Entry, Package, Place, SourcePosition
from everpath.rules.findings import Finding
from everpath.rules.lint import Report, lint
from everpath.simulate import InstalledVersion, find_installed

#: Names that end strings, tags or lines in one of the formats.
HOSTILE = (
    "</script><img src=x onerror=\"document.title='pwned'\">",
    '"]; evil [label="pwned',
    "back\\slash\\N\\",
    "``` %%{init}%% --> end",
    "'><svg onload=alert(1)>&amp;",
    "two\nlines\u202eand a turn",
    "#quot;#35;",
)


def scenes_of(drawing: str, *installed: str) -> tuple[ChannelDrawing, ...]:
    """Return a channel drawing for each channel, with the findings of all rules."""
    catalog = parse(dedent(drawing))
    found = _with_line(lint(catalog), "catalog.yaml", 1)
    package = PackageGraph(catalog.packages[0])
    return channel_drawings(
        package.channels, found, [find_installed([package], name)[0] for name in installed]
    )


def _with_line(report: Report, file: str, line: int) -> tuple[Finding, ...]:
    return report.with_positions(lambda _: SourcePosition(file, line, 0, 0, "")).findings


def twins(drawing: str, *names: str) -> tuple[ChannelDrawing, ...]:
    """Return the channels with these names, of which some may be the same."""
    package = parse(dedent(drawing)).packages[0]
    renamed = [each._replace(name=name) for each, name in zip(package.channels, names, strict=True)]
    return channel_drawings(PackageGraph(package._replace(channels=tuple(renamed))).channels, [])


def without_findings(drawing: str) -> ChannelDrawing:
    """Return the drawing of the first channel without findings, for property tests."""
    return channel_drawings(PackageGraph(parse(dedent(drawing)).packages[0]).channels[:1], [])[0]


def hostile_scenes() -> tuple[ChannelDrawing, ...]:
    """Return a chain with hostile names of entries, channel and package, and hostile deprecations."""
    place = Place("c.yaml")
    entries = tuple(
        Entry(name, place, below, (HOSTILE[0],), f"<1.0.0 {name}")
        for name, below in zip(HOSTILE, (None, *HOSTILE), strict=False)
    )
    bundles = tuple(Bundle(name, HOSTILE[0], f"1.{i}.0", place) for i, name in enumerate(HOSTILE))
    package = Package(HOSTILE[0], (), (Channel(HOSTILE[1], HOSTILE[0], place, entries),), bundles)
    found = _with_line(lint(Catalog("c", (package,))), HOSTILE[0], 0)
    return channel_drawings(PackageGraph(package).channels, found, [InstalledVersion(HOSTILE[2], "1.2.0")])


def edge_set(picture: Diagram) -> set[tuple[str, str, str]]:
    """Return every edge of a diagram as (successor, accepted, kind), by name."""
    names = [node.name for node in picture.nodes]
    return {(names[new], names[old], kind) for new, old, kind in picture.edges()}
