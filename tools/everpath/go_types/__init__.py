"""The Go types that manifests and properties are decoded into. OLM's tools refuse other values."""

from __future__ import annotations

__all__ = ["STRUCTS", "GoType", "TypeMismatch", "field", "text_field", "type_mismatches"]

from everpath.go_types.decoding import GoType, TypeMismatch, field, text_field, type_mismatches
from everpath.go_types.structs import STRUCTS
