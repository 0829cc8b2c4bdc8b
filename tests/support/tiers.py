"""The tiers of the tests, and what a run reports about them.

default      `make test`         all but those of the other tiers; properties with a fifth of their examples
exhaustive   `make test-all`     marked `exhaustive`, `corpus` or `browser`; properties with all examples
conformance  `make conformance`  marked `conformance`: everpath compared with the code of opm and OLM
e2e          `make e2e`          marked `e2e`: real servers
"""

from __future__ import annotations

__all__ = ["TIERS", "Tier", "UnlistedSkips", "examples", "left_out", "select_tier"]

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Literal, get_args

import pytest
from hypothesis import is_hypothesis_test

Tier = Literal["default", "exhaustive", "conformance", "e2e", "all"]
TIERS: Final = get_args(Tier)

#: Set for the workers of pytest-xdist and for modules that are imported before options are parsed.
TIER_VARIABLE: Final = "EVERPATH_TEST_TIER"
_QUICK_FRACTION: Final = 5
_MIN_EXAMPLES: Final = 10


def examples(count: int) -> int:
    """Return how many examples a property test tries: all, or a fifth of them in the default tier."""
    if os.environ.get(TIER_VARIABLE) != "default":
        return count
    return max(min(count, _MIN_EXAMPLES), count // _QUICK_FRACTION)


def select_tier(items: Sequence[pytest.Item], tier: Tier) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests of a tier, and the others.

    Of a function marked `exhaustive(keep=N)`, the first N cases are in the default tier.
    """
    counts: Counter[str] = Counter()
    selected: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        marker = item.get_closest_marker("exhaustive")
        function = item.nodeid.partition("[")[0]
        is_kept = marker is not None and counts[function] < marker.kwargs.get("keep", 0)
        counts[function] += 1
        (selected if _is_in_tier(item, tier, is_kept=is_kept) else others).append(item)
    return selected, others


def _is_in_tier(item: pytest.Item, tier: Tier, *, is_kept: bool) -> bool:
    if tier == "all":
        return True
    for own in ("conformance", "e2e"):
        if item.get_closest_marker(own):
            return tier == own
    if tier in ("conformance", "e2e"):
        return False
    is_exhaustive = any(item.get_closest_marker(name) for name in ("exhaustive", "corpus", "browser"))
    if tier == "default":
        return is_kept or not is_exhaustive
    return (is_exhaustive and not is_kept) or is_hypothesis_test(getattr(item, "obj", None))


def left_out(tier: Tier, which: Callable[[str], str | None] = shutil.which) -> str | None:
    """Return a line that says which tests `make test` leaves out, and how to run them."""
    if tier != "default":
        return None
    text = "left out: make test-all (exhaustive, corpus, browser), make conformance (opm, OLM), make e2e"
    missing = [program for program in ("go", "etcd", "chromium") if which(program) is None]
    if not missing:
        return text
    return f"{text}; not installed: {', '.join(missing)} (scripts/real-parts installs etcd and Chromium)"


class UnlistedSkips:
    """A plugin that fails a run with skipped tests whose reason is not listed.

    `listed` are regular expressions, one for each line of tests/skips.txt.
    """

    def __init__(self, listed: Iterable[str]) -> None:
        self._listed = [re.compile(each) for each in listed]
        self._unlisted: Counter[str] = Counter()

    @staticmethod
    def read(file: Path) -> UnlistedSkips:
        """Read the list; a line that starts with # is a comment."""
        lines = file.read_text(encoding="utf-8").splitlines()
        return UnlistedSkips(line for line in lines if line and not line.startswith("#"))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self._add(report.longrepr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._add(report.longrepr)

    def _add(self, longrepr: object) -> None:
        reason = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
        reason = reason.removeprefix("Skipped: ")
        if not any(pattern.fullmatch(reason) for pattern in self._listed):
            self._unlisted[reason] += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._unlisted and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._unlisted:
            terminalreporter.section("skips that tests/skips.txt does not list", red=True)
            for reason, count in sorted(self._unlisted.items()):
                terminalreporter.line(f"{count} × {reason}")
