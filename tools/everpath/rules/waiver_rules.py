"""Rules about waivers: each matches a finding, and none has expired."""

from __future__ import annotations

__all__ = ["expired_waiver", "unused_waiver"]

from collections.abc import Iterator

from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import waiver_rule
from everpath.rules.waivers import WaiverUsage


@waiver_rule("EP901", "unused-waiver", Severity.WARNING)
def unused_waiver(usage: WaiverUsage) -> Iterator[Flaw]:
    """Every waiver matches a finding.

    An unused waiver would hide the next, unrelated finding of its rule. It is not reported if its rule, or
    some of its packages or channels, are not selected.
    """
    waiver = usage.waiver
    if usage.is_unused:
        yield Flaw(
            waiver.place,
            f"the waiver of {waiver.subject} matches no finding",
            because=(f"its reason was: {waiver.reason}",),
            fix="delete the waiver",
        )


@waiver_rule("EP902", "expired-waiver", Severity.ERROR)
def expired_waiver(usage: WaiverUsage) -> Iterator[Flaw]:
    """No waiver has expired.

    The findings that it matches are reported again.
    """
    waiver = usage.waiver
    if usage.has_expired:
        yield Flaw(
            waiver.place.at("expires"),
            f"the waiver of {waiver.subject} expired on {waiver.expires}",
            because=(f"its reason was: {waiver.reason}",),
            fix="fix the findings, or set a new date and reason",
        )
