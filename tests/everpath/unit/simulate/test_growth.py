"""The work of a simulation grows linearly with the number of entries."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from everpath.reporters.simulation.text import text
from everpath.simulate import ClusterExtensionOptions, Scenario, simulate_package
from tests.support.everpath.operation_counts import lines_run
from tests.support.everpath.simulations import simulation_report, sources


def _drawn(size: int, draw: Callable[[int, str], str]) -> str:
    return "\n".join(draw(i, f"b{i - 1}" if i else "-") for i in reversed(range(size)))


SHAPES: dict[str, Callable[[int, str], str]] = {
    "a chain": lambda i, below: f"b{i}@1.{i}.0: {below}",
    "ranges over all below": lambda i, below: f"b{i}@1.{i}.0: {below} / - / <1.{i}.0",
    "ranges over everything": lambda i, below: f"b{i}@1.{i}.0: {below} / - / >=0.0.1",
    "each skips the one below": lambda i, below: f"b{i}@1.{i}.0: {below} / {below}",
    "heads without edges": lambda i, _: f"b{i}@1.{i}.0",
    "two of one version": lambda i, below: f"b{i}@1.{max(i, 1)}.0: {below} / - / <1.{i}.0",
    "one circle": lambda i, below: f"b{i}@1.{i}.0: {below} / - / {'-' if i else '>=1.50.0'}",
}


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("shape", SHAPES)
def test_simulating_ten_times_as_many_entries_is_ten_times_the_work(shape: str) -> None:
    def work(size: int) -> int:
        served = sources(_drawn(size, SHAPES[shape]))

        def act() -> None:
            found = simulation_report(list(simulate_package(served, Scenario())), Scenario())
            assert sum(map(len, text(found)))

        return lines_run(act)

    little, much = work(60), work(600)
    assert much < 14 * little, f"{much / little:.1f} times"


@pytest.mark.parametrize("shape", ["a chain", "ranges over all below", "two of one version"])
def test_joint_channels_with_ten_times_as_many_entries_are_ten_times_the_work(shape: str) -> None:
    def work(size: int) -> int:
        served = sources(_drawn(size, SHAPES[shape]))
        return lines_run(
            lambda: list(simulate_package(served, Scenario(("v1",), options=ClusterExtensionOptions(()))))
        )

    little, much = work(60), work(600)
    assert much < 14 * little, f"{much / little:.1f} times"


def test_switching_ten_times_as_many_entries_is_ten_times_the_work() -> None:
    def work(size: int) -> int:
        chain = _drawn(size, SHAPES["a chain"])
        served = sources(f"[old]\n{chain}\n[new]\nc@9.0.0: - / - / <1.{size // 2}.0")
        return lines_run(lambda: list(simulate_package(served, Scenario(is_switch=True))))

    little, much = work(60), work(600)
    assert much < 14 * little, f"{much / little:.1f} times"
