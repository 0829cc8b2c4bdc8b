"""The mutants of a module. Each is the module with one small error.

Some nodes are not mutated because tests should not depend on them: docstrings, `__all__`, annotations and
type aliases, assertions and imports for the type checker, the wording of messages, and the declarations of
dataclasses and caches. Tests must check that a finding has a `because` and a `fix`, but not their wording.
"""

from __future__ import annotations

__all__ = ["Mutant", "mutants", "statements"]

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from tests.mutation.mutators import replacements

#: The path from the module to a node: fields, with the index if a field is a list.
NodePath: TypeAlias = tuple[tuple[str, int | None], ...]

_CONTAINERS: Final = {"list", "set", "dict", "tuple", "frozenset", "type", "Literal"}
_DECLARING: Final = {"dataclass", "lru_cache", "cache", "cached_property", "property", "TypeVar"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mutant: its location, and the statement before and after the change."""

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
        """An identifier that does not depend on the line number."""
        return f"{self.module} {self.owner}\n  {self.before}\n  {self.change}"


@dataclass(frozen=True, slots=True)
class _Context:
    """The context of a node."""

    path: NodePath = ()
    owner: str = "-"
    statement: ast.stmt | None = None
    statement_path: NodePath = ()
    in_function: bool = False
    in_text: bool = False
    is_only: bool = False


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module, in the order of its lines."""
    tree = ast.parse(source)
    count: Counter[str] = Counter()
    for node, context in _nodes(tree, _Context()):
        for label, other in replacements(node):
            if _is_worth_testing(node, label, context):
                mutant = _mutant(module, tree, context, node, label, other)
                count[mutant.key] += 1
                number = count[mutant.key]
                yield replace(mutant, change=f"{mutant.change} ({number})") if number > 1 else mutant


def statements(source: str) -> set[tuple[str, str]]:
    """Return the owner and the text of every statement that may be mutated, as in the key of a mutant."""
    nodes = _nodes(ast.parse(source), _Context())
    return {(context.owner, _header(node)) for node, context in nodes if isinstance(node, ast.stmt)}


def _is_worth_testing(node: ast.AST, label: str, context: _Context) -> bool:
    """Whether a test should detect a change: not of a message, and not the same as another change."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and context.in_text:
        return False
    # Removing the only statement of an `if` is the same as a false condition.
    return not ((label == "removed" and context.is_only) or _is_unpacked(node, context.statement))


def _is_unpacked(node: ast.AST, statement: ast.stmt | None) -> bool:
    """Whether a tuple is unpacked to names."""
    match statement:
        case ast.Assign([ast.Tuple()], value):
            return node is value
    return False


def _mutant(
    module: str, tree: ast.Module, context: _Context, node: ast.AST, label: str, other: ast.AST
) -> Mutant:
    statement = context.statement
    assert statement is not None  # only statements and nodes in them are replaced
    placed = ast.fix_missing_locations(ast.copy_location(copy.copy(other), node))
    after = _replace_node(statement, context.path[len(context.statement_path) :], placed)
    body = getattr(statement, "body", None)
    return Mutant(
        module,
        context.owner,
        line=statement.lineno,
        last_line=body[0].lineno - 1 if body else statement.end_lineno or statement.lineno,
        before=_header(statement),
        after="(removed)" if label == "removed" else _header(after),
        change=label or f"{_text(node)} → {_text(other)}",
        runs_at_import=not context.in_function,
        tree=_replace_node(tree, context.path, placed),
    )


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.copy(node))).split())


def _header(statement: ast.AST) -> str:
    """Return a statement on one line, without its body."""
    shown = copy.copy(statement)
    if isinstance(getattr(shown, "body", None), list):
        for name, value in (("body", [ast.Pass()]), ("orelse", []), ("handlers", []), ("finalbody", [])):
            if hasattr(shown, name):
                setattr(shown, name, value)
    return _text(shown).removesuffix(" pass")


def _replace_node(node: Any, path: NodePath, other: ast.AST) -> Any:
    """Return a copy of a tree with another node at a path. Other nodes are shared."""
    if not path:
        return other
    (name, index), *rest = path
    below = getattr(node, name)
    changed = copy.copy(node)
    if index is None:
        setattr(changed, name, _replace_node(below, tuple(rest), other))
    else:
        items = [*below]
        items[index] = _replace_node(below[index], tuple(rest), other)
        setattr(changed, name, items)
    return changed


def _nodes(node: ast.AST, context: _Context) -> Iterator[tuple[ast.AST, _Context]]:
    """Yield every node that may be mutated, with its context."""
    for name, value in ast.iter_fields(node):
        children = enumerate(value) if isinstance(value, list) else ((None, value),)
        for index, child in children:
            if isinstance(child, ast.AST) and not _is_excluded(node, name, child, context):
                below = _child_context(
                    node, name, child, replace(context, path=(*context.path, (name, index)))
                )
                yield child, below
                yield from _nodes(child, below)


def _child_context(parent: ast.AST, name: str, child: ast.AST, context: _Context) -> _Context:
    """Return the context of a child."""
    runs_later = name == "body" and isinstance(parent, ast.FunctionDef)
    context = replace(context, in_function=context.in_function or runs_later)
    if name in ("body", "orelse") and isinstance(parent, ast.ClassDef | ast.FunctionDef):
        owner = parent.name if context.owner == "-" else f"{context.owner}.{parent.name}"
        context = replace(context, owner=owner)
    if isinstance(child, ast.JoinedStr):
        context = replace(context, in_text=True)
    if isinstance(child, ast.stmt):
        is_only = isinstance(parent, ast.If) and parent.body == [child] and not parent.orelse
        context = replace(context, statement=child, statement_path=context.path, is_only=is_only)
    return context


def _is_excluded(parent: ast.AST, name: str, child: ast.AST, context: _Context) -> bool:
    match child:
        case ast.Expr(ast.Constant()) | ast.Assert():
            return True
        case ast.Assign([ast.Name("__all__")]) | ast.Assign(_, ast.Subscript()) if not context.in_function:
            return True
        case ast.AnnAssign(_, ast.Name("TypeAlias")) | ast.If(ast.Name("TYPE_CHECKING")):
            return True
        case ast.Call(ast.Name(function)) | ast.Name(function) if function in _DECLARING:
            return True
        case ast.Call(ast.Name("field")) if not context.in_function:
            return True
    return _is_type(parent, name) or _is_format(parent, name)


def _is_type(parent: ast.AST, name: str) -> bool:
    """Whether a field holds a type, or targets of an assignment."""
    if isinstance(parent, ast.Subscript) and name == "slice":
        return isinstance(parent.value, ast.Name) and parent.value.id in _CONTAINERS
    if isinstance(parent, ast.FunctionDef | ast.arg | ast.AnnAssign) and name in ("returns", "annotation"):
        return True
    return name in ("target", "targets") or (isinstance(parent, ast.ExceptHandler) and name == "type")


def _is_format(parent: ast.AST, name: str) -> bool:
    """Whether a field is the format of a value in an f-string."""
    return isinstance(parent, ast.FormattedValue) and name in ("conversion", "format_spec")
