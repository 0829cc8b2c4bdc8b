"""Validation of CEL rules in an `olm.constraint`, without evaluating them.

Checks what the compiler of cel-go checks: the grammar, that every name and function exists in OLM's
environment (`properties`, `semver_compare` and the standard library of CEL), and that the result is a
boolean. Not checked: types of operands and arguments (`1 == 'a'`), names of protobuf messages, the size of
numbers, and expressions that are nested more than 60 times.
"""

from __future__ import annotations

__all__ = ["CelError", "check"]

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from everpath.versions import underline

_ESCAPE: Final = r"\\(?:[abfnrtv\"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"
_TOKEN: Final = re.compile(
    rf"""
    (?P<space>[\t\x20\r\n\f]+|//[^\n]*)
  | (?P<text>[bB]?(?:
        [rR](?:\"\"\".*?\"\"\"|'''.*?'''|\"[^\"\n\r]*\"|'[^'\n\r]*')
      | \"\"\"(?:{_ESCAPE}|[^\\])*?\"\"\"|'''(?:{_ESCAPE}|[^\\])*?'''
      | \"(?:{_ESCAPE}|[^\\\"\n\r])*\"|'(?:{_ESCAPE}|[^\\'\n\r])*'))
  | (?P<number>(?:[0-9]+\.[0-9]+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+
      |(?:0x[0-9a-fA-F]+|[0-9]+)[uU]?)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<quoted>`[A-Za-z0-9_./\ -]+`)
  | (?P<sign>==|!=|<=|>=|&&|\|\||[\[\]{{}}().,!?:<>+*/%-])
    """,
    re.VERBOSE | re.DOTALL,
)

_LITERALS: Final = {"true": True, "false": True, "null": False}
_RESERVED: Final = frozenset(
    {
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    }
)
_TYPES: Final = frozenset(
    {"int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type", "google"}
)
_FUNCTIONS: Final = frozenset(
    {
        "size",
        "matches",
        "type",
        "dyn",
        "int",
        "uint",
        "double",
        "string",
        "bytes",
        "bool",
        "duration",
        "timestamp",
        "semver_compare",
    }
)
_METHODS: Final = frozenset(
    {
        "size",
        "matches",
        "contains",
        "startsWith",
        "endsWith",
        "getFullYear",
        "getMonth",
        "getDate",
        "getDayOfMonth",
        "getDayOfWeek",
        "getDayOfYear",
        "getHours",
        "getMinutes",
        "getSeconds",
        "getMilliseconds",
    }
)
_BOOLEAN_RESULTS: Final = frozenset(
    {"bool", "matches", "contains", "startsWith", "endsWith", "has", "all", "exists", "exists_one"}
)
#: Macros that bind their first argument, and how many arguments they may have.
_MACROS: Final = {"all": (2,), "exists": (2,), "exists_one": (2,), "filter": (2,), "map": (2, 3)}
_LOGIC: Final = ("||", "&&", "==", "!=", "<", "<=", ">", ">=", "in")
_ARITHMETIC: Final = ("+", "-", "*", "/", "%")
_DEPTH_LIMIT: Final = 60


class CelError(ValueError):
    """An expression that OLM cannot compile, with the position and the reason."""

    def __init__(self, text: str, start: int, end: int, reason: str) -> None:
        super().__init__(text, start, end, reason)
        self.text = text
        self.start = start
        self.end = end
        self.reason = reason

    def __str__(self) -> str:
        return self.reason

    def pretty(self) -> str:
        """Return the expression with carets under the error, and the reason."""
        return underline(self.text, self.start, self.end, self.reason)


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


class _TooDeepError(Exception):
    """The expression is nested too deeply to be checked."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What is known about a part of an expression.

    `is_boolean` is None if only a type checker can decide. `in_properties` marks values in `properties`,
    which have no static type. `is_selection` marks the selection of a field.
    """

    is_boolean: bool | None = None
    in_properties: bool = False
    is_selection: bool = False


_NOT_BOOLEAN: Final = _Part(is_boolean=False)


def check(text: str) -> None:
    """Raise `CelError` unless OLM can compile an expression."""
    parser = _Parser(text)
    try:
        found = parser.expression(frozenset())
    except _TooDeepError:
        return
    parser.expect("")
    if found.is_boolean is False:
        raise CelError(text, 0, len(text), "a constraint must be a boolean, and this is another value")


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise CelError(text, at, at + 1, f"unexpected character {text[at]!r}")
        if found.lastgroup != "space":
            kind = "sign" if found[0] == "in" else str(found.lastgroup)
            yield _Token(kind, found[0], at)
        at = found.end()
    yield _Token("end", "", len(text))


