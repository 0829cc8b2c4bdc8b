"""Fixtures for tests that are marked `corpus`, and the counts of a run."""

from __future__ import annotations

import gc
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

# Without a deadline, because a busy machine is slow. In CI the examples are the same in every run, so that a
# rare counterexample does not fail an unrelated change; other runs use new examples.
settings.register_profile(
    "everpath",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("everpath")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run corpus tests in one worker, so that the corpus is unpacked and loaded once."""
    for item in items if config.pluginmanager.hasplugin("xdist") else ():
        if item.get_closest_marker("corpus"):
            item.add_marker(pytest.mark.xdist_group("corpus"))


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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the counts that tests recorded with `record_property("counted", …)`, with xdist too."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    lines = [str(value) for r in reports for key, value in r.user_properties if key == "counted"]
    if lines:
        terminalreporter.section("counted")
        for line in sorted(lines):
            terminalreporter.line(line)
