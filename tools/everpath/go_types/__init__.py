"""The Go structs that bundles are decoded into: whatever does not fit them, OLM's tools refuse."""

from __future__ import annotations

__all__ = ["Misfit", "misfits", "structs"]

from everpath.go_types.decoding import Misfit, misfits, structs
