"""The page in a real browser: what somebody sees who clicks, types, or has only a keyboard."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from chromium import Browser, Opened
from everpath.outputs.svg import render as svg
from scenes import HOSTILE, hostile_scenes, scenes_of, twins, unjudged

pytestmark = pytest.mark.xdist_group("browser")

FORKED = """
    [stable]
    op.v1.3.0: op.v1.1.0 / op.v1.2.0
    op.v1.2.0: op.v1.1.0
    op.v1.1.0: op.v1.0.0
    op.v1.0.0
    [old]
    op.v1.0.0
    op.v0.9.0: - / - / <0.9.0
"""


def contrast(one: str, other: str) -> float:
    """How well one colour is read on the other, as WCAG counts."""
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part, 16) / 255 for part in re.findall("[0-9a-f]{2}", colour)]
    if not colour.startswith("#"):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


LIT = ".channel:not([hidden]) .hop.lit title"


def test_a_page_from_a_file_asks_for_nothing_and_nothing_is_refused(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith("file:")] == []
    assert page.js("document.querySelectorAll('.channel:not([hidden])').length") == 1


def test_a_click_lights_the_roads_of_both_policies(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    assert page.texts(LIT) == []
    page.click(".node[data-i='0'] .dot")
    assert page.texts(LIT) == [
        "OLM v0: op.v1.0.0 goes to op.v1.1.0",
        "OLM v0: op.v1.1.0 goes to op.v1.3.0",
        "OLM v1: op.v1.0.0 goes to op.v1.1.0",
        "OLM v1: op.v1.1.0 goes to op.v1.3.0",
    ]
    assert page.texts("#panel .road h3") == ["OLM v0: 2 hops", "OLM v1: 2 hops"]
    assert page.texts("#panel .road.v0 li") == ["op.v1.1.0", "op.v1.3.0"]
    assert page.texts("#panel .end") == ["reaches the head in 2 hops"] * 2


def test_a_second_click_puts_it_out(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    page.click(".node[data-i='0'] .dot")
    page.click(".node[data-i='0'] .dot")
    assert page.texts(LIT) == []


def test_a_version_can_be_typed(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    page.js("document.getElementById('find').focus()")
    page.type("1.1.0")
    assert page.texts("#matches") == ["1 found, Enter chooses"]
    page.press("Enter")
    assert page.texts("#panel h2") == ["op.v1.1.0✕"]
    assert page.texts(".node.chosen .label") == ["1.1.0"]


def test_an_exact_version_wins_over_longer_ones_that_hold_it(opened: Opened) -> None:
    page = opened(scenes_of("op.v11.1.0: op.v1.1.0\nop.v1.1.0: op.v1.0.0\nop.v1.0.0"))
    page.js("document.getElementById('find').focus()")
    page.type("v1.1.0")
    page.press("Enter")
    assert page.texts("#panel h2") == ["op.v1.1.0✕"]


def test_a_search_dims_what_does_not_match_and_says_where_else_it_is(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    page.js("document.getElementById('find').focus()")
    page.type("1.")
    assert page.js("document.querySelectorAll('.channel:not([hidden]) .node.match').length") == 4
    page.type("99")
    assert page.texts("#matches") == ["not in this package; --installed draws its road"]
    page.js("document.getElementById('find').select()")
    page.type("0.9")
    assert page.texts("#matches") == ["not here, but in old"]


def test_an_address_chooses_channel_and_installed_version(opened: Opened) -> None:
    page = opened(scenes_of(FORKED), "#channel=old&installed=0.9.0")
    assert page.texts("[role=tab][aria-selected=true]")[0].startswith("old")
    assert page.texts("#panel h2") == ["op.v0.9.0✕"]
    page.click("#tab-0")
    page.click(".node[data-i='1'] .dot")
    assert page.js("location.hash") == "#channel=stable&installed=op.v1.1.0"


def test_an_address_keeps_its_theme(opened: Opened) -> None:
    page = opened(scenes_of(FORKED), "#channel=old&installed=0.9.0&theme=dark")
    assert page.js("location.hash") == "#channel=old&installed=op.v0.9.0&theme=dark"
    page.click("#theme")
    assert page.js("location.hash") == "#channel=old&installed=op.v0.9.0&theme=light"


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("#channel=nope", "The address asks for channel nope, which is not on this page."),
        (
            "#channel=stable&installed=9.9.9",
            "The address asks for 9.9.9: not in this package; --installed draws its road.",
        ),
        ("#channel=stable&installed=0.9.0", "The address asks for 0.9.0: not here, but in old."),
        ("#channel=nope&installed=1.1.0", "The address asks for channel nope, which is not on this page."),
    ],
)
def test_what_an_address_asks_for_in_vain_is_told(opened: Opened, address: str, told: str) -> None:
    page = opened(scenes_of(FORKED), address)
    assert page.texts("#panel .unmet") == [told]
    assert page.texts("#said")[0].startswith(told)
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


def test_what_the_command_line_calls_installed_is_shown_first(opened: Opened) -> None:
    page = opened(scenes_of("c: b\nb: a / - / <2.0.0\na", "p.v0.5.0"))
    assert page.texts("#panel h2") == ["p.v0.5.0✕"]
    assert page.texts("#panel .road.v1 li") == ["b", "c"]
    assert page.texts(LIT) == ["OLM v0: b goes to c", "OLM v1: b goes to c"]


def test_the_drawing_is_one_stop_of_the_tab_key_and_arrows_move_inside_it(opened: Opened) -> None:
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


def test_the_focus_can_be_seen(opened: Opened) -> None:
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


def test_a_channel_of_any_name_leaves_room_for_the_others(opened: Opened) -> None:
    page = opened(twins(FORKED, "x" * 3_000, "שלום"))
    assert page.js("document.getElementById('tab-0').getBoundingClientRect().width") < 400
    assert page.texts("#tab-1 .name") == ["שלום"]


def test_home_and_end_go_to_the_first_and_the_last_channel(opened: Opened) -> None:
    page = opened(scenes_of("[a]\nx\n[b]\nx\n[c]\nx"))
    page.js("document.getElementById('tab-0').focus()")
    page.press("End")
    assert page.js("document.activeElement.id") == "tab-2"
    page.press("Home")
    assert page.js("document.activeElement.id") == "tab-0"
    assert page.texts("[role=tab][aria-selected=true]") == ["adefault1"]


def test_a_search_goes_on_in_the_next_channel(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    page.js("document.getElementById('find').focus()")
    page.type("0.9")
    assert page.texts("#matches") == ["not here, but in old"]
    page.js("document.getElementById('tab-0').focus()")
    page.press("ArrowRight")
    assert page.texts("#matches") == ["1 found, Enter chooses"]
    assert page.texts(".channel:not([hidden]) .searching .match .label") == ["0.9.0"]


def test_what_is_chosen_is_not_faded_by_a_search(opened: Opened) -> None:
    page = opened(scenes_of(FORKED), "#installed=1.0.0")
    page.js("document.getElementById('find').focus()")
    page.type("1.3")
    seen = "document.querySelectorAll('.channel:not([hidden]) .dot')"
    dots = f"[...{seen}].map(e => getComputedStyle(e).fillOpacity)"
    assert page.js(dots) == ["1", "0.22", "0.22", "1"]
    page.click(".node[data-i='1'] .dot")
    assert page.js(dots) == ["0.45", "1", "0.45", "1"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("doing", ["walking", "searching"])
def test_what_steps_back_can_still_be_read(opened: Opened, theme: str, doing: str) -> None:
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


def test_whatever_can_be_used_has_a_name(opened: Opened, browser: Browser) -> None:
    opened(scenes_of(FORKED), "#installed=1.0.0")
    tree = browser.ask("Accessibility.getFullAXTree")["nodes"]
    used = {"button", "link", "tab", "tabpanel", "searchbox", "image", "tablist", "complementary"}
    found = [node for node in tree if not node.get("ignored") and node["role"]["value"] in used]
    assert len(found) > 10
    assert [node["role"]["value"] for node in found if not node["name"]["value"]] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_can_be_told_from_what_they_are_on(opened: Opened, theme: str) -> None:
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


def test_a_screen_reader_hears_how_many_match_and_where_the_roads_end(opened: Opened) -> None:
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


def test_of_a_long_road_the_middle_is_told_on_demand(opened: Opened) -> None:
    drawing = "\n".join(f"b{i}@1.{i}.0: b{i - 1}" for i in range(1, 151))
    page = opened(scenes_of(f"{drawing}\nb0@1.0.0"), "#installed=b0")
    hops = "#panel .road.v0 li:not(.gap)"
    assert page.texts("#panel .road.v0 h3") == ["OLM v0: 150 hops"]
    assert page.texts(hops) == [f"b{i}" for i in (*range(1, 11), *range(141, 151))]
    numbers = f"[...document.querySelectorAll('{hops}')].map(e => e.value)"
    assert page.js(numbers) == [*range(1, 11), *range(141, 151)]
    assert page.texts("#panel .road.v0 .gap") == ["and 130 more"]
    page.js("document.querySelector('#panel .road.v0 .gap button').click()")
    assert page.texts("#panel .road.v0 .gap") == ["and 30 more"]
    assert page.js("document.activeElement.textContent") == "b11"
    page.js("document.querySelector('#panel .road.v0 .gap button').click()")
    assert page.texts(hops) == [f"b{i}" for i in range(1, 151)]
    assert page.texts("#panel .road.v0 .gap") == []


def test_a_slash_goes_to_the_search(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    page.press("/")
    assert page.js("document.activeElement.id + ':' + document.activeElement.value") == "find:"


def test_findings_are_shown_with_their_fix_and_lead_to_their_entry(opened: Opened) -> None:
    page = opened(scenes_of("b3: - / b2\nb2: - / b1\nb1"))
    assert page.texts("#panel .finding.error .rule") == ["EP206 stranded-v0"]
    assert page.texts("#panel .finding.error .fix") == ["Fix: add b1 to the skips of b3"]
    page.click("#panel .finding.error .link")
    assert page.texts("#panel .road.v0 .end") == ["stranded"]
    assert page.texts("#panel .road.v0 .why")[0].startswith("nothing leads on from b1: ")
    assert page.texts("#panel .finding.error .rule") == ["EP206 stranded-v0"]


def test_a_failing_resolver_is_quoted(opened: Opened) -> None:
    page = opened(scenes_of("c: a\nb: a\na"), "#installed=a")
    [told] = page.texts("#panel .road.v0 .why")
    assert "OLM v0 fails for the whole namespace: a unique replacement chain" in told
    assert page.complaints == []


def test_dark_is_what_the_reader_prefers_until_the_button_says_otherwise(opened: Opened) -> None:
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


def test_of_a_long_channel_only_what_is_near_is_drawn(opened: Opened) -> None:
    page = opened((unjudged(chain(3_000)),))
    assert 30 <= page.js(DRAWN) <= 150
    assert page.js("document.querySelectorAll('*').length") < 1_500
    assert page.texts(".node:last-child .label") == ["1.2999.0"]
    page.js("document.querySelector('.view').scrollLeft = 45000")
    page.wait("[...document.querySelectorAll('.node .label')].some(e => e.textContent === '1.1500.0')")
    assert page.js(DRAWN) <= 150
    assert page.complaints == []


def test_nodes_stay_in_their_order_wherever_one_has_been(opened: Opened) -> None:
    page = opened((unjudged(chain(400)),))
    page.js("document.querySelector('.node[tabindex=\"0\"]').focus()")
    for key in ("Home", "End", "ArrowLeft", "Home", "ArrowRight"):
        page.press(key)
    columns = page.js("[...document.querySelectorAll('.live .node')].map(e => Number(e.dataset.i))")
    assert columns == sorted(set(columns))
    edges = page.js("[...document.querySelectorAll('.live .edge')].map(e => Number(e.dataset.to))")
    assert len(edges) == len(set(edges))


def test_the_focus_stays_with_an_entry_that_is_scrolled_away(opened: Opened) -> None:
    page = opened((unjudged(chain(3_000)),))
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


def test_a_long_road_is_lit_wherever_one_looks(opened: Opened) -> None:
    page = opened((unjudged(chain(3_000)),), "#installed=b0")
    assert page.texts(LIT)[0] == "OLM v0: b0 goes to b1"
    assert len(page.texts(LIT)) < 300
    page.js("document.querySelector('.view').scrollLeft = 45000")
    page.wait("document.querySelector('.node[data-i=\"1510\"]') !== null")
    assert "OLM v1: b1500 goes to b1501" in page.texts(LIT)
    assert page.js("document.querySelector('.node[data-i=\"1510\"]').classList.contains('on-road')")


def test_a_search_finds_what_is_not_drawn(opened: Opened) -> None:
    page = opened((unjudged(chain(3_000)),))
    page.js("document.getElementById('find').focus()")
    page.type("1.77.0")
    assert page.texts("#matches") == ["1 found, Enter chooses"]
    assert page.texts(".node.match .label") == ["1.77.0"]
    page.press("Enter")
    assert page.texts(".node.chosen .label") == ["1.77.0"]


def test_what_is_taken_over_from_afar_is_drawn_too(opened: Opened) -> None:
    page = opened((unjudged(f"{chain(3_000)}\nz@9.0.0: b2999 / b0 / <1.5.0"),))
    assert page.texts(".edge[data-to='3000'] title") == [
        "z skipRange <1.5.0 covers b0 … b4 (5 entries)",
        "z skips b0",
        "z replaces b2999",
    ]


def test_of_ranges_that_lie_too_close_to_be_told_apart_some_are_drawn(opened: Opened) -> None:
    ranges = "\n".join(f"b{i}@1.{i}.0: b{i - 1} / - / <1.{i}.0" for i in range(1, 1_500))
    page = opened((unjudged(f"{ranges}\nb0@1.0.0"),))
    page.js("document.querySelector('.view').scrollLeft = 0")
    page.wait("document.querySelector('.node[data-i=\"0\"]') !== null")
    drawn = page.js("[...document.querySelectorAll('.live .edge.skipRange')].map(e => Number(e.dataset.to))")
    assert 300 < len(drawn) < 600
    assert set(range(1, 30)) <= set(drawn)
    assert max(drawn) > 1_400


def test_roads_are_bent_as_in_the_image(opened: Opened) -> None:
    scenes = scenes_of("d: c / - / <3.0.0\nc: a\nb: a\na", "a")
    page = opened(scenes, "#installed=a")
    image = re.findall(r'<g class="hop.*?</g>', "".join(svg(scenes)))
    assert page.js("[...document.querySelectorAll('.live .hop path')].map(e => e.getAttribute('d'))") == [
        path for hop in image for path in re.findall(r' d="(.*?)"', hop)
    ]


def test_a_table_is_made_when_it_is_opened(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    assert page.js("document.querySelectorAll('td').length") == 0
    page.click(".channel:not([hidden]) summary")
    page.wait("document.querySelectorAll('td').length > 0")
    assert page.texts("td:first-child") == ["op.v1.3.0", "op.v1.2.0", "op.v1.1.0", "op.v1.0.0"]


def test_many_findings_are_told_a_hundred_at_a_time(opened: Opened) -> None:
    page = opened(scenes_of("\n".join(f"b{i}@1.{i}.0" for i in range(200))))
    shown = "document.querySelectorAll('#panel > div > .finding').length"
    before = page.js(shown)
    assert before < 60
    page.js("document.querySelector('#panel .gap button').click()")
    assert page.js(shown) == before + 100


def test_without_scripts_everything_is_there(opened: Opened) -> None:
    page = opened(scenes_of(FORKED), scripts=False)
    assert page.js("document.querySelectorAll('svg.live .node').length") == 6
    assert page.js("document.querySelectorAll('tbody tr').length") == 6


def test_labels_do_not_lie_on_each_other(opened: Opened) -> None:
    """Slanted labels overlap as boxes; their feet must be a line of text apart."""
    page = opened(scenes_of("\n".join(f"b{i}@1.{i}.0: b{i - 1}" for i in range(1, 40))))
    feet = page.js("[...document.querySelectorAll('.node .label')].map(e => e.getBoundingClientRect().left)")
    assert all(b - a >= 12 for a, b in pairwise(feet))


def test_a_narrow_screen_is_not_wider_than_itself(opened: Opened) -> None:
    page = opened(scenes_of(FORKED), size=(390, 800))
    assert page.js("document.documentElement.scrollWidth") == 390


def test_it_prints(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    assert page.pdf() > 1_000


def test_paper_is_white_whatever_the_screen_was(opened: Opened) -> None:
    page = opened(scenes_of(FORKED), "#theme=dark")
    colours = "(s => [s.backgroundColor, s.color])(getComputedStyle(document.body))"
    assert page.js(colours) == ["rgb(16, 21, 28)", "rgb(230, 235, 241)"]
    page.on_paper()
    assert page.js(colours) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    label = "getComputedStyle(document.querySelector('.node .label')).fill"
    assert page.js(label) == "rgb(0, 0, 0)"


def test_paper_has_every_channel(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    shown = "[...document.querySelectorAll('.channel table')].map(e => e.checkVisibility())"
    page.pdf()
    assert page.js(shown) == [False, False]
    page.js("dispatchEvent(new Event('beforeprint'))")
    page.on_paper()
    assert page.js(shown) == [True, True]


def test_paper_has_the_picture_and_the_findings_of_every_channel(opened: Opened) -> None:
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


def test_paper_has_the_roads_of_what_is_chosen(opened: Opened) -> None:
    page = opened(scenes_of(FORKED), "#installed=1.0.0")
    page.on_paper()
    assert page.js("document.getElementById('panel').checkVisibility()")


def test_a_table_on_paper_is_no_wider_than_it(opened: Opened) -> None:
    page = opened(scenes_of(f"{'long-name-' * 30}.v2: a / b, c, d / <9.0.0\na"), size=(700, 900))
    page.js("dispatchEvent(new Event('beforeprint'))")
    page.on_paper()
    assert page.js("document.documentElement.scrollWidth") == 700


def test_a_small_picture_is_not_blown_up_to_the_width_of_the_paper(opened: Opened) -> None:
    page = opened(scenes_of(FORKED))
    page.on_paper()
    scale = "e.getBoundingClientRect().width / e.viewBox.baseVal.width"
    assert max(page.js(f"[...document.querySelectorAll('svg.live')].map(e => {scale})")) <= 1.25


def test_no_name_runs(opened: Opened) -> None:
    page = opened(hostile_scenes())
    assert page.js("document.title") != "pwned"
    assert page.js("document.querySelectorAll('img, iframe, object').length") == 0
    for column in range(len(HOSTILE)):
        node = f"document.querySelector('.node[data-i=\"{column}\"]')"
        page.js(f"{node}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    assert page.js("document.title") != "pwned"
    assert page.js("document.querySelectorAll('img, iframe, object').length") == 0
    assert page.complaints == []


def test_a_channel_without_entries_is_shown_as_one(opened: Opened) -> None:
    page = opened(scenes_of("[stable]\n[fast]\na"))
    assert page.complaints == []
    assert page.texts(".channel:not([hidden]) h2") == ["stable (default): 0 entries, no head; 1 error"]
