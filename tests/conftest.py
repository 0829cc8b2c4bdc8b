"""Tiers, the profile of properties, fixtures for tests that are marked `corpus`, and what a run reports."""

from __future__ import annotations

import gc
import os
import tarfile
from collections.abc import Generator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from tests.support import failure_context
from tests.support.tiers import TIER_VARIABLE, TIERS, UnlistedSkips, examples, left_out, select_tier


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--tier",
        choices=TIERS,
        default="all",
        help="the tests to run; tests/support/tiers.py describes the tiers",
    )


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        os.environ[TIER_VARIABLE] = config.getoption("--tier")
        if "CI" in os.environ:
            config.pluginmanager.register(UnlistedSkips.read(Path(__file__).with_name("skips.txt")))
    # Without a deadline, because a busy machine is slow. In CI the examples are the same in every run, so
    # that a rare counterexample does not fail an unrelated change; other runs use new examples.
    settings.register_profile(
        "everpath",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize="CI" in os.environ,
        max_examples=examples(100),
    )
    settings.load_profile("everpath")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select the tier. Run corpus tests in one worker, so that the corpus is unpacked and loaded once."""
    items[:], others = select_tier(items, config.getoption("--tier"))
    if others:
        config.hook.pytest_deselected(items=others)
    for item in items if config.pluginmanager.hasplugin("xdist") else ():
        if item.get_closest_marker("corpus"):
            item.add_marker(pytest.mark.xdist_group("corpus"))


@pytest.fixture(scope="session")
def opm() -> str:
    """Return the path of opm."""
    program = os.environ.get("EVERPATH_OPM")
    if not program:
        pytest.skip("EVERPATH_OPM does not name an opm; `make conformance` builds it (needs Go)")
    return program


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Return the folder with the packed catalogs."""
    folder = os.environ.get("EVERPATH_CORPUS")
    if not folder:
        pytest.skip("EVERPATH_CORPUS does not name the folder of the real catalogs")
    return Path(folder)


@pytest.fixture(scope="session")
def operatorhub(corpus: Path) -> Iterator[Path]:
    """Return the operators repository of OperatorHub: CSVs, annotations.yaml and ci.yaml of 450 packages.

    It is deleted at the end, unlike folders of pytest, because it has 16,000 files.
    """
    with TemporaryDirectory(prefix="operatorhub-") as folder:
        with tarfile.open(corpus / "corpus-k8s-allcsv.tar.xz") as tar:
            tar.extractall(folder, filter="data")
        yield Path(folder)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Collect garbage after each test; otherwise a worker grows by gigabytes."""
    was_enabled = gc.isenabled()
    gc.enable()
    assert was_enabled, f"{item.nodeid} has switched the garbage collector off"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to a failed test what it built, and to a failed property the command that repeats it."""
    report = yield
    if report.when == "call" and report.failed:
        report.sections += failure_context.sections()
        if is_hypothesis_test(getattr(item, "obj", None)):
            report.sections.append(("repeat this failure", failure_context.repeat_command(item.nodeid)))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    failure_context.clear()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the counts that tests recorded with `record_property("counted", …)`, and what was left out."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    lines = [str(value) for r in reports for key, value in r.user_properties if key == "counted"]
    if lines:
        terminalreporter.section("counted")
        for line in sorted(lines):
            terminalreporter.line(line)
    if text := left_out(config.getoption("--tier")):
        terminalreporter.line(text)
