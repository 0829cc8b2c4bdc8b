"""Our published schemas, for tests that hold output against them."""

from __future__ import annotations

__all__ = ["SCHEMAS", "conforms"]

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

SCHEMAS = Path(__file__).parent.parent / "docs" / "schemas"


def conforms(name: str, document: Any) -> None:
    """Raise if a document is not what the schema says. The schema itself is checked too."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(document)
