"""The real operator-controller, with `everpath catalog serve --http` in the place of catalogd."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from commandline import ROOT
from documents import bundle, channel, package
from e2e.servers.loopback import HOST, free_ports
from e2e.servers.operator_controller import ExtensionRequest, OperatorController
from e2e.servers.polling import wait_until
from e2e.servers.probes import http_get
from e2e.servers.processes import WorkDir, run_process

pytestmark = pytest.mark.e2e

NAME = "served-by-everpath"


def test_it_resolves_from_what_we_serve(
    operator_controller: OperatorController, work_dir: WorkDir, tmp_path: Path
) -> None:
    names = ("op.v1.0.0", "op.v1.1.0", "op.v1.2.0")
    # What is no reference to an image is resolved, and pulled from nowhere.
    documents = [package(), channel(*names), *(bundle(name, image="none") for name in names)]
    (tmp_path / "catalog.json").write_text("\n".join(map(json.dumps, documents)))
    (port,) = free_ports(1)
    base = f"http://{HOST}:{port}/catalogs/{NAME}"
    options = ("--address", HOST, "--port", "0", "--http", f"{HOST}:{port}", "--name", NAME)
    command = (sys.executable, "-m", "everpath", "catalog", "serve", str(tmp_path), *options)
    with run_process(
        work_dir,
        "everpath-catalog-serve",
        command,
        ready=lambda: http_get(f"{base}/api/v1/all") is not None,
        environment={"PYTHONPATH": str(ROOT / "tools")},
    ):
        operator_controller.add_external_catalog(NAME, base, catalog_label=NAME)
        try:
            wait_until(
                "a bundle is resolved",
                lambda: "for resolved bundle" in resolved(operator_controller, "first"),
            )
            assert 'for resolved bundle "op.v1.2.0" with version "1.2.0"' in resolved(
                operator_controller, "fresh"
            )
            assert 'for resolved bundle "op.v1.1.0"' in resolved(
                operator_controller, "next", installed=("op.v1.0.0", "1.0.0")
            )
            assert "no bundles found" in resolved(operator_controller, "none", version=">2")
        finally:
            operator_controller.delete_catalog(NAME)


def resolved(
    operator_controller: OperatorController,
    name: str,
    version: str = "",
    installed: tuple[str, str] | None = None,
) -> str:
    """What operator-controller says of a ClusterExtension: at first perhaps that it knows no catalog."""
    ask = ExtensionRequest(NAME, "op", version=version, installed=installed)
    ((_, answer),) = operator_controller.resolve_all({f"reads-{name}": ask})
    return answer.progressing
