"""Mutations of single syntax nodes.

`replacements(node)` yields errors that a programmer could make: another comparison, a missing condition, a
missing statement, a loop that ends after one iteration. They do not depend on the context of the node.
"""

from __future__ import annotations

__all__ = ["Replacement", "replacements"]

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias, TypeVar

#: A label and the new node. The label is empty if the change can be shown as `old → new`.
Replacement: TypeAlias = tuple[str, ast.AST]

Node = TypeVar("Node", bound=ast.AST)

_COMPARISONS: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_SIMILAR_FUNCTIONS: Final = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "startswith": "endswith",
    "endswith": "startswith",
    "fullmatch": "match",
    "match": "search",
    "search": "match",
}
#: String methods that can be left out.
_STRING_METHODS: Final = {
    "strip",
    "rstrip",
    "lstrip",
    "lower",
    "upper",
    "casefold",
    "replace",
    "removeprefix",
}
_MEMBERS: Final = {
    "Severity": ("NOTE", "WARNING", "ERROR"),
    "EdgeKind": ("REPLACES", "SKIPS", "RANGE"),
    "End": ("HEAD", "STRANDED", "LOOP", "ERROR"),
    "FailureKind": ("NO_HEAD", "SEVERAL_HEADS", "CYCLE", "PANIC"),
    "HazardKind": ("EMPTY_ARM", "NEVER"),
    "UpdateMode": ("REPLACES", "SEMVER", "SEMVER_SKIPPATCH"),
}


def replacements(node: ast.AST) -> Iterator[Replacement]:
    """Yield the nodes that could replace a node by mistake."""
    mutate = _MUTATORS.get(type(node))
    for label, other in mutate(node) if mutate else ():
        if label or ast.dump(other) != ast.dump(node):
            yield label, other


def _with(node: Node, **fields: Any) -> Node:
    """Return a copy of a node with changed fields."""
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _without(items: list[Any], index: int) -> list[Any]:
    return items[:index] + items[index + 1 :]


def _compare(node: ast.Compare) -> Iterator[Replacement]:
    for i, operator in enumerate(node.ops):
        for other in _COMPARISONS[type(operator)]:
            yield "", _with(node, ops=[*node.ops[:i], other(), *node.ops[i + 1 :]])


def _bool_op(node: ast.BoolOp) -> Iterator[Replacement]:
    yield "", _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    for i in range(len(node.values)):
        left = _without(node.values, i)
        yield "", left[0] if len(left) == 1 else _with(node, values=left)


def _unary_op(node: ast.UnaryOp) -> Iterator[Replacement]:
    if isinstance(node.op, ast.Not | ast.USub):
        yield "", node.operand


def _bin_op(node: ast.BinOp) -> Iterator[Replacement]:
    if _is_text(node.left) or _is_text(node.right):
        yield "", node.left
    elif type(node.op) in _ARITHMETIC:
        yield "", _with(node, op=_ARITHMETIC[type(node.op)]())
        if not isinstance(node.op, ast.Add):
            yield "", node.left


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _constant(node: ast.Constant) -> Iterator[Replacement]:
    match node.value:
        case bool():
            yield "", ast.Constant(not node.value)
        case int():
            yield "", ast.Constant(node.value + 1)
            yield "", ast.Constant(node.value - 1)
        case float():
            yield "", ast.Constant(round(node.value + 0.1, 6))
            yield "", ast.Constant(round(node.value - 0.1, 6))
        # Text with a space is a message or a list of words. The wording of messages is not tested.
        case str() if not any(c.isspace() for c in node.value):
            yield "", ast.Constant(f"other{node.value}")


def _if(node: ast.If | ast.IfExp) -> Iterator[Replacement]:
    for value in (True, False):
        yield f"the condition is {value}", _with(node, test=ast.Constant(value))


def _while(node: ast.While) -> Iterator[Replacement]:
    yield "the condition is False", _with(node, test=ast.Constant(False))


def _for(node: ast.For) -> Iterator[Replacement]:
    yield "the loop ends after one turn", _with(node, body=[*node.body, ast.Break()])


def _comprehension(node: ast.comprehension) -> Iterator[Replacement]:
    for i, condition in enumerate(node.ifs):
        yield f"without `if {ast.unparse(condition)}`", _with(node, ifs=_without(node.ifs, i))


