"""Custom resource definitions, as the programs that need them ship them."""

from __future__ import annotations

__all__ = ["define"]

from functools import partial
from pathlib import Path
from typing import Final

import yaml

from e2e.servers.api import Api, conditions
from e2e.servers.polling import until

_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def define(api: Api, folder: Path) -> None:
    """Creates the definitions of a folder, and waits until the server takes objects of them."""
    made = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.yaml"))]
    for definition in made:
        api.create(_CRDS, definition)
    for definition in made:
        name = definition["metadata"]["name"]
        until(f"{name} is established", partial(_is_established, api, name))


def _is_established(api: Api, name: str) -> bool:
    found = conditions(api.get(f"{_CRDS}/{name}"))
    return any(condition["type"] == "Established" and condition["status"] == "True" for condition in found)
