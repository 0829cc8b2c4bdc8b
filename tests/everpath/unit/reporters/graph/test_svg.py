"""The image is well-formed, complete, reproducible, and has texts for screen readers."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from hypothesis import given

from everpath.layout.diagram import Diagram
from everpath.reporters.graph.svg import render
from tests.support.everpath.channel_drawings import (
    HOSTILE,
    edge_set,
    hostile_scenes,
    scenes_of,
    without_findings,
)
from tests.support.everpath.strategies import drawings

_NS = "{http://www.w3.org/2000/svg}"


def image(drawing: str, *installed: str) -> Xml.Element:
    return Xml.fromstring("".join(render(scenes_of(drawing, *installed))))


def groups(root: Xml.Element, kind: str) -> list[Xml.Element]:
    return [g for g in root.iter(f"{_NS}g") if kind in g.get("class", "").split()]


def title(group: Xml.Element) -> str:
    return group.findtext(f"{_NS}title") or ""


@given(drawings())
def test_every_entry_and_every_edge_can_be_read_back(drawing: str) -> None:
    scene = without_findings(drawing)
    root = Xml.fromstring("".join(render([scene])))
    names = [title(node).split(":")[0].split(" (")[0] for node in groups(root, "node")]
    assert names == list(scene.diagram.columns)
    assert _edges(root, scene.diagram, names) == edge_set(scene.diagram)


def _edges(root: Xml.Element, picture: Diagram, names: list[str]) -> set[tuple[str, str, str]]:
    found = set[tuple[str, str, str]]()
    for group in groups(root, "edge"):
        if "data-to" not in group.attrib:
            continue  # the legend's
        kind, new = group.get("class", "").split()[1], int(group.get("data-to", ""))
        columns = [int(c) for c in group.get("data-from", "").split()]
        if kind == "skipRange":
            runs = zip(columns[::2], columns[1::2], strict=True)
            columns = [c for first, last in runs for c in range(first, last + 1)]
        found |= {(names[new], names[old], kind) for old in columns}
    return found


@given(drawings())
def test_the_same_channel_gives_the_same_bytes(drawing: str) -> None:
    assert "".join(render([without_findings(drawing)])) == "".join(render([without_findings(drawing)]))


def test_it_has_a_title_and_a_description() -> None:
    root = image("b: a\na")
    assert root.findtext(f"{_NS}title") == "Upgrade graph of p"
    assert root.findtext(f"{_NS}desc") == "stable (default): 2 entries, head b"
    assert root.get("role") == "img"


def test_versions_are_text() -> None:
    labels = [text.text for text in image("op.v1.1.0: op.v1.0.0\nop.v1.0.0").iter(f"{_NS}text")]
    assert {"1.0.0", "1.1.0"} <= set(labels)


def test_an_edge_has_a_title() -> None:
    told = {title(edge) for edge in groups(image("c: a / b / <3.0.0\nb: a\na"), "edge")}
    assert {"c replaces a", "c skips b", "c skipRange <3.0.0 covers a … b (2 entries)"} <= told


def test_a_finding_is_marked_on_its_entry() -> None:
    nodes = groups(image("b3: - / b2\nb2: - / b1\nb1"), "node")
    assert "error" in nodes[0].get("class", "").split()
    assert title(nodes[0]).endswith("EP206 stranded-v0")
    assert any(path.get("class") == "badge" for path in nodes[0].iter(f"{_NS}path"))


def test_skipped_deprecated_and_absent_entries_look_different() -> None:
    drawing = "d: c / b, gone\nc: a\nb: a\na\n%deprecated a: old\n%prohibited c"
    looks = [node.get("class", "").split()[1] for node in groups(image(drawing), "node")]
    assert looks == ["absent", "deprecated", "skipped", "prohibited", "head"]


def test_only_paths_of_installed_versions_are_drawn() -> None:
    assert groups(image("c: b\nb: a\na"), "hop") == []
    lit = groups(image("c: b\nb: a\na", "b"), "hop")
    assert [title(hop) for hop in lit] == ["OLM v0: b updates to c", "OLM v1: b updates to c"]


def test_a_caption_has_the_path_of_a_version_outside_the_channel() -> None:
    texts = [t.text for t in image("b: a / - / <1.0.0\na", "p.v0.5.0").iter(f"{_NS}text")]
    assert "OLM v0: p.v0.5.0 → b: reaches the head in 1 hop" in texts


def test_a_long_path_is_shortened_in_its_caption() -> None:
    drawing = "\n".join(f"b{i}: b{i - 1}" for i in range(1, 40)) + "\nb0"
    texts = [t.text or "" for t in image(drawing, "b0").iter(f"{_NS}text")]
    assert any("→ (32 more) → b38 → b39: reaches the head in 39 hops" in text for text in texts)


def test_channels_stand_one_below_the_other() -> None:
    one, two = image("[a]\nb: a\na"), image("[a]\nb: a\na\n[b]\nb: a\na")
    assert float(two.get("height", "")) > 1.7 * float(one.get("height", ""))


def test_no_name_becomes_markup() -> None:
    text = "".join(render(hostile_scenes()))
    root = Xml.fromstring(text)
    assert {e.tag.removeprefix(_NS) for e in root.iter()} == {
        *("svg", "title", "desc", "style", "rect", "g", "text", "path", "circle")
    }
    assert not any(key.startswith("on") for e in root.iter() for key in e.attrib)
    titles = [title(node) for node in groups(root, "node")]
    assert [n for n in HOSTILE if n.isprintable() and not any(t.startswith(n) for t in titles)] == []


def test_a_name_of_five_thousand_characters_does_not_stretch_the_image() -> None:
    assert float(image(f"{'x' * 5_000}: a\na").get("width", "")) < 4_000


def test_a_deprecated_head_has_one_sign_in_it() -> None:
    [*_, head] = groups(image("b: a\na\n%deprecated b: old"), "node")
    assert head.get("class", "").split()[:3] == ["node", "head", "deprecated"]
    signs = [part.get("class") for part in head if part.get("class") in ("core", "cross")]
    assert signs == ["cross"]
