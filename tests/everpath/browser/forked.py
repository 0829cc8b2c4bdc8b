"""A channel with two branches, and its highlighted paths."""

from __future__ import annotations

__all__ = ["FORKED", "LIT"]

from typing import Final

FORKED: Final = """
    [stable]
    op.v1.3.0: op.v1.1.0 / op.v1.2.0
    op.v1.2.0: op.v1.1.0
    op.v1.1.0: op.v1.0.0
    op.v1.0.0
    [old]
    op.v1.0.0
    op.v0.9.0: - / - / <0.9.0
"""
LIT: Final = ".channel:not([hidden]) .hop.lit title"
