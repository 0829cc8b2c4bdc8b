"""Waivers have rules of their own: an exception must not outlive what it excuses."""

from __future__ import annotations

__all__ = ["expired_waiver", "unused_waiver"]

from collections.abc import Iterator

from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import waiver_rule
from everpath.rules.waivers import WaiverUsage


@waiver_rule("EP901", "unused-waiver", Severity.WARNING)
def unused_waiver(standing: WaiverUsage) -> Iterator[Flaw]:
    """Every waiver excuses a finding.

    One that excuses nothing would silence the next, unrelated fault of its kind. It is not reported when
    the run leaves out its rule, or some of the packages or channels it is for.
    """
    waiver = standing.waiver
    if standing.is_unused:
        yield Flaw(
            waiver.place,
            f"the waiver of {waiver.subject} excuses nothing",
            because=(f"its reason was: {waiver.reason}",),
            fix="delete the waiver",
        )


@waiver_rule("EP902", "expired-waiver", Severity.ERROR)
def expired_waiver(standing: WaiverUsage) -> Iterator[Flaw]:
    """No waiver is older than the date its author gave it.

    What it excused is reported again; the date was set so that somebody looks.
    """
    waiver = standing.waiver
    if standing.has_expired:
        yield Flaw(
            waiver.place.at("expires"),
            f"the waiver of {waiver.subject} expired on {waiver.expires}",
            because=(f"its reason was: {waiver.reason}",),
            fix="mend what it excused, or give it a new date and reason",
        )
