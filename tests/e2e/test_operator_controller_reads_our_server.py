"""The real operator-controller, with `everpath catalog serve --http` in the place of catalogd."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from commandline import ROOT
from documents import bundle, channel, package
from e2e.servers.loopback import HOST, free_ports
from e2e.servers.operator_controller import Ask, OlmV1
from e2e.servers.polling import until
from e2e.servers.probes import answered
from e2e.servers.processes import Workshop, running

pytestmark = pytest.mark.e2e

NAME = "served-by-everpath"


def test_it_resolves_from_what_we_serve(olm: OlmV1, place: Workshop, tmp_path: Path) -> None:
    names = ("op.v1.0.0", "op.v1.1.0", "op.v1.2.0")
    # What is no reference to an image is resolved, and pulled from nowhere.
    documents = [package(), channel(*names), *(bundle(name, image="none") for name in names)]
    (tmp_path / "catalog.json").write_text("\n".join(map(json.dumps, documents)))
    (port,) = free_ports(1)
    base = f"http://{HOST}:{port}/catalogs/{NAME}"
    options = ("--address", HOST, "--port", "0", "--http", f"{HOST}:{port}", "--name", NAME)
    command = (sys.executable, "-m", "everpath", "catalog", "serve", str(tmp_path), *options)
    with running(
        place,
        "everpath-catalog-serve",
        command,
        ready=lambda: answered(f"{base}/api/v1/all") is not None,
        environment={"PYTHONPATH": str(ROOT / "tools")},
    ):
        olm.point(NAME, base, shelf=NAME)
        try:
            until("a bundle is resolved", lambda: "for resolved bundle" in resolved(olm, "first"))
            assert 'for resolved bundle "op.v1.2.0" with version "1.2.0"' in resolved(olm, "fresh")
            assert 'for resolved bundle "op.v1.1.0"' in resolved(
                olm, "next", installed=("op.v1.0.0", "1.0.0")
            )
            assert "no bundles found" in resolved(olm, "none", version=">2")
        finally:
            olm.withdraw(NAME)


def resolved(olm: OlmV1, name: str, version: str = "", installed: tuple[str, str] | None = None) -> str:
    """What operator-controller says of a ClusterExtension: at first perhaps that it knows no catalog."""
    ask = Ask(NAME, "op", version=version, installed=installed)
    ((_, answer),) = olm.answers({f"reads-{name}": ask})
    return answer.progressing
