"""Strongly connected components of the graph that `replaces` and `skips` form, and their order."""

from __future__ import annotations

__all__ = ["Condensation", "strongly_connected_components"]

from collections.abc import Iterator, Mapping, Sequence


def strongly_connected_components(edges: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Yield each component after all components it has an edge to. O(edges).

    Every target of an edge must be a key. This is Tarjan's algorithm without recursion, because a channel
    may be longer than Python's stack.
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    unassigned: dict[str, None] = {}
    stack: list[tuple[str, Iterator[str]]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        unassigned[name] = None
        stack.append((name, iter(edges[name])))

    for root in edges:
        if root not in index:
            visit(root)
        while stack:
            name, targets = stack[-1]
            target = next(targets, None)
            if target is not None:
                if target not in index:
                    visit(target)
                elif target in unassigned:
                    low[name] = min(low[name], index[target])
                continue
            stack.pop()
            if stack:
                parent = stack[-1][0]
                low[parent] = min(low[parent], low[name])
            if low[name] == index[name]:
                yield [*iter(lambda: unassigned.popitem()[0], name), name]


class Condensation:
    """The acyclic graph of the strongly connected components. Built in O(edges)."""

    def __init__(self, edges: Mapping[str, Sequence[str]]) -> None:
        self._component: dict[str, int] = {}
        self._targets: list[set[int]] = []
        # The number of edges on the longest path that starts at the component.
        self._height: list[int] = []
        for number, members in enumerate(strongly_connected_components(edges)):
            self._component.update(dict.fromkeys(members, number))
            targets = {self._component[target] for name in members for target in edges[name]}
            targets.discard(number)
            self._targets.append(targets)
            self._height.append(1 + max(map(self._height.__getitem__, targets), default=-1))

    def topmost(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names that no other of them leads to, in their order; of a cycle, the first.

        Cost: each component that is at least as high as the lowest name is visited once, with its edges.
        """
        firsts: dict[int, str] = {}
        for name in names:
            firsts.setdefault(self._component[name], name)
        if len(firsts) < 2:
            return tuple(firsts.values())
        lowest = min(self._height[component] for component in firsts)
        below: set[int] = set()
        pending = list(firsts)
        while pending:
            for component in self._targets[pending.pop()]:
                if component not in below and self._height[component] >= lowest:
                    below.add(component)
                    pending.append(component)
        return tuple(name for component, name in firsts.items() if component not in below)
