"""Where commands look: at a cluster, at manifests in files, or at the world in memory."""

from __future__ import annotations

__all__ = [
    "Source",
    "chosen_release",
    "clusters_in",
    "from_cluster",
    "from_files",
    "from_memory",
    "of_world",
    "source_options",
    "sources",
    "what_is_installed",
]

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from searchkeeper.cli.errors import Unreadable, no_cluster, of_kube
from searchkeeper.cli.files import MISSHAPEN, manifests, misshapen
from searchkeeper.cli.options import EngineAddress
from searchkeeper.describe import ClusterDescription, describe, describe_from_status, describe_without_engine
from searchkeeper.desired.names import GROUP
from searchkeeper.images import PUBLISHED, Images, repository_of
from searchkeeper.kubernetes.api import ApiError, KubernetesApi
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.observe import observe
from searchkeeper.opensearch.client import EngineClient
from searchkeeper.opensearch.view import Unreachable
from searchkeeper.reconcile import plan_until_stable
from searchkeeper.releases import UnknownRelease, newest, release
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.versions import Release

if TYPE_CHECKING:
    from searchkeeper.testing.fake_cluster import FakeCluster

F = TypeVar("F", bound=Callable[..., Any])

_API: Final = f"{GROUP}/v1alpha1"
_WHERE_CLUSTERS_ARE: Final = "`kubectl get searchclusters -A -o yaml` prints those of a cluster"
_ELSEWHERE: Final = "-n names the namespace to look at; without it all of them are"
# Objects that are named where something is missing among them.
_SHOWN: Final = 5
# What images are in, and where they come from unless somebody has said otherwise.
_MADE: Final = {"StatefulSet": PUBLISHED.engine, "Deployment": PUBLISHED.dashboards}


@dataclass(frozen=True)
class Source:
    """Both ports, a clock, and the release that is to do the thinking. `found`: clusters by namespace.

    `is_outside`: the engine was looked for where the operator has it, which may be out of reach from here.
    `place` and `contents`: of files, which they are and what is in them. `elsewhere`: the clusters of all
    namespaces, where they are known; the rights of whoever asks a cluster may end at one.
    """

    kube: KubernetesApi
    driver: Callable[[Key], EngineClient]
    release: Release
    clock: Callable[[], int]
    found: Callable[[str], Sequence[Key]]
    is_outside: bool = False
    place: str = ""
    contents: str = ""
    elsewhere: Callable[[], Sequence[Key]] = tuple

    def clusters(self, namespace: str, name: str | None) -> list[Key]:
        """Those there are, or the one that was named. Raises ClickException."""
        try:
            found = self.found(namespace)
        except ApiError as error:
            raise of_kube(error) from error
        chosen = [key for key in found if name in (None, key.name)]
        if not chosen:
            where = f" in namespace {namespace}" if namespace else ""
            which = "no SearchCluster" if name is None else f"no SearchCluster {name}"
            there, hint = self._instead(found)
            raise Unreadable(f"there is {which}{where}{there}", hint)
        return chosen

    def _instead(self, found: Sequence[Key]) -> tuple[str, str | None]:
        """What there is of those that nobody has asked for, and where to look."""
        if found:
            return f"; there are {', '.join(key.name for key in found)}", None
        others = self.elsewhere()
        if not others:
            return f"{self.place}{self.contents}", _WHERE_CLUSTERS_ARE
        shown = _first_of(f"{key} in namespace {key.namespace}" for key in others)
        return f"{self.place}: there is {shown}", _ELSEWHERE

    def explained(self, key: Key) -> ClusterDescription:
        """Raises ClickException."""
        snapshot = self._seen(key)
        if not self._is_out_of_reach(snapshot):
            return describe(snapshot)
        click.echo(_out_of_reach(snapshot, "the verdicts are those without it"), err=True)
        return describe_without_engine(snapshot)

    def events_emitted(self, key: Key) -> ClusterDescription:
        """The same, but where only the operator reaches the engine, what it said itself counts."""
        snapshot = self._seen(key)
        if not self._is_out_of_reach(snapshot):
            return describe(snapshot)
        click.echo(_out_of_reach(snapshot, "this is what the operator said last"), err=True)
        return describe_from_status(snapshot)

    def _is_out_of_reach(self, snapshot: ClusterSnapshot) -> bool:
        return (
            self.is_outside
            and isinstance(snapshot.engine, Unreachable)
            and any(p.is_ready for p in snapshot.pods)
        )

    def _seen(self, key: Key) -> ClusterSnapshot:
        try:
            snapshot = observe(self.kube, self.driver(key), key, self.release, self.clock())
            if snapshot is None:
                raise Unreadable(f"there is no {key} any more")
            whole, _ = plan_until_stable(self.kube, replace(snapshot, images=_standing_images(snapshot)))
        except ApiError as error:
            raise of_kube(error) from error
        return whole


