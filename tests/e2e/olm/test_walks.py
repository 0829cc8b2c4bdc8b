"""Every path of our own catalog: real OLM takes the hops that `everpath simulate` predicts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

import pytest

from e2e.olm.convoy import Convoy
from e2e.olm.journal import journal
from e2e.olm.journeys import CATALOG, PACKAGE, Journey, Roads
from e2e.servers.binaries import Binaries
from e2e.servers.grpc_catalogs import serve_with_everpath, serve_with_opm
from e2e.servers.olm_v0 import OlmV0
from e2e.servers.processes import WorkDir
from everpath.formats.reading import read

pytestmark = pytest.mark.e2e

CHANNELS: Final = read(str(CATALOG)).catalog.by_name[PACKAGE].channels
STARTS: Final = [
    (channel.name, name)
    for channel in CHANNELS
    for name in (None, *(entry.name for entry in channel.entries))
]
AUTOMATIC: Final = [Journey("everpath", channel, name) for channel, name in STARTS]
MANUAL: Final = [
    Journey("everpath", channel, name, "Manual") for channel, name in STARTS if channel == CHANNELS[-1].name
]
BY_OPM: Final = [Journey("opm", channel.name, channel.entries[0].name) for channel in CHANNELS]
# From the head of a channel nothing but another channel leads on.
SWITCHES: Final = [
    Journey("everpath", channel.name, None, "Automatic", other.name)
    for channel, other in itertools.permutations(CHANNELS, 2)
]


@pytest.fixture(scope="module")
def catalogs(binaries: Binaries, work_dir: WorkDir, olm_v0: OlmV0) -> Iterator[None]:
    """Our catalog, served by everpath and by opm."""
    with (
        serve_with_everpath(work_dir, CATALOG) as ours,
        serve_with_opm(binaries, work_dir, CATALOG) as theirs,
        olm_v0.catalog_source("everpath", {"address": ours}),
        olm_v0.catalog_source("opm", {"address": theirs}),
    ):
        yield


@pytest.fixture(scope="module")
def roads() -> Roads:
    return Roads()


@pytest.fixture(scope="module")
def convoy(
    request: pytest.FixtureRequest,
    work_dir: WorkDir,
    olm_v0: OlmV0,
    catalogs: None,
    roads: Roads,
) -> Iterator[Convoy]:
    """The journeys that tests of this run are about."""
    here = (item for item in request.session.items if item.path == request.path)
    chosen: list[Journey] = [item.callspec.params["journey"] for item in here if hasattr(item, "callspec")]
    with journal(olm_v0, work_dir.logs / "journal.log") as book:
        yield Convoy(olm_v0, book, roads, chosen)


@pytest.mark.parametrize("journey", [*AUTOMATIC, *BY_OPM], ids=lambda journey: journey.namespace)
def test_a_subscription_takes_the_hops_that_are_predicted(
    journey: Journey, convoy: Convoy, roads: Roads
) -> None:
    found = convoy.arrive(journey)
    assert found.road == roads.of(journey)
    assert found.plans == [[name] for name in found.road]
    assert found.approved == []


@pytest.mark.parametrize("journey", MANUAL, ids=lambda journey: journey.namespace)
def test_with_manual_approval_each_hop_is_an_install_plan_that_waits(
    journey: Journey, convoy: Convoy, roads: Roads
) -> None:
    found = convoy.arrive(journey)
    assert found.road == roads.of(journey)
    assert found.plans == [[name] for name in found.road]
    assert found.approved == found.road
    assert found.hasty == []


@pytest.mark.parametrize("journey", SWITCHES, ids=lambda journey: journey.namespace)
def test_a_changed_channel_leads_where_it_is_predicted_to(
    journey: Journey, convoy: Convoy, roads: Roads
) -> None:
    assert convoy.arrive(journey).road == roads.of(journey)
