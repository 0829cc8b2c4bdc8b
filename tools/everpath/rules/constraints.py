"""What OLM v0 makes of an `olm.constraint`: parsed strictly, read at the first of its kinds.

opm only asks for JSON. The resolver parses each constraint when its bundle becomes a candidate, and one
that it cannot parse fails every Subscription of the namespace.
"""

from __future__ import annotations

__all__ = ["Fault", "faults"]

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from everpath.go_types.shapes import ANY, Misfit, Shape, field, misfits
from everpath.ranges import Range, RangeError
from everpath.versions import underline
from everpath.wording import listed

Path: TypeAlias = tuple[str | int, ...]

#: OLM parses no constraint that is longer.
SIZE_LIMIT: Final = 131072

_COMPOUND: Final[Shape] = {"constraints": [ANY]}
#: In the order in which the resolver looks for them: it reads the first that is there.
_KINDS: Final[Mapping[str, Shape]] = {
    "gvk": {"group": str, "kind": str, "version": str},
    "package": {"packageName": str, "versionRange": str},
    "all": _COMPOUND,
    "any": _COMPOUND,
    "not": _COMPOUND,
    "cel": {"rule": str},
}
_CONSTRAINT: Final[Mapping[str, Shape]] = {"failureMessage": str, **_KINDS}


class Fault(NamedTuple):
    """Something wrong with a constraint; `is_fatal` if OLM fails on it, else it only misleads."""

    path: Path
    message: str
    because: tuple[str, ...] = ()
    fix: str | None = None
    is_fatal: bool = True


def faults(value: object) -> Iterator[Fault]:
    """Everything wrong with a constraint, outermost first. Cost: one visit a value."""
    if (size := _size(value)) > SIZE_LIMIT:
        yield Fault((), f"a constraint has at most {SIZE_LIMIT} bytes, this one {size}", fix="split it")
        return
    waiting: list[tuple[object, Path, bool]] = [(value, (), True)]
    while waiting:
        constraint, path, is_read = waiting.pop()
        kinds = [kind for kind in _KINDS if field(constraint, kind) is not None]
        misshapen = list(_misshapen(constraint, path))
        yield from misshapen
        if is_read and (kinds or not misshapen):
            yield from _unmeant(constraint, path, kinds)
        nested = _nested(constraint, path)
        waiting += reversed([(inner, way, is_read and kind == kinds[0]) for kind, inner, way in nested])


def _misshapen(constraint: object, path: Path) -> Iterator[Fault]:
    """What the parser refuses in one constraint, those nested in it aside."""
    for misfit in misfits(constraint, _CONSTRAINT, strict=True, path=path):
        yield Fault(misfit.path, misfit.message, fix=_meant(misfit, len(path)) if misfit.unknown else None)


def _meant(misfit: Misfit, depth: int) -> str | None:
    """What an unknown field was meant to be: a field of the very struct that does not have it."""
    from difflib import get_close_matches  # noqa: PLC0415 - only who mistypes pays for it

    kind = str(misfit.path[depth]).casefold() if len(misfit.path) > depth + 1 else None
    struct = _KINDS[kind] if kind else _CONSTRAINT
    known = list(struct) if isinstance(struct, Mapping) else []
    wrong = str(misfit.path[-1]).casefold()
    near = next((f for f in known if wrong in f.casefold() or f.casefold() in wrong), None)
    near = near or next(iter(get_close_matches(wrong, known, n=1)), None)
    return f"did you mean {near!r}?" if near else f"there are {listed(known)}"


def _unmeant(constraint: object, path: Path, kinds: list[str]) -> Iterator[Fault]:
    """What is wrong with the meaning of one constraint that the resolver reads."""
    if not kinds:
        yield Fault(path, "a constraint says nothing", fix=f"give it one of {listed(_KINDS)}")
        return
    if len(kinds) > 1:
        message = f"a constraint is of one kind; OLM reads {kinds[0]} and passes over {listed(kinds[1:])}"
        yield Fault(path, message, fix="join them with all", is_fatal=False)
    yield from _faults_of_kind(kinds[0], field(constraint, kinds[0]), (*path, kinds[0]))


def _faults_of_kind(kind: str, value: object, path: Path) -> Iterator[Fault]:
    if not isinstance(value, dict):
        return
    if any(misfit.unknown for misfit in misfits(value, _KINDS[kind], strict=True)):
        return  # a field under another name is reported; that its own is empty only follows
    if kind == "package" and isinstance(span := field(value, "versionRange") or "", str):
        yield from _range_faults(span, (*path, "versionRange"))
    if kind == "cel" and isinstance(rule := field(value, "rule") or "", str):
        yield from _rule_faults(rule, (*path, "rule"))
    if _KINDS[kind] is _COMPOUND and not field(value, "constraints") and not _is_misshapen(value):
        always = "can never be met" if kind == "any" else "is always met"
        yield Fault(path, f"{kind} of no constraints {always}", fix="list constraints in it", is_fatal=False)


def _is_misshapen(compound: object) -> bool:
    return any(misfits(compound, _COMPOUND, strict=True))


def _range_faults(text: str, path: Path) -> Iterator[Fault]:
    try:
        Range.parse(text)
    except RangeError as error:
        message = f"the range {text!r} does not parse: {error.reason}"
        yield Fault(
            path, message, tuple(underline(error.text, *error.span, error.reason).splitlines()), error.hint
        )


def _rule_faults(rule: str, path: Path) -> Iterator[Fault]:
    from everpath.rules import cel  # noqa: PLC0415 - a parser that few catalogs need

    try:
        cel.check(rule)
    except cel.CelError as error:
        yield Fault(
            path, f"the CEL rule does not compile: {error.reason}", tuple(error.pretty().splitlines())
        )


def _nested(constraint: object, path: Path) -> Iterator[tuple[str, object, Path]]:
    """Constraints within a constraint, each with the kind it stands under and the way to it."""
    for kind in ("all", "any", "not"):
        inner = field(field(constraint, kind), "constraints")
        for i, nested in enumerate(inner if isinstance(inner, list) else ()):
            yield kind, nested, (*path, kind, "constraints", i)


def _size(value: object) -> int:
    """Bytes of a value as compact JSON. Not recursive: whoever wrote it chose how deeply it is nested."""
    import json  # noqa: PLC0415 - catalogs with constraints are rare

    total, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            total += 1 + 2 * len(item) + (not item)
            waiting += [*item, *item.values()]
        elif isinstance(item, list):
            total += 1 + len(item) + (not item)
            waiting += item
        else:
            total += len(json.dumps(item, ensure_ascii=False).encode(errors="surrogatepass"))
    return total
