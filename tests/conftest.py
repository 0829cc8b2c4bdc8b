"""The real catalogs, for the tests that are marked `corpus`, and what runs have counted."""

from __future__ import annotations

import gc
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is slow now and then; how long examples take says nothing about the law. What CI asks is the
# same each time: a law that chance breaks is found by whoever runs the suite by hand, not by the next change.
settings.register_profile(
    "everpath",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("everpath")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Corpus tests share one worker, so that the corpus is unpacked and read once."""
    for item in items if config.pluginmanager.hasplugin("xdist") else ():
        if item.get_closest_marker("corpus"):
            item.add_marker(pytest.mark.xdist_group("corpus"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder with the real catalogs, as they were packed."""
    folder = os.environ.get("EVERPATH_CORPUS")
    if not folder:
        pytest.skip("EVERPATH_CORPUS does not name the folder of the real catalogs")
    return Path(folder)


@pytest.fixture(scope="session")
def operatorhub(corpus: Path) -> Iterator[Path]:
    """The operators repository of OperatorHub: every CSV, annotations.yaml and ci.yaml of 450 packages.

    Deleted at the end, not kept for a look as pytest's own folders are: it has 16,000 files.
    """
    with TemporaryDirectory(prefix="operatorhub-") as folder:
        with tarfile.open(corpus / "corpus-k8s-allcsv.tar.xz") as tar:
            tar.extractall(folder, filter="data")
        yield Path(folder)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """No test leaves garbage to lie about in those after it: a worker would grow by gigabytes."""
    was_enabled = gc.isenabled()
    gc.enable()
    assert was_enabled, f"{item.nodeid} has switched the garbage collector off"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the counts that tests left with `record_property("counted", …)`; under xdist too."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    lines = [str(value) for r in reports for key, value in r.user_properties if key == "counted"]
    if lines:
        terminalreporter.section("counted")
        for line in sorted(lines):
            terminalreporter.line(line)
