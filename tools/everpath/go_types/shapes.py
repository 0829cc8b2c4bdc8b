"""The shapes of property values, as Go's encoding/json fits JSON into opm's structs.

Keys match whatever their case, null fits everywhere, unknown keys are passed over unless asked for, and
the first value of another type is an error. A shape is data: a type, a struct `{key: shape}`, a list
`[shape]`, or `MapOf(shape)`; ANY takes whatever comes. The data of olm.bundle.object is never read here.
"""

from __future__ import annotations

__all__ = ["ANY", "SHAPES", "MapOf", "Misfit", "Shape", "field", "fits_plainly", "misfits", "text_field"]

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias


class MapOf:
    """An object with keys of its own choice. No tuple: a sequence is the shape of a list."""

    def __init__(self, values: Shape) -> None:
        self.values = values


ANY: Final = object

Shape: TypeAlias = "type | MapOf | Sequence[Shape] | Mapping[str, Shape]"

_GVK: Final[Shape] = {"group": str, "kind": str, "version": str}
_LINK: Final[Shape] = {"name": str, "url": str}
_DESCRIPTORS: Final[Shape] = [
    {"path": str, "displayName": str, "description": str, "x-descriptors": [str], "value": ANY}
]
_DESCRIPTION: Final[Mapping[str, Shape]] = {
    "name": str,
    "version": str,
    "kind": str,
    "displayName": str,
    "description": str,
    "resources": [{"name": str, "kind": str, "version": str}],
    "statusDescriptors": _DESCRIPTORS,
    "specDescriptors": _DESCRIPTORS,
    "actionDescriptors": _DESCRIPTORS,
}
_API_SERVICE: Final[Shape] = {**_DESCRIPTION, "group": str, "deploymentName": str, "containerPort": int}

#: What opm, or in the case of labels OLM v0, reads each type of property into.
SHAPES: Final[Mapping[str, Shape]] = {
    "olm.package": {"packageName": str, "version": str, "release": str},
    "olm.package.required": {"packageName": str, "versionRange": str},
    "olm.gvk": _GVK,
    "olm.gvk.required": _GVK,
    "olm.label.required": {"label": str},
    "olm.channel": {"channelName": str, "priority": int},
    "olm.csv.metadata": {
        "annotations": MapOf(str),
        "apiServiceDefinitions": {"owned": [_API_SERVICE], "required": [_API_SERVICE]},
        "crdDescriptions": {"owned": [_DESCRIPTION], "required": [_DESCRIPTION]},
        "description": str,
        "displayName": str,
        "installModes": [{"type": str, "supported": bool}],
        "keywords": [str],
        "labels": MapOf(str),
        "links": [_LINK],
        "maintainers": [{"name": str, "email": str}],
        "maturity": str,
        "minKubeVersion": str,
        "nativeAPIs": [_GVK],
        "provider": _LINK,
    },
}

_WORDS: Final[Mapping[type, str]] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "an object",
    list: "a list",
}


class Misfit(NamedTuple):
    """A value of another type than its place is for. `unknown` marks a key that the struct does not have."""

    path: tuple[str | int, ...]
    message: str
    unknown: bool = False


def field(value: object, key: str) -> object:
    """The value Go would put into a struct's field; of several spellings the last in order of bytes."""
    if not isinstance(value, dict):
        return None
    spellings = sorted(k for k in value if k.casefold() == key.casefold())
    return value[spellings[-1]] if spellings else None


def text_field(value: object, key: str) -> str:
    """The same of a field that holds a string; empty where it holds none."""
    found = field(value, key)
    return found if isinstance(found, str) else ""


# The fields of those types that are structs of nothing but texts.
_TEXTS: Final = {
    kind: shape.keys()
    for kind, shape in SHAPES.items()
    if isinstance(shape, dict) and all(field is str for field in shape.values())
}


def fits_plainly(value: object, kind: str) -> bool:
    """Whether a value is an object with the very keys of a struct of texts and texts behind them.

    Nearly all are, and to join texts is the quickest way to see that they are. False says nothing: `misfits`
    looks closer.
    """
    known = _TEXTS.get(kind)
    if known is None or type(value) is not dict or not value.keys() <= known:
        return False
    try:
        "".join(value.values())
    except TypeError:
        return False
    return True


def misfits(
    value: object, shape: Shape, *, strict: bool = False, path: tuple[str | int, ...] = ()
) -> Iterator[Misfit]:
    """Every way in which a value does not fit a shape. `strict` also reports unknown keys.

    Goes no deeper than the shape does. Cost: one visit a value.
    """
    if value is None:
        return
    if isinstance(shape, type):
        if not _fits(value, shape):
            yield _misfit(path, shape, value)
    elif isinstance(shape, Sequence) and isinstance(value, list):
        for i, item in enumerate(value):
            yield from misfits(item, shape[0], strict=strict, path=(*path, i))
    elif isinstance(shape, Sequence):
        yield _misfit(path, list, value)
    elif isinstance(value, dict):
        yield from _misfits_of_fields(value, shape, strict, path)
    else:
        yield _misfit(path, dict, value)


def _misfits_of_fields(
    value: Mapping[str, object], shape: MapOf | Mapping[str, Shape], strict: bool, path: tuple[str | int, ...]
) -> Iterator[Misfit]:
    for key, item in value.items():
        inner = _inner(shape, key)
        if inner is not None:
            yield from misfits(item, inner, strict=strict, path=(*path, key))
        elif strict:
            yield Misfit((*path, key), f"there is no field {key!r}", unknown=True)


def _inner(shape: MapOf | Mapping[str, Shape], key: str) -> Shape | None:
    """The shape behind a key of an object."""
    if isinstance(shape, MapOf):
        return shape.values
    if key in shape:
        return shape[key]
    return next((inner for name, inner in shape.items() if name.casefold() == key.casefold()), None)


def _fits(value: object, shape: type) -> bool:
    return _is_whole(value) if shape is int else isinstance(value, shape)


def _is_whole(value: object) -> bool:
    # 3.0 is rewritten as 3 before opm's structs see it; true is no number in JSON.
    return not isinstance(value, bool) and (
        isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    )


def _misfit(path: tuple[str | int, ...], wanted: type, value: object) -> Misfit:
    place = ".".join(map(str, path)) or "the value"
    return Misfit(path, f"{place} must be {_WORDS[wanted]}, not {_word(value)}")


def _word(value: object) -> str:
    return (
        _WORDS.get(type(value), type(value).__name__)
        if not isinstance(value, str)
        else f"the text {value[:40]!r}"
    )
