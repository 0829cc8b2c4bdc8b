"""Whether Go's JSON decoder accepts a manifest for a struct, and which values it refuses.

The decoder accepts null for every type without its own UnmarshalJSON, and ignores keys that are not fields of
the struct. One value of the wrong type makes OLM's tools refuse the whole document.
"""

from __future__ import annotations

__all__ = ["TypeMismatch", "type_mismatches"]

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from everpath.go_types.structs import STRUCTS
from everpath.versions import VersionError, parse_tolerant

Path: TypeAlias = tuple[str | int, ...]


class TypeMismatch(NamedTuple):
    """A value that Go cannot decode, where it is, and a description of the values that Go accepts there."""

    path: Path
    expected: str
    value: object

    @property
    def message(self) -> str:
        path = ".".join(map(str, self.path)) or "the document"
        match self.value:
            case None:
                found = "null"
            case bool():
                found = "true" if self.value else "false"
            case str():
                found = f"the string {self.value[:40]!r}"
            case int() | float():
                found = f"the number {self.value}"
            case list():
                found = "a list"
            case _:
                found = "a mapping"
        return f"{path} must be {self.expected}, not {found}"


def type_mismatches(value: object, type_: str, *, ignore_case: bool = True) -> Iterator[TypeMismatch]:
    """Yield every value that does not fit a type of the table, in document order.

    Go's own decoder ignores the case of keys; Kubernetes' decoder does not. Cost: one visit a value.
    """
    yield from _Decoder(ignore_case).check(value, type_, ())


class _Decoder(NamedTuple):
    ignore_case: bool

    def check(self, value: object, type_: str, path: Path) -> Iterator[TypeMismatch]:
        if type_[0] == "!":
            yield from self._check_unmarshaler(value, type_[1:], path)
        elif value is None or type_ == "any":
            return
        elif type_.startswith("[]"):
            yield from self._check_list(value, type_[2:], path)
        elif type_.startswith("map "):
            if not isinstance(value, dict):
                yield TypeMismatch(path, "a mapping", value)
                return
            for key, item in value.items():
                yield from self.check(item, type_[4:], (*path, key))
        elif "." in type_:
            yield from self._check_struct(value, type_, path)
        elif not _SCALARS[type_].accepts(value):
            yield TypeMismatch(path, _SCALARS[type_].description, value)

    def _check_list(self, value: object, item_type: str, path: Path) -> Iterator[TypeMismatch]:
        if not isinstance(value, list):
            yield TypeMismatch(path, "a list", value)
            return
        for index, item in enumerate(value):
            yield from self.check(item, item_type, (*path, index))

    def _check_struct(self, value: object, struct: str, path: Path) -> Iterator[TypeMismatch]:
        if not isinstance(value, dict):
            yield TypeMismatch(path, "a mapping", value)
            return
        fields, folded_fields = STRUCTS[struct], _folded_fields(struct)
        for key, item in value.items():
            type_ = fields.get(key) or (folded_fields.get(key.casefold()) if self.ignore_case else None)
            if type_ is not None:
                yield from self.check(item, type_, (*path, key))

    def _check_unmarshaler(self, value: object, type_: str, path: Path) -> Iterator[TypeMismatch]:
        # v1 and v1beta1 have the same schemas.
        schema = "apiextensions.JSONSchemaProps"
        is_schema_or = type_.startswith("JSONSchemaPropsOr")
        if is_schema_or and isinstance(value, dict):
            yield from self._check_struct(value, schema, path)
        elif type_ == "JSONSchemaPropsOrArray" and isinstance(value, list):
            yield from self._check_list(value, schema, path)
        elif type_ == "JSONSchemaPropsOrStringArray" and isinstance(value, list):
            yield from self._check_list(value, "string", path)
        elif type_ in _UNMARSHALERS and not _UNMARSHALERS[type_].accepts(value):
            yield TypeMismatch(path, _UNMARSHALERS[type_].description, value)


@lru_cache(maxsize=256)
def _folded_fields(struct: str) -> Mapping[str, str]:
    return {name.casefold(): type_ for name, type_ in STRUCTS[struct].items()}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_int(value: object, bits: int) -> bool:
    """Whether a value is an integer of this size. 3.0 is one: the conversion to JSON writes it as 3."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value == int(value) and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)


def _is_int32(value: object) -> bool:
    return _is_int(value, 32)


def _is_int64(value: object) -> bool:
    return _is_int(value, 64)


_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def _is_bytes(value: object) -> bool:
    if isinstance(value, list):
        return all(item is None or (_is_int64(item) and 0 <= item < 256) for item in value)
    return isinstance(value, str) and _BASE64.fullmatch(re.sub(r"[\r\n]", "", value)) is not None


_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII)


def _is_time(value: object) -> bool:
    return value is None or (isinstance(value, str) and _TIME.fullmatch(value) is not None)


def _is_int_or_string(value: object) -> bool:
    return value is None or isinstance(value, str) or _is_int32(value)


_QUANTITY: Final = re.compile(
    r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?"
)


def _is_quantity(value: object) -> bool:
    if isinstance(value, str):
        return _QUANTITY.fullmatch(value.strip()) is not None
    return value is None or _is_number(value)


def _is_version(value: object) -> bool:
    try:
        parse_tolerant(value if isinstance(value, str) else "")
    except VersionError:
        return False
    return True


_RELEASE_PART: Final = re.compile(r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)")


def _is_release(value: object) -> bool:
    return isinstance(value, str) and all(map(_RELEASE_PART.fullmatch, value.split(".")))


class _Type(NamedTuple):
    accepts: Callable[[object], bool]
    description: str


_SCALARS: Final[Mapping[str, _Type]] = {
    "string": _Type(lambda value: isinstance(value, str), "a string"),
    "bool": _Type(lambda value: isinstance(value, bool), "true or false"),
    "int32": _Type(_is_int32, "a 32-bit integer"),
    "int64": _Type(_is_int64, "a 64-bit integer"),
    "float64": _Type(_is_number, "a number"),
    "bytes": _Type(_is_bytes, "base64"),
}
#: Types with their own UnmarshalJSON; those that are not listed accept everything.
_UNMARSHALERS: Final[Mapping[str, _Type]] = {
    "Time": _Type(_is_time, "a time like 2006-01-02T15:04:05Z"),
    "IntOrString": _Type(_is_int_or_string, "a string or a 32-bit integer"),
    "Quantity": _Type(_is_quantity, "a quantity like 100m or 1Gi"),
    "OperatorVersion": _Type(_is_version, "a version like 1.2.3"),
    "OperatorRelease": _Type(_is_release, "a release like 1 or rc.1"),
    "JSONSchemaPropsOrBool": _Type(
        lambda value: value is None or isinstance(value, bool), "true, false or a schema"
    ),
}
