"""Figures for Prometheus, in its text format. A dozen of them need no library."""

from __future__ import annotations

__all__ = ["Metrics"]

from collections.abc import Callable, Collection, Iterator
from threading import Lock
from typing import Final, NamedTuple


class _Family(NamedTuple):
    type: str
    help: str


_FAMILIES: Final = {
    "searchkeeper_cycles_total": _Family("counter", "Cycles, by what they came to."),
    "searchkeeper_cycle_seconds_sum": _Family("counter", "Seconds spent in cycles."),
    "searchkeeper_cycle_seconds_count": _Family("counter", "Cycles whose seconds were added up."),
    "searchkeeper_writes_total": _Family("counter", "Writes to the API server and the engine, by kind."),
    "searchkeeper_failures_total": _Family("counter", "Cycles that ended in an error, by its name."),
    "searchkeeper_waits": _Family("gauge", "Actions of a resource that wait for somebody else."),
    "searchkeeper_stalls": _Family("gauge", "Actions that wait for longer than they should."),
    "searchkeeper_phase": _Family("gauge", "1 for the phase that a cluster is in."),
    "searchkeeper_upgrade_progress": _Family("gauge", "Pods on the target version, as a share of all."),
    "searchkeeper_leads": _Family("gauge", "1 while this operator has the lease."),
    "searchkeeper_last_cycle_timestamp_seconds": _Family("gauge", "When a cluster was last looked at."),
}

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters and gauges by name and labels. Safe to use from several threads."""

    def __init__(self) -> None:
        self._values: dict[str, dict[Labels, float]] = {name: {} for name in _FAMILIES}
        self._lock = Lock()

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        with self._lock:
            found = self._values[name]
            key = tuple(sorted(labels.items()))
            found[key] = found.get(key, 0) + amount

    def set(self, name: str, value: float, **labels: str) -> None:
        with self._lock:
            self._values[name][tuple(sorted(labels.items()))] = value

    def set_only(self, name: str, value: float, label: str, chosen: str, **labels: str) -> None:
        """One value of a label counts, and whichever counted before does not."""
        with self._lock:
            common = tuple(sorted(labels.items()))
            found = self._values[name]
            for key in [key for key in found if tuple(p for p in key if p[0] != label) == common]:
                del found[key]
            found[tuple(sorted((*common, (label, chosen))))] = value

    def keep_only(self, label: str, chosen: Collection[str], **labels: str) -> None:
        """Gauges with these labels go whose value of another label is none of the chosen ones."""
        wanted = set(labels.items())

        def is_past(key: Labels) -> bool:
            return wanted <= set(key) and any(name == label and text not in chosen for name, text in key)

        self._drop_gauges(is_past)

    def forget(self, **labels: str) -> None:
        """Gauges with these labels: the cluster is gone. Counters stay, as they must."""
        wanted = set(labels.items())
        self._drop_gauges(lambda key: wanted <= set(key))

    def _drop_gauges(self, is_past: Callable[[Labels], bool]) -> None:
        with self._lock:
            for name, family in _FAMILIES.items():
                if family.type == "gauge":
                    kept = {key: value for key, value in self._values[name].items() if not is_past(key)}
                    self._values[name] = kept

    def value(self, name: str, **labels: str) -> float:
        """The sum of all that have these labels."""
        with self._lock:
            wanted = set(labels.items())
            return sum(value for key, value in self._values[name].items() if wanted <= set(key))

    def text(self) -> str:
        with self._lock:
            return "".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for name, family in _FAMILIES.items():
            yield f"# HELP {name} {family.help}\n# TYPE {name} {family.type}\n"
            for labels, value in sorted(self._values[name].items()):
                shown = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
                yield f"{name}{{{shown}}} {value:.10g}\n" if shown else f"{name} {value:.10g}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
