"""Real OpenSearch: the gates say of it, on the way up and back, what they say of the engine in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from e2e.opensearch_story import NAMES, NEW, OLD, ROLES, Embedded, Real, Told, lived, lived_alike
from e2e.opensearch_way_back import FIRST, SECOND, STEPS, THIRD, closed_gates
from e2e.servers.opensearch import DownloadOpenSearch, opensearch_cluster
from e2e.servers.processes import create_work_dir

pytestmark = pytest.mark.xdist_group("opensearch")


@dataclass
class Lived:
    real: dict[str, Told]
    embedded: dict[str, Told]


@pytest.fixture(scope="module")
def story(opensearch: DownloadOpenSearch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    tools = opensearch(OLD, NEW)
    embedded = lived(Embedded(), STEPS, closed_gates)
    members = [(name, ROLES) for name in NAMES]
    with (
        create_work_dir(tmp_path_factory.mktemp("logs")) as work_dir,
        opensearch_cluster(work_dir, tools, members) as nodes,
    ):
        yield Lived(lived_alike(Real(nodes), STEPS, embedded, closed_gates), embedded)


@pytest.mark.parametrize("step", STEPS)
def test_the_gates_are_those_of_the_engine_in_memory(story: Lived, step: str) -> None:
    assert story.embedded[step] == story.real[step]


def test_a_copy_that_no_older_node_may_have_closes_no_gate_but_that_of_the_last_one(story: Lived) -> None:
    """Waiting would not turn it green: the roll goes on, and leaves the only copy where it is."""
    told = story.real["its replica was away, and no older node may have it"]
    assert told["color"] == "yellow"
    assert told["closed"] == {FIRST: [], SECOND: [], THIRD: ["LastCopySafe"]}
