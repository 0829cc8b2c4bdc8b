"""One line a finding."""

from __future__ import annotations

from everpath.model import Place
from tests.support.everpath.reports import finding, rendered


def test_a_finding_is_one_line_that_editors_understand() -> None:
    assert rendered("concise", finding(), brief=True) == (
        "catalog/p.yaml:5:5: EP203 error fork: p/stable/a: b and c both replace it\n"
    )


def test_what_is_unknown_is_left_out() -> None:
    bare = finding(package=None, channel=None, entry=None, place=Place(""))
    assert rendered("concise", bare, brief=True) == "EP203 error fork: b and c both replace it\n"


def test_the_last_line_sums_up() -> None:
    assert rendered("concise", finding()).splitlines()[1:] == [
        "1 error in 1 package, 2 channels and 3 entries."
    ]
