"""Channel drawings for tests: a drawn package, its findings, and installed versions."""

from __future__ import annotations

__all__ = ["HOSTILE", "edge_set", "hostile_scenes", "scenes_of", "twins", "without_findings"]

from textwrap import dedent

from everpath.graph import PackageGraph
from everpath.layout.diagram import Diagram
from everpath.layout.drawing import ChannelDrawing, LocatedFinding, channel_drawings
from everpath.loaders.notation import parse
from everpath.model import Bundle, Catalog, Channel, Entry, Package, Place
from everpath.rules.lint import lint
from everpath.simulate import InstalledVersion, find_installed

#: Names that end what they stand in, in one format or another.
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
    """A channel drawing for each channel, with the findings of all rules."""
    catalog = parse(dedent(drawing))
    found = [LocatedFinding(finding, "catalog.yaml", 1) for finding in lint(catalog).findings]
    package = PackageGraph(catalog.packages[0])
    return channel_drawings(
        package.channels, found, [find_installed([package], name)[0] for name in installed]
    )


def twins(drawing: str, *names: str) -> tuple[ChannelDrawing, ...]:
    """The channels of a drawing under these names, of which some may be the same."""
    package = parse(dedent(drawing)).packages[0]
    renamed = [each._replace(name=name) for each, name in zip(package.channels, names, strict=True)]
    return channel_drawings(PackageGraph(package._replace(channels=tuple(renamed))).channels, [])


def without_findings(drawing: str) -> ChannelDrawing:
    """The first channel of a drawing, without findings: for laws, which draw hundreds."""
    return channel_drawings(PackageGraph(parse(dedent(drawing)).packages[0]).channels[:1], [])[0]


def hostile_scenes() -> tuple[ChannelDrawing, ...]:
    """A chain of hostile names, in a hostile channel of a hostile package, deprecated with hostile words."""
    place = Place("c.yaml")
    entries = tuple(
        Entry(name, place, below, (HOSTILE[0],), f"<1.0.0 {name}")
        for name, below in zip(HOSTILE, (None, *HOSTILE), strict=False)
    )
    bundles = tuple(Bundle(name, HOSTILE[0], f"1.{i}.0", place) for i, name in enumerate(HOSTILE))
    package = Package(HOSTILE[0], (), (Channel(HOSTILE[1], HOSTILE[0], place, entries),), bundles)
    found = [LocatedFinding(f, HOSTILE[0]) for f in lint(Catalog("c", (package,))).findings]
    return channel_drawings(PackageGraph(package).channels, found, [InstalledVersion(HOSTILE[2], "1.2.0")])


def edge_set(picture: Diagram) -> set[tuple[str, str, str]]:
    """Every edge of a diagram as (successor, accepted, kind), by name."""
    names = [node.name for node in picture.nodes]
    return {(names[new], names[old], kind) for new, old, kind in picture.edges()}
