"""A command runs through the modules that docs/architecture.md lists."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from tests.support.commandline import ROOT, Everpath
from tests.support.everpath.catalogs import write_fbc
from tests.support.everpath.projects import write_operator, write_releases

ONE = """
    - {version: 0.1.0, channels: [stable]}
"""


def test_validate_graph_runs_through_the_documented_modules(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "op.v3: op.v1\nop.v2: op.v1\nop.v1", "op")
    called: set[str] = set()
    with_trace("validate_graph", called.add, lambda: everpath("validate-graph").code == 1)
    assert_documented("How validate-graph runs", called, {"cli", "app"})


def test_release_runs_through_the_documented_modules(everpath: Everpath, here: Path) -> None:
    write_operator(here)
    write_releases(here, ONE)
    assert everpath("generate").code == 0
    called: set[str] = set()
    with_trace("release", called.add, lambda: everpath("release", "0.2.0").code == 0)
    assert_documented("How a release is made", called, {"cli", "app", "atomic_files"})


def assert_documented(heading: str, called: set[str], steps: set[str]) -> None:
    """Compare the modules of the layers `steps` with the section. It may name modules below them too."""
    section = re.search(
        rf"^## {heading}\n(.*?)^## ", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert section is not None
    documented = set(re.findall(r"`([a-z_0-9.]+)`", section[1]))
    walk = {module for module in called if module.partition(".")[0] in steps}
    assert walk == {name for name in documented if name.partition(".")[0] in steps}
    assert len(walk) <= 12
    assert documented <= called | {module.partition(".")[0] for module in called}


def with_trace(command: str, record: Callable[[str], None], run: Callable[[], bool]) -> None:
    """Run, and record the module of each function that is called, from the command's function on."""
    started = False

    def trace(frame: FrameType, event: str, _: object) -> None:
        nonlocal started
        code, name = frame.f_code, str(frame.f_globals.get("__name__"))
        # Bodies of modules and classes run once, when they are imported, and are not optimized.
        if event != "call" or not name.startswith("everpath.") or not code.co_flags & inspect.CO_OPTIMIZED:
            return
        started = started or code.co_qualname == command
        if started:
            record(name.removeprefix("everpath."))

    sys.setprofile(trace)
    try:
        assert run()
    finally:
        sys.setprofile(None)
