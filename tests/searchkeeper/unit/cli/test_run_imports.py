"""A run of the operator on an API server does not import the test doubles."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.searchkeeper.managers import serve_api, write_kubeconfig
from tests.support.searchkeeper.operator_runs import new_cluster

SCRIPT = """
import sys
from searchkeeper.cli.app import main
try:
    main()
finally:
    print("\\ntest doubles:", *(name for name in sys.modules if name.startswith("searchkeeper.testing")))
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("options", "is_imported"),
    [((), False), (("--engine", "embedded"), True)],
    ids=["OpenSearch", "embedded"],
)
def test_run_imports_test_doubles_only_for_the_embedded_engine(
    tmp_path: Path, options: tuple[str, ...], is_imported: bool
) -> None:
    with serve_api(new_cluster()) as face:
        kubeconfig = write_kubeconfig(face, tmp_path)
        command = [sys.executable, "-c", SCRIPT, "run", "--once", "--kubeconfig", str(kubeconfig), *options]
        completed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert completed.stdout.startswith("search/logs: waiting"), completed.stdout + completed.stderr
    modules = completed.stdout.partition("test doubles:")[2]
    assert bool(modules.split()) is is_imported
