"""A quick tuple is the tuple that `typing` would have made."""

from __future__ import annotations

import pickle
import typing

import pytest

from everpath.tuples import NamedTuple


class Quick(NamedTuple):
    """Says what it is."""

    name: str
    skips: tuple[str, ...] = ()

    @property
    def is_named(self) -> bool:
        return bool(self.name)

    def twice(self) -> Quick:
        return self._replace(name=self.name * 2)


class Usual(typing.NamedTuple):
    """Says what it is."""

    name: str
    skips: tuple[str, ...] = ()


class More(Quick):
    """A tuple with room for more."""


def test_it_has_all_that_a_usual_one_has() -> None:
    for word in ("_fields", "_field_defaults", "__doc__", "__module__", "__match_args__", "__slots__"):
        assert getattr(Quick, word) == getattr(Usual, word)
    assert typing.get_type_hints(Quick) == typing.get_type_hints(Usual)
    assert repr(Quick("a")) == repr(Usual("a")).replace("Usual", "Quick")
    assert Quick.__mro__[1:] == Usual.__mro__[1:] == (tuple, object)
    assert Quick.__qualname__ == "Quick"


def test_its_methods_are_its_own() -> None:
    assert Quick("ab").twice() == ("abab", ())
    assert Quick("ab").is_named


def test_it_is_frozen_hashed_and_pickled_as_one() -> None:
    one = Quick("a", ("b",))
    with pytest.raises(AttributeError):
        one.name = "b"  # type: ignore[misc]
    assert hash(one) == hash(("a", ("b",)))
    assert pickle.loads(pickle.dumps(one)) == one
    assert type(pickle.loads(pickle.dumps(More("a")))) is More
    assert type(More("a")._replace(name="b")) is More
