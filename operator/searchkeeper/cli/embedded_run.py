"""`searchkeeper run --embedded`: an upgrade in memory, redrawn on a terminal, one line a change elsewhere."""

from __future__ import annotations

__all__ = ["show_upgrade"]

import shutil
import sys
import time
from collections.abc import Iterator
from typing import Final

import click

from searchkeeper.cli.errors import CommandError
from searchkeeper.cli.status import upgrade_text
from searchkeeper.describe import ClusterDescription, StepState
from searchkeeper.opensearch.view import Color, EngineView
from searchkeeper.reconcilers.rollback import rollback_possible
from searchkeeper.testing.demo import sample_cluster, start_version, upgrade
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.upgrade.version_policy import version_refusal
from searchkeeper.versions import Release

# An upgrade takes about a hundred frames.
_SECONDS_A_FRAME: Final = 0.15
_CURSOR_UP: Final = "\x1b[{}A\x1b[J"


def show_upgrade(release: Release, start: str | None, target: str | None) -> None:
    """Create the sample cluster and show its upgrade. Raises ClickException if the upgrade is refused."""
    target = target or release.newest_engine
    start = start or start_version(target, release)
    if start == target:
        raise click.UsageError(f"nothing to upgrade: --from and --to are both {target}")
    for before, after in ((None, start), (start, target)):
        refusal = version_refusal(before, after, release)
        if refusal is not None:
            raise click.UsageError(refusal.message)
    world = sample_cluster(release, start)
    click.echo(f"SearchCluster search/logs runs OpenSearch {start} in memory; operator {release.version}.")
    click.echo(f"spec.version changes to {target}.\n")
    started_at = world.state.now
    recorder = _UpgradeRecorder(world)
    descriptions = recorder.record(upgrade(world, release, target))
    last = _draw(descriptions) if _is_terminal() else _log(descriptions, started_at)
    if last is None or last.engine != target:
        raise CommandError(f"the upgrade has not reached {target}")
    click.echo(f"\n{recorder.summary(target, world.state.now - started_at)}")


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


class _UpgradeRecorder:
    """Records in which order nodes are replaced, and whether the engine was ever red."""

    def __init__(self, world: FakeCluster) -> None:
        self._world = world
        self._replaced: list[tuple[str, bool]] = []
        self._was_red = False

    def record(self, descriptions: Iterator[ClusterDescription]) -> Iterator[ClusterDescription]:
        elected = self._elected_manager
        for description in descriptions:
            known = {name for name, _ in self._replaced}
            current = {step.name for step in description.steps if step.state is StepState.CURRENT}
            self._replaced += [(name, name == elected) for name in sorted(current - known)]
            engine = self._world.get_state()
            self._was_red |= isinstance(engine, EngineView) and engine.color is Color.RED
            elected = self._elected_manager
            yield description

    @property
    def _elected_manager(self) -> str | None:
        node = self._world.state.engine.elected
        return None if node is None else node.name

    def summary(self, target: str, seconds: int) -> str:
        parts = [f"{len(self._replaced)} nodes run {target} after {seconds // 60} simulated minutes"]
        if not self._was_red:
            parts.append("the engine was never red")
        if self._replaced and self._replaced[-1][1]:
            parts.append("the elected cluster manager was replaced last")
        return "; ".join(parts) + "."


def _draw(descriptions: Iterator[ClusterDescription]) -> ClusterDescription | None:
    """Redraw every description over the one before. A line wider than the terminal would count as two."""
    height, last = 0, None
    for last in descriptions:
        width = shutil.get_terminal_size().columns - 1
        lines = [
            line if len(line) <= width else f"{line[: width - 1]}…"
            for part in upgrade_text(last, width)
            for line in part.splitlines()
        ]
        click.echo((_CURSOR_UP.format(height) if height else "") + "\n".join(lines), color=True)
        height = len(lines)
        time.sleep(_SECONDS_A_FRAME)
    return last


def _log(descriptions: Iterator[ClusterDescription], started_at: int) -> ClusterDescription | None:
    """Print every new message of a waiting action, and of the rollback, with the simulated time."""
    last, printed = None, dict[tuple[str, str], str]()
    for last in descriptions:
        messages = {
            (a.resource, a.action): a.text
            for a in last.actions
            if a.is_waiting or (last.upgrade and a.action == rollback_possible.name)
        }
        for (resource, action), message in messages.items():
            if printed.get((resource, action)) != message:
                minutes, seconds = divmod(last.now - started_at, 60)
                click.echo(f"{minutes:02}:{seconds:02}  {action:<20}  {message}")
        printed = messages
    return last
