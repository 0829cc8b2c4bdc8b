"""Whether a manifest fits the struct that Go's decoder would read it into, and where it does not.

Null fits everywhere but in types that decode it themselves, keys the struct does not have are passed over,
and the first value of another type makes OLM's tools refuse the whole document.
"""

from __future__ import annotations

__all__ = ["Misfit", "misfits", "structs"]

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from everpath.go_types.structs import TABLE
from everpath.versions import VersionError, parse_tolerant

_WORDS: Final = {
    "string": "a string",
    "bool": "true or false",
    "float64": "a number",
    "bytes": "base64",
}
_BITS: Final = {"int": 64, "int8": 8, "int16": 16, "int32": 32, "int64": 64}
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_QUANTITY: Final = re.compile(
    r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?"
)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII)
_RELEASE: Final = re.compile(r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)")

Path = tuple[str | int, ...]


class Misfit(NamedTuple):
    """A value of another type than its place is for, and the way to it."""

    path: Path
    message: str


def misfits(value: object, struct: str, *, folds: bool = True) -> Iterator[Misfit]:
    """Every value that does not fit a struct of the table, in the order they stand in.

    `folds`: keys match whatever their case, as Go's own decoder has it; Kubernetes' decoder is exact.
    Cost: one visit a value.
    """
    yield from _Look(folds).at(value, struct, ())


class _Look(NamedTuple):
    folds: bool

    def at(self, value: object, kind: str, path: Path) -> Iterator[Misfit]:
        if kind[0] == "!":
            yield from self._own(value, kind[1:], path)
        elif value is None or kind == "any":
            return
        elif kind.startswith("[]"):
            yield from self._list(value, kind[2:], path)
        elif kind.startswith("map "):
            yield from self._map(value, kind[4:], path)
        elif "." in kind:
            yield from self._struct(value, kind, path)
        elif not _is_plain(value, kind):
            yield _misfit(path, value, _WORDS.get(kind, f"a whole number of {_BITS.get(kind)} bits"))

    def _list(self, value: object, kind: str, path: Path) -> Iterator[Misfit]:
        if not isinstance(value, list):
            yield _misfit(path, value, "a list")
            return
        for index, item in enumerate(value):
            yield from self.at(item, kind, (*path, index))

    def _map(self, value: object, kind: str, path: Path) -> Iterator[Misfit]:
        if not isinstance(value, dict):
            yield _misfit(path, value, "a mapping")
            return
        for key, item in value.items():
            yield from self.at(item, kind, (*path, key))

    def _struct(self, value: object, kind: str, path: Path) -> Iterator[Misfit]:
        if not isinstance(value, dict):
            yield _misfit(path, value, "a mapping")
            return
        fields, folded = _fields(kind)
        for key, item in value.items():
            inner = fields.get(key) or (folded.get(key.casefold()) if self.folds else None)
            if inner is not None:
                yield from self.at(item, inner, (*path, key))

    def _own(self, value: object, kind: str, path: Path) -> Iterator[Misfit]:
        """Types that read JSON by rules of their own."""
        if kind in _SCHEMAS:
            yield from self._schema(value, kind, path)
        elif (test := _TESTS.get(kind)) is not None and not test[0](value):
            yield _misfit(path, value, test[1])

    def _schema(self, value: object, kind: str, path: Path) -> Iterator[Misfit]:
        """A schema, or what may stand in its place. Both versions of CRDs have the same schemas."""
        props = "apiextensions.JSONSchemaProps"
        if isinstance(value, dict):
            yield from self._struct(value, props, path)
        elif isinstance(value, list) and kind in ("JSONSchemaPropsOrArray", "JSONSchemaPropsOrStringArray"):
            inner = props if kind == "JSONSchemaPropsOrArray" else "string"
            yield from self._list(value, inner, path)
        elif kind == "JSONSchemaPropsOrBool" and not isinstance(value, bool | None):
            yield _misfit(path, value, "true, false or a schema")


def _is_plain(value: object, kind: str) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "float64":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "bytes":
        return _is_bytes(value)
    return _is_whole(value, _BITS[kind])


def _is_whole(value: object, bits: int) -> bool:
    """A number without a fraction that fits; 3.0 has become 3 before anybody decodes it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value == int(value) and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)


def _is_bytes(value: object) -> bool:
    if isinstance(value, list):
        return all(item is None or (_is_whole(item, 64) and 0 <= item < 256) for item in value)
    return isinstance(value, str) and _BASE64.fullmatch(re.sub(r"[\r\n]", "", value)) is not None


def _is_time(value: object) -> bool:
    return value is None or (isinstance(value, str) and _TIME.fullmatch(value) is not None)


def _is_int_or_string(value: object) -> bool:
    return value is None or isinstance(value, str) or _is_whole(value, 32)


def _is_quantity(value: object) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        return _QUANTITY.fullmatch(value.strip()) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_version(value: object) -> bool:
    try:
        parse_tolerant(value if isinstance(value, str) else "")
    except VersionError:
        return False
    return True


def _is_release(value: object) -> bool:
    return isinstance(value, str) and all(map(_RELEASE.fullmatch, value.split(".")))


_SCHEMAS: Final = ("JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray")
_TESTS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "Time": (_is_time, "a time like 2006-01-02T15:04:05Z"),
    "IntOrString": (_is_int_or_string, "a string or a whole number of 32 bits"),
    "Quantity": (_is_quantity, "a quantity like 100m or 1Gi"),
    "OperatorVersion": (_is_version, "a version like 1.2.3"),
    "OperatorRelease": (_is_release, "a release like 1 or rc.1"),
}


@lru_cache(maxsize=1)
def structs() -> Mapping[str, Mapping[str, str]]:
    """The structs there are, and the type of each field."""
    found: dict[str, dict[str, str]] = {}
    for block in re.split(r"\n(?! )", TABLE.strip()):
        name, _, fields = block.partition("\n")
        named = (re.split(r"\s+", item.strip(), maxsplit=1) for item in fields.split(",") if item.strip())
        found[name] = {field: " ".join(kind.split()) for field, kind in named}
    return found


@lru_cache(maxsize=256)
def _fields(struct: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    fields = structs()[struct]
    return fields, {name.casefold(): kind for name, kind in fields.items()}


def _misfit(path: Path, value: object, wanted: str) -> Misfit:
    where = ".".join(map(str, path)) or "the document"
    return Misfit(path, f"{where} must be {wanted}, not {_shown(value)}")


def _shown(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the string {value[:40]!r}"
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case _:
            return "a mapping"
