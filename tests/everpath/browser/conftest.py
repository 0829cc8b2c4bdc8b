"""A page, opened in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from everpath.layout.drawing import ChannelDrawing
from everpath.reporters.graph.graph_page import render
from tests.support.chromium import Browser, Opened, Window, program


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Return the browser of this machine; without one the tests are skipped."""
    found = program()
    if found is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    running = Browser(found, tmp_path_factory.mktemp("profile"))
    yield running
    running.close()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    """Open the page of some graphs in a window of 1400 by 900."""

    def open_page(
        scenes: tuple[ChannelDrawing, ...],
        fragment: str = "",
        size: tuple[int, int] = (1400, 900),
        *,
        scripts: bool = True,
    ) -> Window:
        file = tmp_path / "page.html"
        file.write_text("".join(render(scenes)), encoding="utf-8")
        browser.ask(
            "Emulation.setDeviceMetricsOverride",
            width=size[0],
            height=size[1],
            deviceScaleFactor=1,
            mobile=False,
        )
        browser.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        return Window(browser, f"{file.as_uri()}{fragment}")

    yield open_page
    browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    browser.ask("Emulation.clearDeviceMetricsOverride")
    browser.ask("Emulation.setEmulatedMedia", media="", features=[])
