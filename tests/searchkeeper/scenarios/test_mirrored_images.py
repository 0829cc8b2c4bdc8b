"""Images from a mirror, which the operator is configured with and the command line is not."""

from __future__ import annotations

from searchkeeper.cli.sources import fake_cluster_source
from searchkeeper.images import Images, image_version, repository_of
from searchkeeper.releases import newest
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import CLUSTER, new_cluster, reconcile_steps, status
from tests.support.searchkeeper.operator_scenarios import pods, running_cluster

MIRROR = Images("mirror.example.com:5000/engine", "mirror.example.com:5000/dashboards")


def with_mirrored_images(cluster: FakeCluster) -> FakeCluster:
    *_, last = reconcile_steps(cluster, images=MIRROR)
    return last


def repositories(cluster: FakeCluster) -> set[str]:
    return {repository_of(each["spec"]["containers"][0]["image"]) for each in pods(cluster).values()}


def test_every_pod_has_an_image_of_the_mirror() -> None:
    cluster = with_mirrored_images(new_cluster(dashboards={"enabled": True}))
    images = {each["spec"]["containers"][0]["image"] for each in cluster.list("v1", "Pod", "search", {})}
    assert {repository_of(each) for each in images} == {MIRROR.engine, MIRROR.dashboards}
    assert {image_version(each) for each in images} == {"2.19.4"}
    assert status(cluster)["engineVersion"] == "2.19.4"


def test_cluster_moves_to_a_mirror_one_pod_at_a_time() -> None:
    cluster = running_cluster()
    for current in reconcile_steps(cluster, images=MIRROR):
        assert len(current.state.engine.nodes) >= 4
    assert repositories(cluster) == {MIRROR.engine}


def test_description_without_mirror_settings_has_no_open_action() -> None:
    cluster = with_mirrored_images(new_cluster())
    source = fake_cluster_source(cluster, newest())
    open_actions = [each for each in source.describe(CLUSTER).actions if each.status != "True"]
    assert open_actions == []
