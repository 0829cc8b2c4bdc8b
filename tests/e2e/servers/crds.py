"""The CRDs that the programs ship."""

from __future__ import annotations

__all__ = ["create_crds"]

from functools import partial
from pathlib import Path
from typing import Final

import yaml

from tests.e2e.servers.api import Api, conditions
from tests.e2e.servers.polling import wait_until

_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def create_crds(api: Api, folder: Path) -> None:
    """Create the CRDs of a folder, and wait until each is Established."""
    crds = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.yaml"))]
    for crd in crds:
        api.create(_CRDS, crd)
    for crd in crds:
        name = crd["metadata"]["name"]
        wait_until(f"{name} is established", partial(_is_established, api, name))


def _is_established(api: Api, name: str) -> bool:
    found = conditions(api.get(f"{_CRDS}/{name}"))
    return any(condition["type"] == "Established" and condition["status"] == "True" for condition in found)
