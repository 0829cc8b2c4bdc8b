"""Real OLM takes the hops that `everpath simulate` predicts, on every upgrade path of our catalog."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

import pytest

from everpath.loaders.catalog_loader import load
from tests.e2e.olm.recorder import record_olm
from tests.e2e.olm.subscription_runner import SubscriptionRunner
from tests.e2e.olm.subscriptions import CATALOG, PACKAGE, PredictedPaths, SubscriptionCase
from tests.e2e.servers.binaries import Binaries
from tests.e2e.servers.grpc_catalogs import serve_with_everpath, serve_with_opm
from tests.e2e.servers.olm_v0 import OlmV0
from tests.e2e.servers.processes import WorkDir

pytestmark = pytest.mark.e2e

CHANNELS: Final = load(str(CATALOG)).catalog.by_name[PACKAGE].channels
STARTS: Final = [
    (channel.name, name)
    for channel in CHANNELS
    for name in (None, *(entry.name for entry in channel.entries))
]
AUTOMATIC: Final = [SubscriptionCase("everpath", channel, name) for channel, name in STARTS]
MANUAL: Final = [
    SubscriptionCase("everpath", channel, name, "Manual")
    for channel, name in STARTS
    if channel == CHANNELS[-1].name
]
SERVED_BY_OPM: Final = [
    SubscriptionCase("opm", channel.name, channel.entries[0].name) for channel in CHANNELS
]
# The head of a channel has no successor but in another channel.
CHANNEL_SWITCHES: Final = [
    SubscriptionCase("everpath", channel.name, None, "Automatic", other.name)
    for channel, other in itertools.permutations(CHANNELS, 2)
]


@pytest.fixture(scope="module")
def catalogs(binaries: Binaries, work_dir: WorkDir, olm_v0: OlmV0) -> Iterator[None]:
    """Our catalog, served by everpath and by opm."""
    with (
        serve_with_everpath(work_dir, CATALOG) as everpath_address,
        serve_with_opm(binaries, work_dir, CATALOG) as opm_address,
        olm_v0.catalog_source("everpath", {"address": everpath_address}),
        olm_v0.catalog_source("opm", {"address": opm_address}),
    ):
        yield


@pytest.fixture(scope="module")
def predictions() -> PredictedPaths:
    return PredictedPaths()


@pytest.fixture(scope="module")
def runner(
    request: pytest.FixtureRequest,
    work_dir: WorkDir,
    olm_v0: OlmV0,
    catalogs: None,
    predictions: PredictedPaths,
) -> Iterator[SubscriptionRunner]:
    """Runs the Subscriptions of the selected tests."""
    items = (item for item in request.session.items if item.path == request.path)
    cases: list[SubscriptionCase] = [
        item.callspec.params["case"] for item in items if hasattr(item, "callspec")
    ]
    with record_olm(olm_v0, work_dir.logs / "olm-events.log") as recorder:
        yield SubscriptionRunner(olm_v0, recorder, predictions, cases)


@pytest.mark.parametrize("case", [*AUTOMATIC, *SERVED_BY_OPM], ids=lambda case: case.namespace)
def test_subscription_takes_the_predicted_hops(
    case: SubscriptionCase, runner: SubscriptionRunner, predictions: PredictedPaths
) -> None:
    recorded = runner.wait_for(case)
    assert recorded.path == predictions.path(case)
    assert recorded.install_plans == [[name] for name in recorded.path]
    assert recorded.approved == []


@pytest.mark.parametrize("case", MANUAL, ids=lambda case: case.namespace)
def test_every_hop_waits_for_manual_approval(
    case: SubscriptionCase, runner: SubscriptionRunner, predictions: PredictedPaths
) -> None:
    recorded = runner.wait_for(case)
    assert recorded.path == predictions.path(case)
    assert recorded.install_plans == [[name] for name in recorded.path]
    assert recorded.approved == recorded.path
    assert recorded.installed_before_approval == []


@pytest.mark.parametrize("case", CHANNEL_SWITCHES, ids=lambda case: case.namespace)
def test_changed_channel_leads_to_the_predicted_path(
    case: SubscriptionCase, runner: SubscriptionRunner, predictions: PredictedPaths
) -> None:
    assert runner.wait_for(case).path == predictions.path(case)
