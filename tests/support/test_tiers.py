"""The tiers of the tests, the check of skips, and what a failed test shows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import failure_context
from tests.support.commandline import ROOT
from tests.support.tiers import TIER_VARIABLE, examples, left_out

TESTS = """
import pytest
from hypothesis import given, strategies

def test_plain(): pass

@pytest.mark.exhaustive
def test_slow(): pass

@pytest.mark.exhaustive(keep=2)
@pytest.mark.parametrize("case", range(5))
def test_cases(case): pass

@pytest.mark.browser
def test_page(): pass

@pytest.mark.conformance
def test_opm(): pass

@pytest.mark.e2e
def test_server(): pass

@given(strategies.integers())
def test_property(number): pass
"""


def run_pytest(folder: Path, text: str, *arguments: str, **environment: str) -> tuple[int, str]:
    """Run a file of tests with the configuration of this repository, and return exit code and output."""
    (folder / "conftest.py").write_text("from tests.conftest import *  # noqa: F403\n", encoding="utf-8")
    (folder / "skips.txt").write_text("", encoding="utf-8")
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    variables = {k: v for k, v in os.environ.items() if k not in ("CI", TIER_VARIABLE)}
    options = ["-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options, *arguments, str(folder / "test_it.py")],
        env={**variables, "PYTHONPATH": str(ROOT), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("tier", "passed"), [("default", 4), ("exhaustive", 6), ("conformance", 1), ("e2e", 1), ("all", 11)]
)
def test_tier_runs_its_tests(tmp_path: Path, tier: str, passed: int) -> None:
    """Default: the plain test, two cases and the property; exhaustive: the rest and the property again."""
    code, output = run_pytest(tmp_path, TESTS, "--tier", tier)
    assert code == 0, output
    assert f"{passed} passed" in output


SKIP = "import pytest\ndef test_it(): pytest.skip('the moon is full')\n"


def test_unlisted_skip_fails_ci(tmp_path: Path) -> None:
    code, output = run_pytest(tmp_path, SKIP, CI="true")
    assert code == 1
    assert "1 × the moon is full" in output


def test_unlisted_skip_passes_outside_ci(tmp_path: Path) -> None:
    code, output = run_pytest(tmp_path, SKIP)
    assert (code, "1 skipped" in output) == (0, True)


def test_listed_skip_passes_ci(tmp_path: Path) -> None:
    code, output = run_pytest(
        tmp_path, SKIP.replace("the moon is full", "no IPv6 on this machine"), CI="true"
    )
    assert (code, "1 skipped" in output) == (0, True)


def test_failed_property_shows_the_command_that_repeats_it(tmp_path: Path) -> None:
    text = (
        "from hypothesis import given, strategies as s\n@given(s.integers())\ndef test_it(n): assert n < 9\n"
    )
    _, output = run_pytest(tmp_path, text, "--tier", "default")
    assert "make test PYTEST='-n 0 \"test_it.py::test_it\"'" in output


def test_failed_test_shows_the_graph_that_it_parsed(tmp_path: Path) -> None:
    text = (
        "from tests.support.everpath.graphs import channel_graph\n"
        "def test_it(): assert channel_graph('op.v2: op.v1\\nop.v1').head is None\n"
    )
    _, output = run_pytest(tmp_path, text)
    assert "- graphs -" in output
    assert "op.v2" in output.partition("- graphs -")[2]


def test_default_tier_tries_a_fifth_of_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TIER_VARIABLE, "default")
    assert [examples(count) for count in (500, 100, 40, 5)] == [100, 20, 10, 5]
    monkeypatch.setenv(TIER_VARIABLE, "exhaustive")
    assert examples(100) == 100


def test_left_out_tiers_are_named_with_missing_programs() -> None:
    text = left_out("default", lambda _: None)
    assert text is not None
    assert "make test-all" in text
    assert "not installed: go, etcd, chromium" in text
    assert "not installed" not in (left_out("default", lambda name: name) or "")
    assert left_out("exhaustive", lambda _: None) is None


def test_last_section_with_a_title_counts() -> None:
    failure_context.clear()
    failure_context.add("graphs", lambda: "first")
    failure_context.add("graphs", lambda: "second")
    assert failure_context.sections() == [("graphs", "second")]
