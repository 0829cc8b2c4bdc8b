"""The page with a keyboard, a screen reader and high contrast."""

from __future__ import annotations

import re

import pytest

from tests.everpath.browser.forked import FORKED, LIT
from tests.support.chromium import Browser, Opened
from tests.support.everpath.channel_drawings import scenes_of

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, as in WCAG."""
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part, 16) / 255 for part in re.findall("[0-9a-f]{2}", colour)]
    if not colour.startswith("#"):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_tab_key_reaches_the_drawing_once_and_arrows_move_inside_it(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    assert page.js("document.querySelectorAll('.channel:not([hidden]) .node[tabindex=\"0\"]').length") == 1
    page.js("document.querySelector('.channel:not([hidden]) .node[tabindex=\"0\"]').focus()")
    focused = "document.activeElement.querySelector('.label').textContent"
    assert page.js(focused) == "1.3.0"
    page.press("ArrowLeft")
    page.press("ArrowLeft")
    assert page.js(focused) == "1.1.0"
    page.press("Home")
    assert page.js(focused) == "1.0.0"
    page.press("Enter")
    assert page.texts("#panel h2") == ["op.v1.0.0✕"]
    assert page.js("document.activeElement.getAttribute('aria-pressed')") == "true"
    page.press("Escape")
    assert page.texts(LIT) == []


def test_focus_is_visible(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    page.js("document.querySelector('.node[tabindex=\"0\"]').focus()")
    page.press("ArrowLeft")
    assert page.js("getComputedStyle(document.activeElement.querySelector('.halo')).stroke") != "none"


def test_arrows_move_between_channels(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    page.js("document.getElementById('tab-0').focus()")
    page.press("ArrowRight")
    assert page.texts("[role=tab][aria-selected=true]")[0].startswith("old")
    assert page.js("document.activeElement.id") == "tab-1"


def test_home_and_end_go_to_the_first_and_the_last_channel(opened: Opened) -> None:
    page = opened(scenes_of("[a]\nx\n[b]\nx\n[c]\nx"))
    page.js("document.getElementById('tab-0').focus()")
    page.press("End")
    assert page.js("document.activeElement.id") == "tab-2"
    page.press("Home")
    assert page.js("document.activeElement.id") == "tab-0"
    assert page.texts("[role=tab][aria-selected=true]") == ["adefault1"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("doing", ["showing-paths", "searching"])
def test_dimmed_text_is_readable(opened: Opened, theme: str, doing: str) -> None:
    page = opened(scenes_of(FORKED), f"#installed=1.3.0&theme={theme}")
    if doing == "searching":
        page.js("document.getElementById('find').focus()")
        page.type("nothing")
    colours = page.js(
        "[...document.querySelectorAll('.channel:not([hidden]) .node')]"
        ".map(n => [n, n.querySelector('.label')].map(e => getComputedStyle(e)))"
        ".map(([n, label]) => [label.fill, n.opacity * label.opacity * label.fillOpacity])"
    )
    paper = page.js("getComputedStyle(document.body).backgroundColor")
    assert {opacity for _, opacity in colours} == {1}
    labels = [fill for fill, _ in colours]
    assert len(set(labels)) == 2
    assert min(contrast(fill, paper) for fill in labels) >= 4.5


def test_every_control_has_a_name(opened: Opened, browser: Browser) -> None:
    opened(scenes_of(FORKED), "#installed=1.0.0")
    tree = browser.ask("Accessibility.getFullAXTree")["nodes"]
    used = {"button", "link", "tab", "tabpanel", "searchbox", "image", "tablist", "complementary"}
    found = [node for node in tree if not node.get("ignored") and node["role"]["value"] in used]
    assert len(found) > 10
    assert [node["role"]["value"] for node in found if not node["name"]["value"]] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_have_enough_contrast(opened: Opened, theme: str) -> None:
    page = opened(scenes_of(FORKED), f"#theme={theme}")
    read = "(s => n => s.getPropertyValue('--' + n).trim())(getComputedStyle(document.documentElement))"
    grounds = [page.js(f"{read}('{name}')") for name in ("paper", "band", "raised")]
    texts, marks = (
        ("ink", "soft", "v0", "v1", "head", "error", "warning", "accent"),
        ("faint", "line", "skips", "range"),
    )
    for names, least in ((texts, 4.5), (marks, 3)):
        for name in names:
            assert min(contrast(page.js(f"{read}('{name}')"), ground) for ground in grounds) >= least, name


def test_a_screen_reader_announces_matches_and_ends_of_paths(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    assert page.js("[...document.querySelectorAll('[aria-live=polite]')].map(e => e.id)") == [
        "matches",
        "said",
    ]
    page.click(".node[data-i='0'] .dot")
    assert page.texts("#said") == [
        "op.v1.0.0, OLM v0: 2 hops, reaches the head in 2 hops, OLM v1: 2 hops, reaches the head in 2 hops"
    ]
    page.press("Escape")
    assert page.texts("#said") == [""]


def test_the_middle_of_a_long_path_is_shown_on_demand(opened: Opened) -> None:
    drawing = "\n".join(f"b{i}@1.{i}.0: b{i - 1}" for i in range(1, 151))
    page = opened(scenes_of(f"{drawing}\nb0@1.0.0"), "#installed=b0")
    hops = "#panel .upgrade-path.v0 li:not(.gap)"
    assert page.texts("#panel .upgrade-path.v0 h3") == ["OLM v0: 150 hops"]
    assert page.texts(hops) == [f"b{i}" for i in (*range(1, 11), *range(141, 151))]
    numbers = f"[...document.querySelectorAll('{hops}')].map(e => e.value)"
    assert page.js(numbers) == [*range(1, 11), *range(141, 151)]
    assert page.texts("#panel .upgrade-path.v0 .gap") == ["and 130 more"]
    page.js("document.querySelector('#panel .upgrade-path.v0 .gap button').click()")
    assert page.texts("#panel .upgrade-path.v0 .gap") == ["and 30 more"]
    assert page.js("document.activeElement.textContent") == "b11"
    page.js("document.querySelector('#panel .upgrade-path.v0 .gap button').click()")
    assert page.texts(hops) == [f"b{i}" for i in range(1, 151)]
    assert page.texts("#panel .upgrade-path.v0 .gap") == []


def test_slash_key_focuses_the_search(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    page.press("/")
    assert page.js("document.activeElement.id + ':' + document.activeElement.value") == "find:"
