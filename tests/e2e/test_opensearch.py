"""Real OpenSearch: the driver sees and says what it should, and the engine in memory tells the same story."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from e2e.opensearch_story import NAMES, NEW, OLD, ROLES, STEPS, Embedded, Real, Told, lived, lived_alike
from e2e.servers.opensearch import DownloadOpenSearch, OpenSearchCluster, opensearch_cluster
from e2e.servers.polling import wait_until
from e2e.servers.processes import WorkDir, create_work_dir, log_tail
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import Unreachable
from searchkeeper.testing.fake_opensearch.membership import JoinRefusal, join_refusal
from searchkeeper.testing.fake_opensearch.state import Process

pytestmark = pytest.mark.xdist_group("opensearch")


@dataclass
class Lived:
    """Both stories, and the nodes of the real one, which are still there."""

    nodes: OpenSearchCluster
    work_dir: WorkDir
    real: dict[str, Told]
    stage: Embedded
    embedded: dict[str, Told]


@pytest.fixture(scope="module")
def story(opensearch: DownloadOpenSearch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    tools = opensearch(OLD, NEW)
    stage = Embedded()
    embedded = lived(stage, STEPS)
    with create_work_dir(tmp_path_factory.mktemp("logs")) as work_dir:
        members = [(name, ROLES) for name in NAMES]
        with opensearch_cluster(work_dir, tools, members) as nodes:
            yield Lived(nodes, work_dir, lived_alike(Real(nodes), STEPS, embedded), stage, embedded)


@pytest.mark.parametrize("step", STEPS)
def test_the_engine_in_memory_tells_what_the_real_one_tells(story: Lived, step: str) -> None:
    assert story.embedded[step] == story.real[step]


def test_a_node_that_ran_the_new_version_never_runs_the_old_one_again(story: Lived) -> None:
    """The real one fails even before it reads which version was there: the files are of a later kind."""
    name = NAMES[2]
    story.nodes.stop(name)
    log = story.work_dir.logs / f"opensearch-{name}.log"
    length = log.stat().st_size
    story.nodes.start(name, OLD)
    wait_until(f"{name} gives up", lambda: story.nodes.has_exited(name), 120)
    refusal = join_refusal(story.stage.engine, Process(name, OLD, frozenset(ROLES)))
    assert refusal == JoinRefusal(f"cannot downgrade a node from version [{NEW}] to version [{OLD}]")
    assert "indexCreatedVersionMajor is in the future" in log.read_text()[length:], log_tail(log)


def test_without_a_majority_nothing_is_known_and_nothing_is_told(story: Lived) -> None:
    """The last test: from here on there is no cluster."""
    for name in NAMES[1:]:
        story.nodes.stop(name)
    wait_until("it is noticed, and told", lambda: _tells_of_no_manager(story.nodes), 180)


def _tells_of_no_manager(nodes: OpenSearchCluster) -> bool:
    """The first looks may only be slow; what counts is what is said in the end."""
    view = OpenSearchClient(Access(nodes.url)).get_state()
    return isinstance(view, Unreachable) and "503" in view.cause
