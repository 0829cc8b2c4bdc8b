"""Long channels in a real browser: only the visible part is drawn, and everything works."""

from __future__ import annotations

import pytest

from tests.everpath.browser.forked import FORKED, LIT
from tests.support.chromium import Opened
from tests.support.everpath.channel_drawings import scenes_of, without_findings

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_a_channel_of_three_hundred_starts_at_its_head_and_has_an_overview(opened: Opened) -> None:
    page = opened(scenes_of("\n".join(f"b{i}@1.{i}.0: b{i - 1}" for i in range(1, 301))))
    ticks = "[...document.querySelectorAll('.overview .tick')].map(e => e.getAttribute('d')).join('')"
    assert page.js(ticks).count("M") == 301
    box = "document.querySelector('.view')"
    assert page.js(f"{box}.scrollLeft + {box}.clientWidth >= {box}.scrollWidth - 1")
    page.click("#fit")
    assert page.js(f"{box}.scrollWidth <= {box}.clientWidth")
    width = page.js(f"{box}.querySelector('svg').getBoundingClientRect().width")
    page.click("#in")
    assert page.js(f"{box}.querySelector('svg').getBoundingClientRect().width") > width


def chain(length: int) -> str:
    return "\n".join(f"b{i}@1.{i}.0: b{i - 1}" for i in range(length - 1, 0, -1)) + "\nb0@1.0.0"


DRAWN = "document.querySelectorAll('.channel:not([hidden]) .node').length"


def test_only_the_visible_part_of_a_long_channel_is_drawn(opened: Opened) -> None:
    page = opened((without_findings(chain(3_000)),))
    assert 30 <= page.js(DRAWN) <= 150
    assert page.js("document.querySelectorAll('*').length") < 1_500
    assert page.texts(".node:last-child .label") == ["1.2999.0"]
    page.js("document.querySelector('.view').scrollLeft = 45000")
    page.wait("[...document.querySelectorAll('.node .label')].some(e => e.textContent === '1.1500.0')")
    assert page.js(DRAWN) <= 150
    assert page.complaints == []


def test_nodes_stay_in_order_after_scrolling(opened: Opened) -> None:
    page = opened((without_findings(chain(400)),))
    page.js("document.querySelector('.node[tabindex=\"0\"]').focus()")
    for key in ("Home", "End", "ArrowLeft", "Home", "ArrowRight"):
        page.press(key)
    columns = page.js("[...document.querySelectorAll('.live .node')].map(e => Number(e.dataset.i))")
    assert columns == sorted(set(columns))
    edges = page.js("[...document.querySelectorAll('.live .edge')].map(e => Number(e.dataset.to))")
    assert len(edges) == len(set(edges))


def test_the_focus_stays_with_an_entry_that_is_scrolled_away(opened: Opened) -> None:
    page = opened((without_findings(chain(3_000)),))
    page.js("document.querySelector('.node[tabindex=\"0\"]').focus()")
    focused = "document.activeElement.querySelector('.label').textContent"
    page.press("Home")
    assert page.js(focused) == "1.0.0"
    page.js("document.querySelector('.view').scrollLeft = 60000")
    page.wait("document.querySelector('.node[data-i=\"2010\"]') !== null")
    assert page.js(focused) == "1.0.0"
    page.press("ArrowRight")
    assert page.js(focused) == "1.1.0"
    assert page.js("document.querySelectorAll('.node[tabindex=\"0\"]').length") == 1


def test_a_long_path_is_highlighted_in_every_viewport(opened: Opened) -> None:
    page = opened((without_findings(chain(3_000)),), "#installed=b0")
    assert page.texts(LIT)[0] == "OLM v0: b0 updates to b1"
    assert len(page.texts(LIT)) < 300
    page.js("document.querySelector('.view').scrollLeft = 45000")
    page.wait("document.querySelector('.node[data-i=\"1510\"]') !== null")
    assert "OLM v1: b1500 updates to b1501" in page.texts(LIT)
    assert page.js("document.querySelector('.node[data-i=\"1510\"]').classList.contains('on-path')")


def test_search_finds_entries_that_are_not_drawn(opened: Opened) -> None:
    page = opened((without_findings(chain(3_000)),))
    page.js("document.getElementById('find').focus()")
    page.type("1.77.0")
    assert page.texts("#matches") == ["1 found, Enter chooses"]
    assert page.texts(".node.match .label") == ["1.77.0"]
    page.press("Enter")
    assert page.texts(".node.chosen .label") == ["1.77.0"]


def test_edges_to_distant_entries_are_drawn(opened: Opened) -> None:
    page = opened((without_findings(f"{chain(3_000)}\nz@9.0.0: b2999 / b0 / <1.5.0"),))
    assert page.texts(".edge[data-to='3000'] title") == [
        "z skipRange <1.5.0 covers b0 … b4 (5 entries)",
        "z skips b0",
        "z replaces b2999",
    ]


def test_of_ranges_too_close_to_distinguish_some_are_drawn(opened: Opened) -> None:
    ranges = "\n".join(f"b{i}@1.{i}.0: b{i - 1} / - / <1.{i}.0" for i in range(1, 1_500))
    page = opened((without_findings(f"{ranges}\nb0@1.0.0"),))
    page.js("document.querySelector('.view').scrollLeft = 0")
    page.wait("document.querySelector('.node[data-i=\"0\"]') !== null")
    drawn = page.js("[...document.querySelectorAll('.live .edge.skipRange')].map(e => Number(e.dataset.to))")
    assert 300 < len(drawn) < 600
    assert set(range(1, 30)) <= set(drawn)
    assert max(drawn) > 1_400


def test_a_table_is_made_when_it_is_opened(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    assert page.js("document.querySelectorAll('td').length") == 0
    page.click(".channel:not([hidden]) summary")
    page.wait("document.querySelectorAll('td').length > 0")
    assert page.texts("td:first-child") == ["op.v1.3.0", "op.v1.2.0", "op.v1.1.0", "op.v1.0.0"]


def test_many_findings_are_shown_a_hundred_at_a_time(opened: Opened) -> None:
    page = opened(scenes_of("\n".join(f"b{i}@1.{i}.0" for i in range(200))))
    shown = "document.querySelectorAll('#panel > div > .finding').length"
    before = page.js(shown)
    assert before < 60
    page.js("document.querySelector('#panel .gap button').click()")
    assert page.js(shown) == before + 100
