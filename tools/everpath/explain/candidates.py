"""What a resolver looked at, a line for each thing worth knowing: what nobody accepts is told together."""

from __future__ import annotations

__all__ = ["Look", "looks"]

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from everpath.explain.trace import Account
from everpath.graph import Edge, EdgeKind
from everpath.resolvers.resolution import CandidateResult, TraceStep


class Look(NamedTuple):
    """Entries, or bundles, of which the same is true: what became of them, and for what reason."""

    names: tuple[str, ...]
    verdict: CandidateResult
    text: str
    catalog: str | None = None
    edge: Edge | None = None


def looks(account: Account) -> tuple[Look, ...]:
    """All that was heard, in its order; what is told in the same words is told once."""
    grouped: dict[tuple[object, ...], list[TraceStep]] = {}
    for remark in _told_last(account.remarks):
        text = _text(account, remark)
        key = (remark.entry if remark.edge else None, remark.result, text, remark.catalog)
        grouped.setdefault(key, []).append(remark)
    return tuple(_look(account, group) for group in grouped.values())


def _told_last(remarks: Iterable[TraceStep]) -> Iterator[TraceStep]:
    """A bundle of which more than one thing was said, as the best of a catalog and then of all: the last."""
    return iter({(remark.entry, remark.catalog): remark for remark in remarks}.values())


def _look(account: Account, group: list[TraceStep]) -> Look:
    first, names = group[0], tuple(remark.entry for remark in group)
    text = _text(account, first)
    if len(names) > 1 and text.startswith(("is ", "does ", "has ")):
        text = f"each {text}"
    return Look(names, first.result, text, first.catalog, first.edge)


def _text(account: Account, remark: TraceStep) -> str:
    installed = account.installed.name if account.installed is not None else None
    if remark.entry == installed and remark.result is CandidateResult.TAKEN and account.policy == "v0":
        return "is what is installed, and its own skipRange covers it: OLM v0 takes that for up to date"
    if remark.entry == installed and remark.edge is None:
        is_all = account.policy == "v0" or remark.result is CandidateResult.TAKEN
        return "is what is installed" + ("" if is_all else f", and {remark.reason}")
    if remark.edge is None:
        return remark.reason
    join = "and" if remark.result is CandidateResult.TAKEN else "but"
    return f"{_by(account, remark.edge)}, {join} {_reason(account, remark)}"


def _by(account: Account, edge: Edge) -> str:
    if edge.kind is not EdgeKind.RANGE:
        return f"{edge.kind.value} {edge.installed}"
    entry = account.graph.entries.get(edge.successor) if account.graph is not None else None
    # Of an entry that is written twice the other one may have the range.
    span = f" '{entry.skip_range}'" if entry is not None and entry.skip_range else ""
    return f"has the skipRange{span}, which holds {_version(account) or edge.installed}"


def _version(account: Account) -> str | None:
    if account.installed is None or account.installed.version is None:
        return None
    return str(account.installed.version)


def _reason(account: Account, remark: TraceStep) -> str:
    """A failure's words are told once, as the failure."""
    failure = account.decision.failure
    if failure is not None and remark.reason == failure.message:
        return "OLM v1 refuses the bundle that it has chosen"
    return remark.reason
