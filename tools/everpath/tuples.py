"""`NamedTuple` as `typing` has it, made in a third of the time.

`typing` compiles the text of every annotation, for those who ask for types while a program runs. Nobody here
does, and every run makes seventy such classes before it reads a byte. Type checkers see the one of `typing`.
"""

from __future__ import annotations

__all__ = ["NamedTuple"]

from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple
else:

    class _Maker(type):
        """Makes a tuple of the fields that the body of a class annotates, with all else that is in it."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body["__annotations__"]
            defaults = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            for key, value in body.items():
                if key not in fields and key != "__module__":
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Maker):
        """What named tuples are derived from, and none of them is."""
