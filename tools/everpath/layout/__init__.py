"""Pictures of channels, before anybody writes them down: what is in one, and where everything goes.

picture.py    a channel as nodes in order of version, with the edges between them
lines.py      the lines of replaces: what runs straight, what branches off, what turns back
stacking.py   who must step aside for whom
layout.py     coordinates
roads.py      where each installed version goes, as the policies say
"""

from __future__ import annotations

__all__: list[str] = []
