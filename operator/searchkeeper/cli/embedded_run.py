"""An upgrade before one's eyes: redrawn on a terminal, a line each in a log."""

from __future__ import annotations

__all__ = ["show"]

import shutil
import sys
import time
from collections.abc import Iterator
from typing import Final

import click

from searchkeeper.cli.errors import Failed
from searchkeeper.cli.status import upgrade_text
from searchkeeper.describe import ClusterDescription, StepState
from searchkeeper.opensearch.view import Color, EngineView
from searchkeeper.testing.demo import sample_cluster, start_version, upgrade
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.upgrade.version_policy import version_refusal
from searchkeeper.versions import Release

# Of one turn on a terminal; a hundred or so make an upgrade.
_SECONDS: Final = 0.15
_UP: Final = "\x1b[{}A\x1b[J"
# Told at every turn, and of no interest in between.
_QUIET: Final = frozenset({"PrerequisiteNotMet", "Done", "NoUpgrade"})


def show(release: Release, start: str | None, target: str | None) -> None:
    """Raises ClickException where there is no way from the one version to the other."""
    target = target or release.newest_engine
    start = start or start_version(target, release)
    if start == target:
        raise click.UsageError(f"there is nothing to upgrade from {start} to {target}")
    for before, after in ((None, start), (start, target)):
        found = version_refusal(before, after, release)
        if found is not None:
            raise click.UsageError(found.message)
    world = sample_cluster(release, start)
    click.echo(f"A cluster of OpenSearch {start} in memory, kept by searchkeeper {release.version}.")
    click.echo(f"Somebody changes spec.version to {target}.\n")
    began = world.state.now
    witness = _Witness(world)
    moments = witness.seeing(upgrade(world, release, target))
    last = _drawn(moments) if _is_terminal() else _logged(moments, began)
    if last is None or last.engine != target:
        raise Failed(f"the cluster has not arrived at {target}")
    click.echo(f"\n{witness.message(target, world.state.now - began)}")


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


class _Witness:
    """Remembers in which order nodes went, and how the engine was meanwhile."""

    def __init__(self, world: FakeCluster) -> None:
        self._world = world
        self._taken: list[tuple[str, bool]] = []
        self._was_red = False

    def seeing(self, moments: Iterator[ClusterDescription]) -> Iterator[ClusterDescription]:
        elected = self._elected
        for each in moments:
            away = {step.name for step in each.steps if step.state is StepState.CURRENT}
            known = {name for name, _ in self._taken}
            self._taken += [(name, name == elected) for name in sorted(away - known)]
            snapshot = self._world.get_state()
            self._was_red |= isinstance(snapshot, EngineView) and snapshot.color is Color.RED
            elected = self._elected
            yield each

    @property
    def _elected(self) -> str | None:
        found = self._world.state.engine.elected
        return None if found is None else found.name

    def message(self, target: str, seconds: int) -> str:
        """Only what was seen."""
        parts = [f"{len(self._taken)} nodes run {target} after {seconds // 60} minutes of the cluster's time"]
        if not self._was_red:
            parts.append("no shard was without a copy at any moment")
        if self._taken and self._taken[-1][1]:
            parts.append("the elected manager went last")
        return "; ".join(parts) + "."


def _drawn(moments: Iterator[ClusterDescription]) -> ClusterDescription | None:
    """Over the last one each. No line is longer than the terminal is wide, or it would count as two."""
    height, last = 0, None
    for last in moments:
        width = shutil.get_terminal_size().columns - 1
        lines = [_cut(line, width) for part in upgrade_text(last) for line in part.splitlines()]
        click.echo((_UP.format(height) if height else "") + "\n".join(lines), color=True)
        height = len(lines)
        time.sleep(_SECONDS)
    return last


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}…"


def _logged(moments: Iterator[ClusterDescription], began: int) -> ClusterDescription | None:
    """What changed in the answers of the actions, with the world's own time in front."""
    last, said = None, dict[tuple[str, str], str]()
    for last in moments:
        for each in last.actions:
            place = (each.resource, each.action)
            if each.message and said.get(place) != each.message and each.reason not in _QUIET:
                minutes, seconds = divmod(last.now - began, 60)
                click.echo(f"{minutes:02}:{seconds:02}  {each.action:<20}  {each.message}")
            said[place] = each.message
    return last
