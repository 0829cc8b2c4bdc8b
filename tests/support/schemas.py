"""The published schemas, for tests of JSON output."""

from __future__ import annotations

__all__ = ["SCHEMAS", "conforms"]

import json
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from tests.support.commandline import ROOT

SCHEMAS = ROOT / "docs" / "schemas"


def conforms(name: str, document: Any) -> None:
    """Raise an error if a document does not conform to a schema, or the schema is invalid."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(document)
