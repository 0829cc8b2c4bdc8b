"""validate-graph runs through the modules that docs/architecture.md lists."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import FrameType

from catalogs import write_fbc
from commandline import ROOT, Everpath

SECTION = re.compile(r"^## How validate-graph runs\n(.*?)^## ", re.MULTILINE | re.DOTALL)


def test_the_documented_modules_are_those_that_run(everpath: Everpath, here: Path) -> None:
    write_fbc(here, "op.v3: op.v1\nop.v2: op.v1\nop.v1", "op")
    called = _modules_called(everpath)
    section = SECTION.search((ROOT / "docs/architecture.md").read_text())
    assert section is not None
    documented = set(re.findall(r"`([a-z_0-9.]+)`", section[1]))
    walk = {module for module in called if module.startswith(("cli.", "app."))}
    layers = {name for name in documented if "." not in name}
    assert walk == documented - layers
    assert layers <= {module.partition(".")[0] for module in called}
    assert len(documented) <= 12


def _modules_called(everpath: Everpath) -> set[str]:
    """Trace a run and return the modules with a function that was called, from the command on."""
    called: set[str] = set()

    def record(frame: FrameType, event: str, _: object) -> None:
        code, name = frame.f_code, str(frame.f_globals.get("__name__"))
        # Bodies of modules and classes run once, when they are imported, and are not optimized.
        if event != "call" or not name.startswith("everpath.") or not code.co_flags & inspect.CO_OPTIMIZED:
            return
        if code.co_qualname == "validate_graph" or called:
            called.add(name.removeprefix("everpath."))

    sys.setprofile(record)
    try:
        assert everpath("validate-graph").code == 1
    finally:
        sys.setprofile(None)
    return called
