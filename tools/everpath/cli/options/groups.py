"""Options that a command receives as one value."""

from __future__ import annotations

__all__ = ["option_group"]

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def option_group(parameter: str, group: Callable[..., Any], *options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds options to a command, which receives them as one parameter.

    `group` returns the parameter: a dataclass with a field for each option, or a function with a keyword
    parameter for each.
    """
    names = list(signature(group).parameters)

    def decorate(command: F) -> F:
        @wraps(command)
        def run(**values: Any) -> Any:
            values[parameter] = group(**{name: values.pop(name) for name in names})
            return command(**values)

        grouped = cast(F, run)
        for option in reversed(options):
            grouped = option(grouped)
        return grouped

    return decorate
