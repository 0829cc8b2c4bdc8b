"""Validation of an `olm.constraint` as OLM v0 does it.

opm only requires JSON. The resolver of OLM v0 parses a constraint strictly when its bundle becomes a
candidate, and evaluates the first kind that is set. A constraint that it cannot parse fails every
Subscription of the namespace.
"""

from __future__ import annotations

__all__ = ["ConstraintProblem", "constraint_problems"]

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from everpath.go_types import GoType, TypeMismatch, field, type_mismatches
from everpath.manifest_access import Pointer
from everpath.ranges import Range, RangeError
from everpath.versions import underline
from everpath.wording import join_names

#: OLM v0 refuses a longer constraint.
SIZE_LIMIT: Final = 131072

_COMPOUND: Final[Mapping[str, GoType]] = {"constraints": "[]any"}
#: In the order of the resolver, which evaluates only the first that is set.
_KINDS: Final[Mapping[str, Mapping[str, GoType]]] = {
    "gvk": {"group": "string", "kind": "string", "version": "string"},
    "package": {"packageName": "string", "versionRange": "string"},
    "all": _COMPOUND,
    "any": _COMPOUND,
    "not": _COMPOUND,
    "cel": {"rule": "string"},
}
_CONSTRAINT: Final[Mapping[str, GoType]] = {"failureMessage": "string", **_KINDS}


class ConstraintProblem(NamedTuple):
    """A problem of a constraint: OLM v0 fails on it, or if not `is_fatal`, ignores part of the constraint."""

    path: Pointer
    message: str
    because: tuple[str, ...] = ()
    fix: str | None = None
    is_fatal: bool = True


def constraint_problems(value: object) -> Iterator[ConstraintProblem]:
    """Yield every problem of a constraint, outermost first. Cost: one visit a value."""
    if (size := json_size(value)) > SIZE_LIMIT:
        message = f"it has {size:,} bytes, and OLM v0 accepts at most {SIZE_LIMIT:,}"
        yield ConstraintProblem((), message, fix="split it")
        return
    pending: list[tuple[object, Pointer, bool]] = [(value, (), True)]
    while pending:
        constraint, path, is_evaluated = pending.pop()
        kinds = [kind for kind in _KINDS if field(constraint, kind) is not None]
        mismatches = list(type_mismatches(constraint, _CONSTRAINT, path=path, allow_unknown_fields=False))
        for mismatch in mismatches:
            fix = _spelling_fix(mismatch, len(path)) if mismatch.is_unknown_field else None
            yield ConstraintProblem(mismatch.path, mismatch.message, fix=fix)
        if is_evaluated and (kinds or not mismatches):
            yield from _kind_problems(constraint, path, kinds)
        nested = [
            (inner, (*path, kind, "constraints", i), is_evaluated and kind == kinds[0])
            for kind in ("all", "any", "not")
            for i, inner in enumerate(_nested_constraints(constraint, kind))
        ]
        pending += reversed(nested)


def _nested_constraints(constraint: object, kind: str) -> list[object]:
    nested = field(field(constraint, kind), "constraints")
    return nested if isinstance(nested, list) else []


def _spelling_fix(mismatch: TypeMismatch, depth: int) -> str:
    """Return the fix for an unknown field: the most similar field of the same struct, or all its fields."""
    from difflib import get_close_matches  # noqa: PLC0415 - rarely needed, and slow to import

    is_nested = len(mismatch.path) > depth + 1
    known = list(_KINDS[str(mismatch.path[depth]).casefold()] if is_nested else _CONSTRAINT)
    wrong = str(mismatch.path[-1]).casefold()
    near = next((name for name in known if wrong in name.casefold() or name.casefold() in wrong), None)
    near = near or next(iter(get_close_matches(wrong, known, n=1)), None)
    return f"did you mean {near!r}?" if near else f"the fields are {join_names(known)}"


def _kind_problems(constraint: object, path: Pointer, kinds: list[str]) -> Iterator[ConstraintProblem]:
    """Yield the problems of a constraint that the resolver evaluates, apart from wrong types."""
    if not kinds:
        yield ConstraintProblem(path, "it has no kind", fix=f"add one of {join_names(_KINDS)}")
        return
    kind, *ignored = kinds
    if ignored:
        message = f"it has several kinds: OLM v0 evaluates {kind} and ignores {join_names(ignored)}"
        yield ConstraintProblem(path, message, fix="combine them with all", is_fatal=False)
    value, path = field(constraint, kind), (*path, kind)
    mismatches = list(type_mismatches(value, _KINDS[kind], allow_unknown_fields=False))
    if not isinstance(value, dict) or any(mismatch.is_unknown_field for mismatch in mismatches):
        return  # the known field is empty only because it is misspelled
    if kind == "package" and isinstance(version_range := field(value, "versionRange") or "", str):
        try:
            Range.parse(version_range)
        except RangeError as error:
            yield ConstraintProblem(
                (*path, "versionRange"),
                f"the range {version_range!r} does not parse: {error.reason}",
                tuple(underline(error.text, *error.span, error.reason).splitlines()),
                error.hint,
            )
    if kind == "cel" and isinstance(rule := field(value, "rule") or "", str):
        from everpath.rules import cel  # noqa: PLC0415 - few catalogs have CEL rules

        try:
            cel.check(rule)
        except cel.CelError as error:
            message = f"the CEL rule does not compile: {error.reason}"
            yield ConstraintProblem((*path, "rule"), message, tuple(error.pretty().splitlines()))
    if _KINDS[kind] is _COMPOUND and not field(value, "constraints") and not mismatches:
        message = f"{kind} without constraints {'is never' if kind == 'any' else 'is always'} satisfied"
        yield ConstraintProblem(path, message, fix=f"add constraints to {kind}", is_fatal=False)


def json_size(value: object) -> int:
    """Return the bytes of a value as compact JSON. Not recursive: users decide how deeply it is nested."""
    import json  # noqa: PLC0415 - few catalogs have constraints

    total, pending = 0, [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            total += 1 + 2 * len(item) + (not item)
            pending += [*item, *item.values()]
        elif isinstance(item, list):
            total += 1 + len(item) + (not item)
            pending += item
        else:
            total += len(json.dumps(item, ensure_ascii=False).encode(errors="surrogatepass"))
    return total
