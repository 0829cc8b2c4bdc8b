"""Whether the objects people have survive the definitions a later release brings.

OLM replaces a release's CustomResourceDefinitions by those of its successor, on clusters full of objects.
`breaches` compares the two sets; `everpath.crds.upgrades` asks it of each two releases OLM moves between.
"""

from __future__ import annotations

__all__ = ["Breach", "Definitions", "Moves", "Upgrade", "breaches", "upgrades"]

from everpath.crds.breaches import Breach, breaches
from everpath.crds.upgrades import Definitions, Moves, Upgrade, upgrades
