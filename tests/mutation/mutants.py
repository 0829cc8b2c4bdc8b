"""The mutants of a module: each is the module with one small fault in it.

Left alone are what no test should fix in place: docstrings, `__all__`, annotations and type aliases,
assertions and imports that are there for the type checker, the texts of messages, and how a dataclass or a
cache is declared. That a message has a `because` and a `fix` is a law; how they are worded is not.
"""

from __future__ import annotations

__all__ = ["Mutant", "mutants"]

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from mutation.mutators import replacements

#: The way from the module down to a node: a field, and the place in it if it is a list.
Way: TypeAlias = tuple[tuple[str, int | None], ...]

_CONTAINERS: Final = {"list", "set", "dict", "tuple", "frozenset", "type", "Literal"}
_DECLARING: Final = {"dataclass", "lru_cache", "cache", "cached_property", "property", "TypeVar"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: where it is, what the statement said before and says now."""

    module: str
    owner: str
    line: int
    last_line: int
    before: str
    after: str
    change: str
    runs_at_import: bool
    tree: ast.Module = field(repr=False, compare=False)

    @property
    def key(self) -> str:
        """What identifies it, wherever in the file its line may move to."""
        return f"{self.module} {self.owner}\n  {self.before}\n  {self.change}"


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a walk through a module is."""

    way: Way = ()
    owner: str = "-"
    statement: ast.stmt | None = None
    statement_way: Way = ()
    in_function: bool = False
    in_text: bool = False
    is_only: bool = False


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """Every mutant of a module, in the order of its lines."""
    tree = ast.parse(source)
    count: Counter[str] = Counter()
    for node, spot in _nodes(tree, _Spot()):
        for label, other in replacements(node):
            if _is_lawful(node, label, spot):
                mutant = _mutant(module, tree, spot, node, label, other)
                count[mutant.key] += 1
                number = count[mutant.key]
                yield replace(mutant, change=f"{mutant.change} ({number})") if number > 1 else mutant


def _is_lawful(node: ast.AST, label: str, spot: _Spot) -> bool:
    """Whether a change is worth a test: no change of a text, none that another one makes already."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and spot.in_text:
        return False
    # Without the only statement of an `if`, the `if` might as well not be entered.
    return not ((label == "removed" and spot.is_only) or _is_unpacked(node, spot.statement))


def _is_unpacked(node: ast.AST, statement: ast.stmt | None) -> bool:
    """Whether a tuple has names waiting for each of its items."""
    match statement:
        case ast.Assign([ast.Tuple()], value):
            return node is value
    return False


def _mutant(module: str, tree: ast.Module, spot: _Spot, node: ast.AST, label: str, other: ast.AST) -> Mutant:
    statement = spot.statement
    assert statement is not None  # only statements and what is in them is replaced
    placed = ast.fix_missing_locations(ast.copy_location(copy.copy(other), node))
    after = _replaced(statement, spot.way[len(spot.statement_way) :], placed)
    body = getattr(statement, "body", None)
    return Mutant(
        module,
        spot.owner,
        line=statement.lineno,
        last_line=body[0].lineno - 1 if body else statement.end_lineno or statement.lineno,
        before=_header(statement),
        after="(removed)" if label == "removed" else _header(after),
        change=label or f"{_text(node)} → {_text(other)}",
        runs_at_import=not spot.in_function,
        tree=_replaced(tree, spot.way, placed),
    )


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.copy(node))).split())


def _header(statement: ast.AST) -> str:
    """A statement on one line; of one with a body, what stands before the body."""
    shown = copy.copy(statement)
    if isinstance(getattr(shown, "body", None), list):
        for name, value in (("body", [ast.Pass()]), ("orelse", []), ("handlers", []), ("finalbody", [])):
            if hasattr(shown, name):
                setattr(shown, name, value)
    return _text(shown).removesuffix(" pass")


def _replaced(node: Any, way: Way, other: ast.AST) -> Any:
    """A copy of a tree with another node at the end of a way; the rest is shared."""
    if not way:
        return other
    (name, index), *rest = way
    below = getattr(node, name)
    changed = copy.copy(node)
    if index is None:
        setattr(changed, name, _replaced(below, tuple(rest), other))
    else:
        items = [*below]
        items[index] = _replaced(below[index], tuple(rest), other)
        setattr(changed, name, items)
    return changed


def _nodes(node: ast.AST, spot: _Spot) -> Iterator[tuple[ast.AST, _Spot]]:
    """Every node that may be mutated, with its spot."""
    for name, value in ast.iter_fields(node):
        children = enumerate(value) if isinstance(value, list) else ((None, value),)
        for index, child in children:
            if isinstance(child, ast.AST) and not _is_left_alone(node, name, child, spot):
                below = _entered(node, name, child, replace(spot, way=(*spot.way, (name, index))))
                yield child, below
                yield from _nodes(child, below)


def _entered(parent: ast.AST, name: str, child: ast.AST, spot: _Spot) -> _Spot:
    """The spot of a child."""
    runs_later = name == "body" and isinstance(parent, ast.FunctionDef)
    spot = replace(spot, in_function=spot.in_function or runs_later)
    if name in ("body", "orelse") and isinstance(parent, ast.ClassDef | ast.FunctionDef):
        owner = parent.name if spot.owner == "-" else f"{spot.owner}.{parent.name}"
        spot = replace(spot, owner=owner)
    if isinstance(child, ast.JoinedStr):
        spot = replace(spot, in_text=True)
    if isinstance(child, ast.stmt):
        is_only = isinstance(parent, ast.If) and parent.body == [child] and not parent.orelse
        spot = replace(spot, statement=child, statement_way=spot.way, is_only=is_only)
    return spot


def _is_left_alone(parent: ast.AST, name: str, child: ast.AST, spot: _Spot) -> bool:
    match child:
        case ast.Expr(ast.Constant()) | ast.Assert():
            return True
        case ast.Assign([ast.Name("__all__")]) | ast.Assign(_, ast.Subscript()) if not spot.in_function:
            return True
        case ast.AnnAssign(_, ast.Name("TypeAlias")) | ast.If(ast.Name("TYPE_CHECKING")):
            return True
        case ast.Call(ast.Name(function)) | ast.Name(function) if function in _DECLARING:
            return True
        case ast.Call(ast.Name("field")) if not spot.in_function:
            return True
    return _is_type(parent, name) or _is_pattern(parent, name)


def _is_type(parent: ast.AST, name: str) -> bool:
    """Whether a field holds a type, or targets of an assignment."""
    if isinstance(parent, ast.Subscript) and name == "slice":
        return isinstance(parent.value, ast.Name) and parent.value.id in _CONTAINERS
    if isinstance(parent, ast.FunctionDef | ast.arg | ast.AnnAssign) and name in ("returns", "annotation"):
        return True
    return name in ("target", "targets") or (isinstance(parent, ast.ExceptHandler) and name == "type")


def _is_pattern(parent: ast.AST, name: str) -> bool:
    """Whether a field says only how a value is put into a text."""
    return isinstance(parent, ast.FormattedValue) and name in ("conversion", "format_spec")
