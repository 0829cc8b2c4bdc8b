"""One cause has one fix, and what follows from it says so."""

from __future__ import annotations

import pytest

from graphs import parse_report

TYPO = "acme.v1.2.0: acme.v1.1.O\nacme.v1.1.0: acme.v1.0.0\nacme.v1.0.0"


def fixes(drawing: str, *rules: str) -> dict[str, str | None]:
    return {finding.rule: finding.fix for finding in parse_report(drawing, *rules)}


def test_a_slip_of_the_pen_that_makes_a_second_head_has_one_fix() -> None:
    edit = "set replaces: acme.v1.1.0 on acme.v1.2.0"
    with_it = f"same cause as EP202 (acme.v1.1.0), mended with it: {edit}"
    found = fixes(TYPO, "EP202", "EP207", "EP212")
    assert found == {"EP202": edit, "EP207": with_it, "EP212": with_it}


def test_a_finding_alone_keeps_its_own_fix() -> None:
    assert fixes(TYPO, "EP207") == {"EP207": "give acme.v1.2.0 the skipRange '>=1.1.0 <1.2.0'"}


def test_what_strands_users_of_v0_and_makes_opm_refuse_is_mended_once() -> None:
    found = fixes("b4: b3 / b2\nb3: b2\nb2: b1\nb1", "EP206", "EP208", "EP232")
    edit = "remove b2 from the skips of b4"
    assert found["EP208"] == f"{edit}, or add b1 to the skips of b4"
    assert found["EP206"] == f"same cause as EP208 (b1), mended with it: {edit}"
    assert found["EP232"] == found["EP206"]


def test_the_edit_that_mends_the_most_is_the_fix() -> None:
    found = {f.entry: f.fix for f in parse_report("b3\nb2\nb1", "EP207")}
    assert found["b2"] == "give b3 the skipRange '>=1.0.0 <3.0.0'"
    assert found["b1"] == f"same cause as EP207 (b2), mended with it: {found['b2']}"


def test_two_causes_have_two_fixes() -> None:
    found = parse_report("b9: b7\nb6: b4\nb3", "EP202", "EP207")
    assert [f.fix for f in found if f.rule == "EP202"] == [
        "set replaces: b3 on b6",
        "set replaces: b6 on b9",
    ]


def test_warnings_alone_are_not_traced() -> None:
    found = fixes("b2: b1 / - / >=1.0.0\nb1", "EP304", "EP309")
    assert found == dict.fromkeys(("EP304", "EP309"), "give b2 the skipRange '>=1.0.0 <2.0.0'")


def test_a_long_edit_is_not_repeated() -> None:
    names = [f"acme-operator-number-{n}" for n in range(9)]
    circle = "\n".join(f"{a}@1.0.0: {b}" for a, b in zip(names, names[1:] + names[:1], strict=True))
    found = fixes(f"h@3.0.0\n{circle}", "EP207", "EP208")
    assert len(found["EP208"] or "") > 200
    assert found["EP207"] == "same cause as EP208 (acme-operator-number-0), mended with it"


@pytest.mark.parametrize(("strays", "is_traced"), [(50, True), (51, False)])
def test_a_channel_with_more_than_a_hundred_findings_is_not_traced(strays: int, is_traced: bool) -> None:
    drawing = "\n".join(["h@9.0.0", *(f"s{n}@1.{n}.0" for n in range(strays))])
    found = parse_report(drawing, "EP202", "EP207")
    assert len(found) == 2 * strays
    assert any("same cause" in (f.fix or "") for f in found) is is_traced