class _Parser:
    """A recursive descent parser. It ignores operator precedence, which does not matter for these checks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokens(text))
        self.at = 0
        self.depth = 0

    @property
    def here(self) -> _Token:
        return self.tokens[self.at]

    def step(self) -> _Token:
        """Return the current token, and advance unless it is the last."""
        token = self.here
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def fail(self, reason: str, token: _Token | None = None) -> CelError:
        token = token or self.here
        return CelError(self.text, token.start, token.start + len(token.text), reason)

    def take(self, *signs: str) -> str:
        """Advance over one of these signs and return it, or return an empty string."""
        return self.step().text if self.here.text in signs else ""

    def expect(self, sign: str) -> None:
        """Advance over a sign, or raise `CelError`. An empty sign is the end of the expression."""
        if self.here.text == sign:
            self.step()
            return
        found = repr(self.here.text) if self.here.text else "the end"
        raise self.fail(f"expected {sign!r} but found {found}" if sign else f"unexpected {found}")

    def expression(self, scope: frozenset[str]) -> _Part:
        self.depth += 1
        if self.depth > _DEPTH_LIMIT:
            raise _TooDeepError
        found = self.operation(scope)
        if self.take("?"):
            yes = self.operation(scope).is_boolean
            self.expect(":")
            no = self.expression(scope).is_boolean
            found = _NOT_BOOLEAN if False in (yes, no) else _Part()
        self.depth -= 1
        return found

    def operation(self, scope: frozenset[str]) -> _Part:
        found, is_logic = self.operand(scope), False
        while sign := self.take(*_LOGIC, *_ARITHMETIC):
            self.operand(scope)
            is_logic = is_logic or sign in _LOGIC
            found = _Part(is_boolean=is_logic)
        return found

    def operand(self, scope: frozenset[str]) -> _Part:
        sign = self.here.text if self.here.text in ("!", "-") else ""
        while sign and self.take(sign):
            pass
        found = self.primary(scope)
        while (suffix := self.take(".", "[")) or (found.is_selection and self.take("{")):
            found = self.parse_suffix(suffix, found, scope)
        return _Part(is_boolean=sign == "!") if sign else found

    def parse_suffix(self, sign: str, base: _Part, scope: frozenset[str]) -> _Part:
        """Parse a selection, call, index or message body after a value."""
        if sign == ".":
            return self.selection(base, scope)
        if sign == "[":
            self.expression(scope)
            self.expect("]")
            return _Part(is_boolean=False if base.in_properties else None, in_properties=base.in_properties)
        self.pairs(scope, of_message=True)
        return _NOT_BOOLEAN

    def selection(self, base: _Part, scope: frozenset[str]) -> _Part:
        token = self.step()
        if token.kind not in ("name", "quoted") or token.text in _LITERALS:
            raise self.fail("expected the name of a field after the dot", token)
        if token.kind == "quoted" or not self.take("("):
            return _Part(
                is_boolean=False if base.in_properties else None,
                in_properties=base.in_properties,
                is_selection=True,
            )
        if token.text in _MACROS and self.here.kind == "name" and self.tokens[self.at + 1].text == ",":
            return self.macro(token, scope)
        if token.text not in _METHODS:
            raise self.fail(f"unknown method {token.text!r}", token)
        self.items(scope, ")")
        return _Part(is_boolean=token.text in _BOOLEAN_RESULTS)

    def macro(self, token: _Token, scope: frozenset[str]) -> _Part:
        variable = self.step().text
        self.expect(",")
        count = 1 + len(self.items(scope | {variable}, ")"))
        if count not in _MACROS[token.text]:
            raise self.fail(f"{token.text} does not take {count} arguments", token)
        return _Part(is_boolean=token.text in _BOOLEAN_RESULTS)

    def primary(self, scope: frozenset[str]) -> _Part:
        if sign := self.take("(", "[", "{"):
            return self.parse_enclosed(sign, scope)
        is_rooted = bool(self.take("."))
        token = self.step()
        if token.kind in ("text", "number") and not is_rooted:
            return _NOT_BOOLEAN
        if token.text in _LITERALS and not is_rooted:
            return _Part(is_boolean=_LITERALS[token.text])
        if token.kind != "name" or token.text in _LITERALS:
            reason = (
                f"expected a value but found {token.text!r}"
                if token.text
                else "expected a value but found the end"
            )
            raise self.fail(reason, token)
        return self.call(token, scope) if self.take("(") else self.parse_name(token, scope)

    def parse_enclosed(self, sign: str, scope: frozenset[str]) -> _Part:
        if sign == "(":
            found = self.expression(scope)
            self.expect(")")
            return _Part(found.is_boolean, found.in_properties)
        if sign == "[":
            self.items(scope, "]")
        else:
            self.pairs(scope)
        return _NOT_BOOLEAN

    def parse_name(self, token: _Token, scope: frozenset[str]) -> _Part:
        if token.text in _RESERVED:
            raise self.fail(f"{token.text!r} is a reserved word", token)
        if token.text in scope:
            return _Part()
        if token.text not in _TYPES and token.text != "properties":
            raise self.fail(f"unknown name {token.text!r}; the only variable is properties", token)
        return _Part(
            is_boolean=False,
            in_properties=token.text == "properties",
            is_selection=token.text != "properties",
        )

    def call(self, token: _Token, scope: frozenset[str]) -> _Part:
        arguments = self.items(scope, ")")
        if token.text == "has":
            if len(arguments) != 1 or not arguments[0].is_selection:
                raise self.fail("has() takes one argument, which must select a field", token)
        elif token.text not in _FUNCTIONS:
            raise self.fail(f"unknown function {token.text!r}", token)
        return _Part(is_boolean=token.text in _BOOLEAN_RESULTS)

    def items(self, scope: frozenset[str], closing: str) -> list[_Part]:
        """Parse expressions up to a closing sign. A list may end with a comma, a call may not."""
        found: list[_Part] = []
        ended = closing == "]" and bool(self.take(","))
        while not ended and self.here.text != closing:
            found.append(self.expression(scope))
            ended = not self.take(",")
            if not ended and closing == ")" and self.here.text == ")":
                raise self.fail("expected an argument")
        self.expect(closing)
        return found

    def pairs(self, scope: frozenset[str], *, of_message: bool = False) -> None:
        """Parse the keys and values of a map, or the fields of a message, up to the brace."""
        ended = bool(self.take(","))
        while not ended and self.here.text != "}":
            if not of_message:
                self.expression(scope)
            elif (token := self.step()).kind not in ("name", "quoted"):
                raise self.fail("expected the name of a field", token)
            self.expect(":")
            self.expression(scope)
            ended = not self.take(",")
        self.expect("}")
