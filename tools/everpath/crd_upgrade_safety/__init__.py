"""Whether the objects people have survive the definitions a later release brings.

OLM replaces a release's CustomResourceDefinitions by those of its successor, on clusters full of objects.
`breaches` compares the two sets, `upgrades` does so for each two releases that OLM moves between.
"""

from __future__ import annotations

__all__ = ["Breach", "Definitions", "Moves", "Upgrade", "breaches", "upgrades"]

from everpath.crd_upgrade_safety.breaches import Breach, breaches
from everpath.crd_upgrade_safety.upgrades import Definitions, Moves, Upgrade, upgrades
