"""Mutants of each construct, nodes that are not mutated, and equivalent mutants."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from textwrap import dedent

import pytest

from tests.mutation import equivalents
from tests.mutation.mutants import Mutant, mutants, statements
from tests.mutation.targets import ALL, GROUPS, ROOT, path_of


def mutants_in(source: str) -> list[Mutant]:
    return list(mutants("m", dedent(source)))


def changes(source: str) -> set[str]:
    return {mutant.change for mutant in mutants_in(source)}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", {"a < b → a <= b", "a < b → a >= b"}),
        ("x = a == b", {"a == b → a != b"}),
        ("x = a is None", {"a is None → a is not None"}),
        ("x = a not in b", {"a not in b → a in b"}),
        ("x = a and b", {"a and b → a or b", "a and b → a", "a and b → b"}),
        ("x = not a", {"not a → a"}),
        ("x = a - b", {"a - b → a + b", "a - b → a"}),
        ("x = a + 'b'", {"a + 'b' → a", "'b' → 'otherb'"}),
        ("x = 7", {"7 → 8", "7 → 6"}),
        ("x = True", {"True → False"}),
        ("x = 'word'", {"'word' → 'otherword'"}),
        ("x = len(a[b:])", {"without the lower end"}),
        ("x = min(a)", {"min(a) → max(a)"}),
        ("x = any(a)", {"any(a) → all(a)"}),
        ("x = sorted(a, key=b)", {"sorted(a, key=b) → list(a)", "without key="}),
        ("x = a.strip()", {"without .strip()"}),
        ("x = f(a, b)", {"f(a, b) → f(b, a)"}),
        ("x = f(fix=a)", {"without fix="}),
        ("x = (a, b)", {"without a", "without b"}),
        ("x = [a for a in b if a]", {"without `if a`"}),
        ("x = Severity.NOTE", {"Severity.NOTE → Severity.WARNING"}),
        ("x.append(a)", {"removed"}),
        ("x += a", {"removed", "x += a → x -= a"}),
        ("if a:\n    b", {"the condition is True", "the condition is False"}),
        ("for a in b:\n    c", {"the loop ends after one turn"}),
        ("while a:\n    b", {"the condition is False"}),
        ("while a:\n    b\n    continue", {"the condition is False", "continue → break", "removed"}),
        ("def f():\n    return a", {"return a → return None"}),
        ("def f():\n    yield a", {"removed"}),
    ],
)
def test_each_construct_is_mutated(source: str, expected: set[str]) -> None:
    assert changes(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "__all__ = ['a', 'b']",
        "x: Final[Literal['a']] = a",
        "Hops = Mapping[str, int]",
        "x = list[str]()",
        "x = f(a, a)",
        "assert a is not None",
        "if TYPE_CHECKING:\n    from a import b",
        "x = 'a sentence'",
        "x = f'text {a!r}'",
        "@dataclass(frozen=True)\nclass A:\n    x: int = field(repr=False)",
        "def f(a: Literal['x']) -> Literal['y']: ...",
    ],
)
def test_excluded_nodes_are_not_mutated(source: str) -> None:
    assert changes(source) == set()


def test_expression_in_an_f_string_is_mutated_but_not_its_text() -> None:
    assert changes("x = f\"{'a' if b else 'c'}\"") == {"the condition is True", "the condition is False"}


def test_function_with_a_removed_yield_is_still_a_generator() -> None:
    [mutant] = mutants_in("def f():\n    yield 1")[:1]
    namespace: dict[str, object] = {}
    exec(compile(mutant.tree, "m", "exec"), namespace)
    assert list(namespace["f"]()) == []  # type: ignore[operator]


def test_every_mutant_behaves_differently() -> None:
    source = "def f(a):\n    if a > 1:\n        return 2\n    return a + 3"
    for mutant in mutants_in(source):
        namespace: dict[str, object] = {}
        exec(compile(mutant.tree, "m", "exec"), namespace)
        results = [namespace["f"](a) for a in (1, 2, 5)]  # type: ignore[operator]
        assert results != [4, 2, 2], mutant.change


def test_mutant_has_the_lines_of_its_statement() -> None:
    [mutant, *_] = mutants_in(
        """
        def f(a):
            if (
                a < b
            ):
                return None
        """
    )
    assert (mutant.owner, mutant.line, mutant.last_line, mutant.runs_at_import) == ("f", 3, 5, False)
    assert (mutant.before, mutant.after) == ("if a < b:", "if True:")


def test_decorator_and_default_run_at_import() -> None:
    assert all(mutant.runs_at_import for mutant in mutants_in("@rule('EP1')\ndef f(a=1):\n    pass"))


def test_equal_changes_of_a_statement_have_different_keys() -> None:
    assert changes("x = (a < b) + (a < b)") >= {"a < b → a <= b", "a < b → a <= b (2)"}


def test_every_target_has_a_module_and_tests() -> None:
    assert [module for module in ALL if not path_of(module).is_file()] == []
    assert [path for group in GROUPS for path in group.tests if not (ROOT / path).exists()] == []


def test_every_equivalent_has_a_mutated_module_and_a_reason() -> None:
    equivalent = equivalents.read()
    assert {key.partition(" ")[0] for key in equivalent} <= set(ALL)
    assert all(key.count("\n") == 2 and reason for key, reason in equivalent.items())


def stale_equivalents(keys: Iterable[str], sources: Callable[[str], str]) -> list[str]:
    """Return the keys whose function no longer has the statement."""
    known: dict[str, set[tuple[str, str]]] = {}
    stale: list[str] = []
    for key in keys:
        head, statement, _ = key.split("\n")
        module, _, owner = head.partition(" ")
        if module not in known:
            known[module] = statements(sources(module))
        if (owner, statement.strip()) not in known[module]:
            stale.append(key)
    return stale


def test_the_statement_of_every_equivalent_exists() -> None:
    assert stale_equivalents(equivalents.read(), lambda module: path_of(module).read_text()) == []


@pytest.mark.parametrize("key", ["m f\n  x = 2\n  2 → 3", "m g\n  x = 1\n  1 → 2", "m C.f\n  x = 1\n  1 → 2"])
def test_equivalent_of_another_statement_or_function_is_stale(key: str) -> None:
    def source(module: str) -> str:
        return "def f():\n    x = 1"

    assert stale_equivalents([key, "m f\n  x = 1\n  1 → 2"], source) == [key]
