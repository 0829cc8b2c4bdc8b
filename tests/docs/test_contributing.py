"""The worked example of CONTRIBUTING.md is the code of the repository, and its tests pass."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from console import ROOT
from everpath.rules import edges
from graphs import findings

GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RULE, TESTS = re.findall(r"^```python\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)


def test_the_rule_it_shows_is_the_rule_there_is() -> None:
    assert inspect.getsource(edges.replaces_and_skips) == RULE


def test_the_tests_it_shows_pass() -> None:
    names: dict[str, Any] = {"findings": findings}
    exec(TESTS, names)
    shown: list[Callable[[], None]] = [test for name, test in names.items() if name.startswith("test_")]
    assert len(shown) == 2
    for test in shown:
        test()