def _return(node: ast.Return) -> Iterator[Replacement]:
    if node.value is not None and not isinstance(node.value, ast.Constant):
        yield "", _with(node, value=ast.Constant(None))


def _continue(_: ast.Continue) -> Iterator[Replacement]:
    yield "", ast.Break()
    yield "removed", ast.Pass()


def _remove(node: ast.stmt) -> Iterator[Replacement]:
    # Behind a false condition, because a generator without its only yield would be another function.
    yield "removed", ast.If(ast.Constant(False), [node], [])


def _expr(node: ast.Expr) -> Iterator[Replacement]:
    if isinstance(node.value, ast.Call | ast.Yield | ast.YieldFrom):
        yield from _remove(node)


def _assign(node: ast.Assign) -> Iterator[Replacement]:
    if all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
        yield from _remove(node)


def _aug_assign(node: ast.AugAssign) -> Iterator[Replacement]:
    yield from _remove(node)
    if isinstance(node.op, ast.Add | ast.Sub) and isinstance(node.value, ast.Constant | ast.Name):
        yield "", _with(node, op=_ARITHMETIC[type(node.op)]())


def _call(node: ast.Call) -> Iterator[Replacement]:
    yield from _other_function(node)
    for i, keyword in enumerate(node.keywords):
        yield f"without {keyword.arg}=", _with(node, keywords=_without(node.keywords, i))
    if _has_names_to_swap(node):
        yield "", _with(node, args=[*node.args[:-2], *reversed(node.args[-2:])])


def _has_names_to_swap(node: ast.Call) -> bool:
    """Whether the last two arguments of a call are names whose order may matter."""
    match node.func:
        case ast.Name("min" | "max"):
            return False
    return len(node.args) > 1 and all(isinstance(a, ast.Name | ast.Attribute) for a in node.args[-2:])


def _other_function(node: ast.Call) -> Iterator[Replacement]:
    match node.func:
        case ast.Name("sorted"):
            yield "", _with(node, func=ast.Name("list", ast.Load()), keywords=[])
        case ast.Name("reversed"):
            yield "", _with(node, func=ast.Name("iter", ast.Load()))
        case ast.Name(name) if name in _SIMILAR_FUNCTIONS:
            yield "", _with(node, func=ast.Name(_SIMILAR_FUNCTIONS[name], ast.Load()))
        case ast.Attribute(text, name) if name in _STRING_METHODS:
            yield f"without .{name}()", text
        case ast.Attribute(_, name) if name in _SIMILAR_FUNCTIONS:
            yield "", _with(node, func=_with(node.func, attr=_SIMILAR_FUNCTIONS[name]))


def _slice(node: ast.Slice) -> Iterator[Replacement]:
    for bound in ("lower", "upper"):
        if getattr(node, bound) is not None:
            yield f"without the {bound} end", _with(node, **{bound: None})


def _display(node: ast.Tuple | ast.List | ast.Set) -> Iterator[Replacement]:
    for i, item in enumerate(node.elts if len(node.elts) > 1 else ()):
        yield f"without {ast.unparse(item)}", _with(node, elts=_without(node.elts, i))


def _attribute(node: ast.Attribute) -> Iterator[Replacement]:
    match node:
        case ast.Attribute(ast.Name(owner), attr) if attr in _MEMBERS.get(owner, ()):
            members = _MEMBERS[owner]
            yield "", _with(node, attr=members[(members.index(attr) + 1) % len(members)])


_MUTATORS: Final[dict[type[ast.AST], Callable[[Any], Iterator[Replacement]]]] = {
    ast.Assign: _assign,
    ast.Attribute: _attribute,
    ast.AugAssign: _aug_assign,
    ast.BinOp: _bin_op,
    ast.BoolOp: _bool_op,
    ast.Break: _remove,
    ast.Call: _call,
    ast.Compare: _compare,
    ast.Constant: _constant,
    ast.Continue: _continue,
    ast.Delete: _remove,
    ast.Expr: _expr,
    ast.For: _for,
    ast.If: _if,
    ast.IfExp: _if,
    ast.List: _display,
    ast.Raise: _remove,
    ast.Return: _return,
    ast.Set: _display,
    ast.Slice: _slice,
    ast.Tuple: _display,
    ast.UnaryOp: _unary_op,
    ast.While: _while,
    ast.comprehension: _comprehension,
}
