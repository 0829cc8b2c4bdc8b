"""The worked examples of CONTRIBUTING.md are the code of the repository, and their tests pass."""

from __future__ import annotations

import inspect
import re

from console import ROOT
from everpath.rules import edges
from searchkeeper.desired import names
from searchkeeper.reconcilers import migrations, versions

GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RULE, TESTS, NAME, ACTION, TALE = re.findall(r"^```python\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)


def test_the_rule_it_shows_is_the_rule_there_is() -> None:
    assert inspect.getsource(edges.replaces_and_skips) == RULE


def test_the_configuration_version_it_shows_is_the_one_there_is() -> None:
    assert inspect.getsource(names.discovery_service) == NAME
    assert inspect.getsource(migrations.old_configuration_deleted.run) == ACTION
    assert TALE in (ROOT / "tests/reconcilers/test_migrations.py").read_text(encoding="utf-8")
    [line] = re.findall(r"^```text\n(2: .*)\n```$", GUIDE, flags=re.MULTILINE)
    assert line in inspect.getsource(versions)


def test_the_tests_it_shows_are_those_of_the_rule() -> None:
    """Each runs where it stands."""
    assert TESTS in (ROOT / "tests/rules_graph/test_edges.py").read_text(encoding="utf-8")
    assert TESTS.count("def test_") == 2
