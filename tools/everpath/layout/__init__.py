"""The drawing of a channel, independent of the output format.

diagram.py           the entries of a channel in order of version, and the edges between them
replaces_chains.py   chains of replaces: which are drawn as one row, where another one branches off
levels.py            levels for items that lie over ranges of columns
geometry.py          coordinates
paths.py             the upgrade paths that are shown
drawing.py           one channel with its diagram, coordinates, paths and findings
captions.py          the texts of a drawing
"""

from __future__ import annotations

__all__: list[str] = []
