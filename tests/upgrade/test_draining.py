"""What a roll keeps shards away from, beside what users do."""

from __future__ import annotations

from typing import Any

import pytest

from operators_at_work import edited, pool, status
from searchkeeper.embedded.world import World
from searchkeeper.engine.calls import Exclude
from tales import running, unfolding, versions

NEW = "3.4.0"


def brief() -> World:
    """Data nodes whose data goes with them: each is emptied before it restarts."""
    storage: dict[str, Any] = {"storage": {"ephemeral": True}}
    return running({**pool("data", 4, "data"), **storage}, pool("managers", 3, "cluster_manager"))


def test_a_node_is_emptied_before_it_restarts_and_gets_shards_again() -> None:
    world = edited(brief(), version=NEW)
    seen = {name for moment in unfolding(world) for name in moment.state.engine.excluded}
    assert seen == {f"logs-data-{n}" for n in range(4)}
    assert not world.state.engine.excluded


@pytest.mark.parametrize("name", ["logs-data-0", "logs-data-2", "logs-data-9"])
def test_what_somebody_else_has_excluded_stays_so_all_the_while(name: str) -> None:
    """I9: a roll undoes what it has set itself, and nothing else."""
    world = brief()
    world.tell(Exclude(frozenset({name})))
    for moment in unfolding(edited(world, version=NEW)):
        assert name in moment.state.engine.excluded
    assert world.state.engine.excluded == {name}
    assert set(versions(world).values()) == {NEW}
    assert not status(world)["ledger"]
