"""Whether Go's JSON decoder accepts a value for a type, and which parts of the value it refuses.

The decoder accepts null for every type without its own UnmarshalJSON, and ignores keys that are not fields of
the struct. One value of the wrong type makes OLM's tools refuse the whole document.
"""

from __future__ import annotations

__all__ = ["GoType", "TypeMismatch", "field", "text_field", "type_mismatches"]

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from everpath.go_types.structs import STRUCTS
from everpath.manifest_access import Pointer
from everpath.versions import VersionError, parse_tolerant

#: A type as `structs` writes it, `{field: type}` for a struct, or `[type]` for a list.
GoType: TypeAlias = "str | Mapping[str, GoType] | list[GoType]"


class TypeMismatch(NamedTuple):
    """A value that Go cannot decode, where it is, and a description of the values that Go accepts there.

    `go_type` is the scalar type of Go; empty for other types.
    `is_unknown_field` marks a key that is not a field of the struct, for decoders that refuse those.
    """

    path: Pointer
    expected: str
    value: object
    go_type: str = ""
    is_unknown_field: bool = False

    @property
    def is_unquoted(self) -> bool:
        """Whether a number or a boolean is in place of a string."""
        return self.go_type == "string" and isinstance(self.value, int | float)

    @property
    def message(self) -> str:
        if self.is_unknown_field:
            return f"there is no field {self.path[-1]!r}"
        path = ".".join(map(str, self.path)) or "the value"
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


def type_mismatches(
    value: object,
    type_: GoType,
    *,
    path: Pointer = (),
    ignore_case: bool = True,
    allow_unknown_fields: bool = True,
) -> Iterator[TypeMismatch]:
    """Yield every value that does not fit a type, in document order, with its path below `path`.

    Go's own decoder ignores the case of keys; Kubernetes' decoder does not. Cost: one visit a value.
    """
    return _Decoder(ignore_case, allow_unknown_fields).check(value, type_, path)


def field(value: object, key: str) -> object:
    """Return the value that Go puts into a struct's field: of several spellings, the last in byte order."""
    if not isinstance(value, dict):
        return None
    spellings = sorted(k for k in value if k.casefold() == key.casefold())
    return value[spellings[-1]] if spellings else None


def text_field(value: object, key: str) -> str:
    """Return the string that Go puts into a struct's field, or an empty one."""
    found = field(value, key)
    return found if isinstance(found, str) else ""


class _Decoder(NamedTuple):
    ignore_case: bool
    allow_unknown_fields: bool

    def check(self, value: object, type_: GoType, path: Pointer) -> Iterator[TypeMismatch]:
        if isinstance(type_, str):
            yield from self._check_named(value, type_, path)
        elif isinstance(type_, list):
            yield from self._check_list(value, type_[0], path)
        else:
            yield from self._check_struct(value, type_, path)

    def _check_named(self, value: object, type_: str, path: Pointer) -> Iterator[TypeMismatch]:
        if type_ in _SCALARS:
            if value is not None and not _SCALARS[type_].accepts(value):
                yield TypeMismatch(path, _SCALARS[type_].description, value, type_)
        elif type_[0] == "!":
            yield from self._check_unmarshaler(value, type_[1:], path)
        elif type_.startswith("[]"):
            yield from self._check_list(value, type_[2:], path)
        elif type_.startswith("map "):
            yield from self._check_map(value, type_[4:], path)
        elif type_ != "any":
            yield from self._check_struct(value, STRUCTS[type_], path, _folded_fields(type_))

    def _check_map(self, value: object, item_type: str, path: Pointer) -> Iterator[TypeMismatch]:
        if isinstance(value, dict):
            for key, item in value.items():
                yield from self.check(item, item_type, (*path, key))
        elif value is not None:
            yield TypeMismatch(path, "a mapping", value)

    def _check_list(self, value: object, item_type: GoType, path: Pointer) -> Iterator[TypeMismatch]:
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield from self.check(item, item_type, (*path, index))
        elif value is not None:
            yield TypeMismatch(path, "a list", value)

    def _check_struct(
        self,
        value: object,
        fields: Mapping[str, GoType],
        path: Pointer,
        folded_fields: Mapping[str, GoType] | None = None,
    ) -> Iterator[TypeMismatch]:
        if not isinstance(value, dict):
            if value is not None:
                yield TypeMismatch(path, "a mapping", value)
            return
        for key, item in value.items():
            type_ = fields.get(key)
            if type_ is None and self.ignore_case:
                folded_fields = folded_fields or {name.casefold(): t for name, t in fields.items()}
                type_ = folded_fields.get(key.casefold())
            if type_ is not None:
                yield from self.check(item, type_, (*path, key))
            elif not self.allow_unknown_fields:
                yield TypeMismatch((*path, key), "", item, is_unknown_field=True)

    def _check_unmarshaler(self, value: object, type_: str, path: Pointer) -> Iterator[TypeMismatch]:
        # v1 and v1beta1 have the same schemas.
        schema = "apiextensions.JSONSchemaProps"
        if type_.startswith("JSONSchemaPropsOr") and isinstance(value, dict):
            yield from self.check(value, schema, path)
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
    is_whole = isinstance(value, int) or value.is_integer()
    return is_whole and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)


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
