"""The real operator-controller with `everpath catalog serve --http` instead of catalogd."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.e2e.servers.loopback import HOST, free_ports
from tests.e2e.servers.operator_controller import ExtensionRequest, OperatorController
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.probes import http_get
from tests.e2e.servers.processes import WorkDir, run_process
from tests.support.commandline import ROOT
from tests.support.everpath.documents import bundle, channel, package

pytestmark = pytest.mark.e2e

NAME = "served-by-everpath"


def test_operator_controller_resolves_from_the_server_of_everpath(
    operator_controller: OperatorController, work_dir: WorkDir, tmp_path: Path
) -> None:
    names = ("op.v1.0.0", "op.v1.1.0", "op.v1.2.0")
    # A bundle whose image is not a valid reference is resolved but not pulled.
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
                lambda: "for resolved bundle" in resolve(operator_controller, "first"),
            )
            assert 'for resolved bundle "op.v1.2.0" with version "1.2.0"' in resolve(
                operator_controller, "fresh"
            )
            assert 'for resolved bundle "op.v1.1.0"' in resolve(
                operator_controller, "next", installed=("op.v1.0.0", "1.0.0")
            )
            assert "no bundles found" in resolve(operator_controller, "none", version=">2")
        finally:
            operator_controller.delete_catalog(NAME)


def resolve(
    operator_controller: OperatorController,
    name: str,
    version: str = "",
    installed: tuple[str, str] | None = None,
) -> str:
    """Return the Progressing message of a ClusterExtension. At first it may be that there is no catalog."""
    request = ExtensionRequest(NAME, "op", version=version, installed=installed)
    ((_, status),) = operator_controller.resolve_all({f"reads-{name}": request})
    return status.progressing
