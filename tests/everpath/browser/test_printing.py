"""Printing the page in a real browser."""

from __future__ import annotations

import pytest

from tests.everpath.browser.forked import FORKED
from tests.support.chromium import Opened
from tests.support.everpath.channel_drawings import scenes_of

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_page_can_be_printed(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    assert page.pdf() > 1_000


def test_print_has_a_white_background_in_any_theme(opened: Opened) -> None:
    page = opened(scenes_of(FORKED), "#theme=dark")
    colours = "(s => [s.backgroundColor, s.color])(getComputedStyle(document.body))"
    assert page.js(colours) == ["rgb(16, 21, 28)", "rgb(230, 235, 241)"]
    page.on_paper()
    assert page.js(colours) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    label = "getComputedStyle(document.querySelector('.node .label')).fill"
    assert page.js(label) == "rgb(0, 0, 0)"


def test_print_has_every_channel(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    shown = "[...document.querySelectorAll('.channel table')].map(e => e.checkVisibility())"
    page.pdf()
    assert page.js(shown) == [False, False]
    page.js("dispatchEvent(new Event('beforeprint'))")
    page.on_paper()
    assert page.js(shown) == [True, True]


def test_a_print_has_drawing_and_findings_of_every_channel(opened: Opened) -> None:
    page = opened(
        scenes_of("[stable]\nb3: - / b2\nb2: - / b1\nb1\n[fast]\nb1\n[old]\nb3: - / b2\nb2: - / b1\nb1")
    )
    page.js("dispatchEvent(new Event('beforeprint'))")
    page.on_paper()
    assert page.js(
        "[...document.querySelectorAll('.channel')].map(e => e.querySelectorAll('.node').length)"
    ) == [
        3,
        1,
        3,
    ]
    errors = (
        "[...document.querySelectorAll('.channel')].map(e => e.querySelectorAll('.finding.error').length)"
    )
    assert page.js(errors) == [1, 0, 1]
    assert not page.js("document.getElementById('panel').checkVisibility()")
    page.js("dispatchEvent(new Event('afterprint'))")
    assert page.js(errors) == [0, 0, 0]


def test_print_has_the_paths_of_the_selected_entry(opened: Opened) -> None:
    page = opened(scenes_of(FORKED), "#installed=1.0.0")
    page.on_paper()
    assert page.js("document.getElementById('panel').checkVisibility()")


def test_printed_table_fits_the_paper(opened: Opened) -> None:
    page = opened(scenes_of(f"{'long-name-' * 30}.v2: a / b, c, d / <9.0.0\na"), size=(700, 900))
    page.js("dispatchEvent(new Event('beforeprint'))")
    page.on_paper()
    assert page.js("document.documentElement.scrollWidth") == 700


def test_a_small_drawing_is_not_enlarged_to_the_width_of_the_paper(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    page.on_paper()
    scale = "e.getBoundingClientRect().width / e.viewBox.baseVal.width"
    assert max(page.js(f"[...document.querySelectorAll('svg.live')].map(e => {scale})")) <= 1.25