def _standing_images(snapshot: ClusterSnapshot) -> Images:
    """Where those come from that are deployed: what the operator was told, nobody else knows."""
    pods = {
        key.kind: each["spec"]["template"]["spec"]
        for key, each in snapshot.objects.items()
        if key.kind in _MADE
    }
    found = {kind: repository_of(pod["containers"][0]["image"]) for kind, pod in pods.items()}
    return Images(*(found.get(kind, usual) for kind, usual in _MADE.items()))


def _out_of_reach(snapshot: ClusterSnapshot, consequence: str) -> str:
    name, namespace = snapshot.cluster.key.name, snapshot.cluster.key.namespace
    scheme = "https" if snapshot.cluster.spec.security.tls_secret else "http"
    return (
        f"note: the engine of {namespace}/{name} does not answer from here; {consequence}\n"
        f"  kubectl port-forward -n {namespace} service/{name} 9200, and --engine {scheme}://localhost:9200"
    )


def source_options(command: F) -> F:
    """Which cluster, and which of its SearchClusters."""
    options = (
        click.argument("cluster", required=False),
        click.option(
            "-n",
            "--namespace",
            default="",
            help="Only of this namespace (default: of all); as kubectl's, where a file names none.",
        ),
        click.option(
            "--kubeconfig",
            type=click.Path(dir_okay=False),
            help="As kubectl's (default: the pod's own account, elsewhere KUBECONFIG or ~/.kube/config).",
        ),
        click.option(
            "-f",
            "--filename",
            "files",
            multiple=True,
            type=click.Path(exists=True, allow_dash=True),
            help="Manifests instead of a cluster, as `kubectl get -o yaml` gives them; repeatable.",
        ),
        click.option(
            "--embedded", is_flag=True, help="A sample cluster in memory, in the middle of an upgrade."
        ),
        click.option(
            "--engine",
            type=EngineAddress(),
            metavar="URL",
            help="Where the engine answers, seen from here (default: the cluster's Service).",
        ),
        click.option(
            "--release",
            "version",
            metavar="VERSION",
            help="Think as this release of the operator (default: the newest).",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def sources(
    *,
    namespace: str,
    kubeconfig: str | None,
    files: Sequence[str],
    embedded: bool,
    engine: str | None,
    version: str | None,
) -> Source:
    """The one that was asked for. Raises ClickException."""
    chosen = chosen_release(version)
    if sum(map(bool, (embedded, files, kubeconfig))) > 1:
        raise click.UsageError("--embedded, --filename and --kubeconfig exclude each other")
    if engine is not None and (embedded or files):
        other = "--embedded" if embedded else "--filename"
        raise click.UsageError(f"--engine is for a cluster, and {other} has none")
    if embedded:
        return from_memory(chosen)
    if files:
        return from_files(files, chosen, namespace or "default")
    return from_cluster(kubeconfig, engine, chosen)


def chosen_release(version: str | None) -> Release:
    try:
        return newest() if version is None else release(version)
    except UnknownRelease as error:
        raise click.UsageError(str(error)) from error


def from_memory(release: Release) -> Source:
    """A sample whose upgrade has come as far as its second pod, with which the way back would close."""
    from searchkeeper.testing.demo import sample_cluster, start_version, upgrade  # noqa: PLC0415 - test doubles

    target = release.newest_engine
    world = sample_cluster(release, start_version(target, release))
    for each in upgrade(world, release, target):
        done = sum(step.state == "done" for step in each.steps)
        if done == 1 and each.next is not None and each.next.is_free:
            break
    return of_world(world, release)


def from_files(files: Iterable[str], release: Release, namespace: str) -> Source:
    """A world that has just these objects; its engine is what their pods make it. Raises ClickException.

    `namespace` is that of whatever names none.
    """
    found = {Key.of(each): each for file in files for each in manifests(file, namespace)}
    try:
        source = of_world(_read(found, release), release)
    except MISSHAPEN as error:
        culprit = next((key for key in found if _is_whole(_without(found, key), release)), None)
        raise Unreadable(misshapen(", ".join(files), culprit, error)) from error
    for key in _unseen_secrets(found):
        click.echo(f"note: {key} is not among the files, and counts as missing", err=True)
    contents = f"there is {_first_of(map(str, found))}" if found else "nothing is in it"
    return replace(source, place=f" in {', '.join(files)}", contents=f": {contents}")


def _first_of(names: Iterable[str]) -> str:
    """The first few."""
    every = list(names)
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + more


def _unseen_secrets(found: Mapping[Key, Manifest]) -> Iterator[Key]:
    """Those that a SearchCluster names."""
    for key, manifest in found.items():
        if key.kind == "SearchCluster":
            named = (manifest["spec"].get("security") or {}).values()
            keys = (Key("v1", "Secret", key.namespace, name) for name in named if name)
            yield from (each for each in keys if each not in found)


def _without(found: Mapping[Key, Manifest], key: Key) -> dict[Key, Manifest]:
    return {each: manifest for each, manifest in found.items() if each != key}


def _is_whole(found: Mapping[Key, Manifest], release: Release) -> bool:
    try:
        _read(found, release)
    except MISSHAPEN:
        return False
    return True


def _read(found: Mapping[Key, Manifest], release: Release) -> FakeCluster:
    """Whatever is wrong with an object is found when it is looked at: so everything is, once."""
    from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState, processes  # noqa: PLC0415
    from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore  # noqa: PLC0415
    from searchkeeper.testing.fake_opensearch import FakeEngine, advance  # noqa: PLC0415

    cluster, engine = ObjectStore(dict(sorted(found.items())), len(found), len(found)), FakeEngine()
    for _ in range(2):
        engine = advance(engine, processes(cluster))
    world = FakeCluster(replace(FakeClusterState(), cluster=cluster, engine=engine, now=int(time.time())))
    for key in _clusters_of(world, ""):
        observe(world, world, key, release, world.state.now)
    return world


def of_world(world: FakeCluster, release: Release) -> Source:
    """Whatever is in a world in memory."""
    return Source(
        world,
        lambda _: world,
        release,
        lambda: world.state.now,
        partial(_clusters_of, world),
        elsewhere=partial(_clusters_of, world, ""),
    )


def _clusters_of(world: FakeCluster, namespace: str) -> list[Key]:
    keys = sorted(world.state.cluster.objects)
    return [key for key in keys if key.kind == "SearchCluster" and namespace in ("", key.namespace)]


def from_cluster(kubeconfig: str | None, engine: str | None, release: Release) -> Source:
    """Raises ClickException where no cluster is configured."""
    with what_is_installed():
        from kubernetes.config import ConfigException  # noqa: PLC0415 - half a second, for who has a cluster

        from searchkeeper.cli.engines import select_engine_clients  # noqa: PLC0415
        from searchkeeper.manager.kubernetes_client import connect, load_kubeconfig  # noqa: PLC0415

    try:
        kube = connect(load_kubeconfig(kubeconfig))
    except (ConfigException, OSError) as error:
        raise no_cluster(error) from error
    return Source(
        kube,
        select_engine_clients(kube, engine),
        release,
        lambda: int(time.time()),
        lambda place: clusters_in(kube, place),
        is_outside=engine is None,
    )


@contextmanager
def what_is_installed() -> Iterator[None]:
    """Imports of what only the extra `operator` brings. Raises UsageError where it is not there."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in ("kopf", "kubernetes"):
            raise
        raise click.UsageError(
            f"this needs the Python package {name}, which is not installed: "
            "pip install '.[operator]' in a clone, or pip install 'everpath[operator]' "
            "once a release is published"
        ) from error


def clusters_in(kube: KubernetesApi, namespace: str) -> list[Key]:
    """Raises KubeError."""
    return [Key.of(each) for each in kube.list(_API, "SearchCluster", namespace, {})]
