"""The Go structs that manifests are decoded into. OLM's tools refuse a value that does not fit them."""

from __future__ import annotations

__all__ = ["STRUCTS", "TypeMismatch", "type_mismatches"]

from everpath.go_types.decoding import TypeMismatch, type_mismatches
from everpath.go_types.structs import STRUCTS
