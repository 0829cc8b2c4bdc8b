"""The page in a real browser: clicks, search and addresses."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from everpath.reporters.graph.svg import render as svg
from tests.everpath.browser.forked import FORKED, LIT
from tests.support.chromium import Opened
from tests.support.everpath.channel_drawings import HOSTILE, hostile_scenes, scenes_of, twins

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_page_from_a_file_sends_no_request_and_has_no_error(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith("file:")] == []
    assert page.js("document.querySelectorAll('.channel:not([hidden])').length") == 1


def test_a_click_highlights_the_paths_of_both_resolvers(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    assert page.texts(LIT) == []
    page.click(".node[data-i='0'] .dot")
    assert page.texts(LIT) == [
        "OLM v0: op.v1.0.0 updates to op.v1.1.0",
        "OLM v0: op.v1.1.0 updates to op.v1.3.0",
        "OLM v1: op.v1.0.0 updates to op.v1.1.0",
        "OLM v1: op.v1.1.0 updates to op.v1.3.0",
    ]
    assert page.texts("#panel .upgrade-path h3") == ["OLM v0: 2 hops", "OLM v1: 2 hops"]
    assert page.texts("#panel .upgrade-path.v0 li") == ["op.v1.1.0", "op.v1.3.0"]
    assert page.texts("#panel .end") == ["reaches the head in 2 hops"] * 2


def test_second_click_removes_the_highlight(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    page.click(".node[data-i='0'] .dot")
    page.click(".node[data-i='0'] .dot")
    assert page.texts(LIT) == []


def test_version_can_be_entered(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    page.js("document.getElementById('find').focus()")
    page.type("1.1.0")
    assert page.texts("#matches") == ["1 found, Enter chooses"]
    page.press("Enter")
    assert page.texts("#panel h2") == ["op.v1.1.0✕"]
    assert page.texts(".node.chosen .label") == ["1.1.0"]


def test_exact_version_takes_precedence_over_longer_ones(opened: Opened) -> None:
    page = opened(scenes_of("op.v11.1.0: op.v1.1.0\nop.v1.1.0: op.v1.0.0\nop.v1.0.0"))
    page.js("document.getElementById('find').focus()")
    page.type("v1.1.0")
    page.press("Enter")
    assert page.texts("#panel h2") == ["op.v1.1.0✕"]


def test_search_dims_other_entries_and_lists_other_channels(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    page.js("document.getElementById('find').focus()")
    page.type("1.")
    assert page.js("document.querySelectorAll('.channel:not([hidden]) .node.match').length") == 4
    page.type("99")
    assert page.texts("#matches") == ["not in this package; --installed draws its path"]
    page.js("document.getElementById('find').select()")
    page.type("0.9")
    assert page.texts("#matches") == ["not here, but in old"]


def test_url_selects_channel_and_installed_version(opened: Opened) -> None:
    page = opened(scenes_of(FORKED), "#channel=old&installed=0.9.0")
    assert page.texts("[role=tab][aria-selected=true]")[0].startswith("old")
    assert page.texts("#panel h2") == ["op.v0.9.0✕"]
    page.click("#tab-0")
    page.click(".node[data-i='1'] .dot")
    assert page.js("location.hash") == "#channel=stable&installed=op.v1.1.0"


def test_url_keeps_the_theme(opened: Opened) -> None:
    page = opened(scenes_of(FORKED), "#channel=old&installed=0.9.0&theme=dark")
    assert page.js("location.hash") == "#channel=old&installed=op.v0.9.0&theme=dark"
    page.click("#theme")
    assert page.js("location.hash") == "#channel=old&installed=op.v0.9.0&theme=light"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("#channel=nope", "The address names channel nope, which is not on this page."),
        (
            "#channel=stable&installed=9.9.9",
            "The address names 9.9.9: not in this package; --installed draws its path.",
        ),
        ("#channel=stable&installed=0.9.0", "The address names 0.9.0: not here, but in old."),
        ("#channel=nope&installed=1.1.0", "The address names channel nope, which is not on this page."),
    ],
)
def test_panel_lists_unknown_names_of_the_url(opened: Opened, address: str, message: str) -> None:
    page = opened(scenes_of(FORKED), address)
    assert page.texts("#panel .unmet") == [message]
    assert page.texts("#said")[0].startswith(message)
    assert page.js("location.hash") == address
    page.click(".node[data-i='0'] .dot")
    assert page.texts("#panel .unmet") == []


def test_two_channels_of_one_name_have_two_tabs_and_two_addresses(opened: Opened) -> None:
    page = opened(twins(FORKED, "stable", "stable"), "#channel=stable+(2)")
    assert page.texts("[role=tab]") == ["stabledefault4", "stable (2)default2"]
    assert page.js("document.querySelector('[aria-selected=true]').id") == "tab-1"
    page.click("#tab-0")
    assert page.js("location.hash") == "#channel=stable"
    page.click("#tab-1")
    assert page.js("location.hash") == "#channel=stable+%282%29"


def test_installed_version_of_the_command_line_is_shown_first(opened: Opened) -> None:
    page = opened(scenes_of("c: b\nb: a / - / <2.0.0\na", "p.v0.5.0"))
    assert page.texts("#panel h2") == ["p.v0.5.0✕"]
    assert page.texts("#panel .upgrade-path.v1 li") == ["b", "c"]
    assert page.texts(LIT) == ["OLM v0: b updates to c", "OLM v1: b updates to c"]


def test_long_channel_name_leaves_room_for_others(opened: Opened) -> None:
    page = opened(twins(FORKED, "x" * 3_000, "שלום"))
    assert page.js("document.getElementById('tab-0').getBoundingClientRect().width") < 400
    assert page.texts("#tab-1 .name") == ["שלום"]


def test_search_continues_in_the_next_channel(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    page.js("document.getElementById('find').focus()")
    page.type("0.9")
    assert page.texts("#matches") == ["not here, but in old"]
    page.js("document.getElementById('tab-0').focus()")
    page.press("ArrowRight")
    assert page.texts("#matches") == ["1 found, Enter chooses"]
    assert page.texts(".channel:not([hidden]) .searching .match .label") == ["0.9.0"]


def test_search_does_not_dim_the_selected_entry(opened: Opened) -> None:
    page = opened(scenes_of(FORKED), "#installed=1.0.0")
    page.js("document.getElementById('find').focus()")
    page.type("1.3")
    seen = "document.querySelectorAll('.channel:not([hidden]) .dot')"
    dots = f"[...{seen}].map(e => getComputedStyle(e).fillOpacity)"
    assert page.js(dots) == ["1", "0.22", "0.22", "1"]
    page.click(".node[data-i='1'] .dot")
    assert page.js(dots) == ["0.45", "1", "0.45", "1"]


def test_findings_are_shown_with_their_fix_and_lead_to_their_entry(opened: Opened) -> None:
    page = opened(scenes_of("b3: - / b2\nb2: - / b1\nb1"))
    assert page.texts("#panel .finding.error .rule") == ["EP206 stranded-v0"]
    assert page.texts("#panel .finding.error .fix") == ["Fix: add b1 to the skips of b3"]
    page.click("#panel .finding.error .link")
    assert page.texts("#panel .upgrade-path.v0 .end") == ["stranded"]
    assert page.texts("#panel .upgrade-path.v0 .why")[0].startswith("clusters on b1 get no further updates: ")
    assert page.texts("#panel .finding.error .rule") == ["EP206 stranded-v0"]


def test_a_failing_resolver_is_quoted(opened: Opened) -> None:
    page = opened(scenes_of("c: a\nb: a\na"), "#installed=a")
    [message] = page.texts("#panel .upgrade-path.v0 .why")
    assert "OLM v0 fails for the whole namespace: a unique replacement chain" in message
    assert page.complaints == []


def test_theme_follows_the_browser_until_the_button_is_used(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    colour = "getComputedStyle(document.body).backgroundColor"
    page.prefer("light")
    light = page.js(colour)
    page.prefer("dark")
    dark = page.js(colour)
    assert light != dark
    page.click("#theme")
    assert page.js(colour) == light
    page.click("#theme")
    assert page.js(colour) == dark


def test_hops_have_the_same_curves_as_in_the_image(opened: Opened) -> None:
    scenes = scenes_of("d: c / - / <3.0.0\nc: a\nb: a\na", "a")
    page = opened(scenes, "#installed=a")
    image = re.findall(r'<g class="hop.*?</g>', "".join(svg(scenes)))
    assert page.js("[...document.querySelectorAll('.live .hop path')].map(e => e.getAttribute('d'))") == [
        path for hop in image for path in re.findall(r' d="(.*?)"', hop)
    ]


def test_page_is_complete_without_scripts(opened: Opened) -> None:
    page = opened(scenes_of(FORKED), scripts=False)
    assert page.js("document.querySelectorAll('svg.live .node').length") == 6
    assert page.js("document.querySelectorAll('tbody tr').length") == 6


def test_labels_do_not_overlap(opened: Opened) -> None:
    """The boxes of slanted labels overlap; their ends must be one line of text apart."""
    page = opened(scenes_of("\n".join(f"b{i}@1.{i}.0: b{i - 1}" for i in range(1, 40))))
    feet = page.js("[...document.querySelectorAll('.node .label')].map(e => e.getBoundingClientRect().left)")
    assert all(b - a >= 12 for a, b in pairwise(feet))


def test_page_fits_a_narrow_screen(opened: Opened) -> None:
    page = opened(scenes_of(FORKED), size=(390, 800))
    assert page.js("document.documentElement.scrollWidth") == 390


def test_names_are_not_executed_as_scripts(opened: Opened) -> None:
    page = opened(hostile_scenes())
    assert page.js("document.title") != "pwned"
    assert page.js("document.querySelectorAll('img, iframe, object').length") == 0
    for column in range(len(HOSTILE)):
        node = f"document.querySelector('.node[data-i=\"{column}\"]')"
        page.js(f"{node}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    assert page.js("document.title") != "pwned"
    assert page.js("document.querySelectorAll('img, iframe, object').length") == 0
    assert page.complaints == []


def test_channel_without_entries_is_shown(opened: Opened) -> None:
    page = opened(scenes_of("[stable]\n[fast]\na"))
    assert page.complaints == []
    assert page.texts(".channel:not([hidden]) h2") == ["stable (default): 0 entries, no head; 1 error"]
