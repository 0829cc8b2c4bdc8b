"""Where commands read clusters from: a Kubernetes cluster, manifests in files, or a sample in memory."""

from __future__ import annotations

__all__ = [
    "Source",
    "cluster_source",
    "embedded_source",
    "fake_cluster_source",
    "file_source",
    "open_source",
    "optional_imports",
    "release_of",
    "source_options",
]

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from searchkeeper.cli.errors import ReadWriteError, no_cluster_error, request_error
from searchkeeper.cli.files import MALFORMED_OBJECT_ERRORS, load_manifests, malformed_object_message
from searchkeeper.cli.options import EngineAddress
from searchkeeper.describe import (
    ClusterDescription,
    StepState,
    describe,
    describe_from_status,
    describe_without_engine,
)
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
_NO_CLUSTERS_HINT: Final = "`kubectl get searchclusters -A -o yaml` prints the SearchClusters of a cluster"
_NAMESPACE_HINT: Final = "-n selects a namespace; without -n all namespaces are searched"
# A message lists at most so many objects.
_LISTED: Final = 5
# The kinds with an image, and the repository that each has by default.
_DEFAULT_REPOSITORIES: Final = {"StatefulSet": PUBLISHED.engine, "Deployment": PUBLISHED.dashboards}


@dataclass(frozen=True)
class Source:
    """Clients, a clock, and the release of the operator that plans.

    `list_clusters` lists the SearchClusters of a namespace; "" is all namespaces. `is_remote`: the engine is
    looked up by its Service, which the operator reaches and this machine may not. `files` and `contents`
    name the files and their objects in error messages. `list_all` lists the clusters of all namespaces, or
    none: a user may not be allowed to.
    """

    kube: KubernetesApi
    engine_client: Callable[[Key], EngineClient]
    release: Release
    clock: Callable[[], int]
    list_clusters: Callable[[str], Sequence[Key]]
    is_remote: bool = False
    files: str = ""
    contents: str = ""
    list_all: Callable[[], Sequence[Key]] = tuple

    def clusters(self, namespace: str, name: str | None) -> list[Key]:
        """The SearchClusters of a namespace, or the one with this name. Raises ClickException."""
        try:
            found = self.list_clusters(namespace)
        except ApiError as error:
            raise request_error(error) from error
        selected = [key for key in found if name in (None, key.name)]
        if selected:
            return selected
        place = (f" in namespace {namespace}" if namespace else "") + self.files
        subject = "no SearchCluster found" if name is None else f"SearchCluster {name} not found"
        if found:
            raise ReadWriteError(f"{subject}{place}; found {', '.join(key.name for key in found)}")
        if others := self.list_all():
            listed = _first_few(f"{key} in namespace {key.namespace}" for key in others)
            raise ReadWriteError(f"{subject}{place}; found {listed}", _NAMESPACE_HINT)
        raise ReadWriteError(f"{subject}{place}{self.contents}", _NO_CLUSTERS_HINT)

    def describe(self, key: Key) -> ClusterDescription:
        """Plan the next reconcile. Without the engine it is planned as if the engine were unreachable."""
        snapshot = self._observe(key)
        if not self._is_engine_out_of_reach(snapshot):
            return describe(snapshot)
        _note_unreachable_engine(snapshot, "the plan is made without it")
        return describe_without_engine(snapshot)

    def describe_status(self, key: Key) -> ClusterDescription:
        """The same, but without the engine the conditions are those that the operator stored."""
        snapshot = self._observe(key)
        if not self._is_engine_out_of_reach(snapshot):
            return describe(snapshot)
        _note_unreachable_engine(snapshot, "conditions are those that the operator stored")
        return describe_from_status(snapshot)

    def _is_engine_out_of_reach(self, snapshot: ClusterSnapshot) -> bool:
        has_ready_pod = any(pod.is_ready for pod in snapshot.pods)
        return self.is_remote and isinstance(snapshot.engine, Unreachable) and has_ready_pod

    def _observe(self, key: Key) -> ClusterSnapshot:
        """Raises ClickException."""
        try:
            snapshot = observe(self.kube, self.engine_client(key), key, self.release, self.clock())
            if snapshot is None:
                raise ReadWriteError(f"{key} was deleted meanwhile")
            snapshot, _ = plan_until_stable(self.kube, replace(snapshot, images=_deployed_images(snapshot)))
        except ApiError as error:
            raise request_error(error) from error
        return snapshot


def _deployed_images(snapshot: ClusterSnapshot) -> Images:
    """The repositories of the deployed images: only the operator knows its own options."""
    repositories = {
        key.kind: repository_of(manifest["spec"]["template"]["spec"]["containers"][0]["image"])
        for key, manifest in snapshot.objects.items()
        if key.kind in _DEFAULT_REPOSITORIES
    }
    return Images(*(repositories.get(kind, default) for kind, default in _DEFAULT_REPOSITORIES.items()))


def _note_unreachable_engine(snapshot: ClusterSnapshot, consequence: str) -> None:
    name, namespace = snapshot.cluster.key.name, snapshot.cluster.key.namespace
    scheme = "https" if snapshot.cluster.spec.security.tls_secret else "http"
    click.echo(
        f"note: the engine of {namespace}/{name} is not reachable from here; {consequence}\n"
        f"  to reach it: kubectl port-forward -n {namespace} service/{name} 9200,\n"
        f"  then add --engine {scheme}://localhost:9200",
        err=True,
    )


def source_options(command: F) -> F:
    """The argument and options that select clusters."""
    options = (
        click.argument("name", required=False),
        click.option(
            "-n",
            "--namespace",
            metavar="NAMESPACE",
            default="",
            help="Show this namespace only; with -f also the namespace of objects that have none.  "
            "[default: all namespaces]",
        ),
        click.option("-A", "--all-namespaces", is_flag=True, help="Show all namespaces, as without -n."),
        click.option(
            "--kubeconfig",
            type=click.Path(dir_okay=False),
            help="Path of the kubeconfig.  [default: the pod's ServiceAccount, KUBECONFIG or ~/.kube/config]",
        ),
        click.option(
            "-f",
            "--filename",
            "files",
            multiple=True,
            type=click.Path(exists=True, allow_dash=True),
            help="Read manifests from a file, a folder or - instead of a cluster; repeatable.",
        ),
        click.option("--embedded", is_flag=True, help="Show a sample cluster in memory during an upgrade."),
        click.option(
            "--engine",
            type=EngineAddress(),
            metavar="URL",
            help="URL of the engine, as reached from here.  [default: the cluster's Service]",
        ),
        click.option(
            "--release",
            "version",
            metavar="VERSION",
            help="Plan as this release of the operator.  [default: the newest]",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def open_source(  # noqa: PLR0913 - one argument an option
    *,
    namespace: str,
    all_namespaces: bool,
    kubeconfig: str | None,
    files: Sequence[str],
    embedded: bool,
    engine: str | None,
    version: str | None,
) -> Source:
    """The source that the options select. Raises ClickException."""
    release = release_of(version)
    if namespace and all_namespaces:
        raise click.UsageError("--namespace and --all-namespaces are mutually exclusive")
    if sum(map(bool, (embedded, files, kubeconfig))) > 1:
        raise click.UsageError("--embedded, --filename and --kubeconfig are mutually exclusive")
    if engine is not None and (embedded or files):
        other = "--embedded" if embedded else "--filename"
        raise click.UsageError(f"--engine needs a cluster and cannot be used with {other}")
    if embedded:
        return embedded_source(release)
    if files:
        return file_source(files, release, namespace or "default")
    return cluster_source(kubeconfig, engine, release)


def release_of(version: str | None) -> Release:
    """The release with this version, or the newest. Raises UsageError."""
    try:
        return newest() if version is None else release(version)
    except UnknownRelease as error:
        raise click.UsageError(str(error)) from error


def embedded_source(release: Release) -> Source:
    """The sample cluster, upgraded up to its second pod: the next pod is the point of no return."""
    with optional_imports():
        from searchkeeper.testing.demo import sample_cluster, start_version, upgrade  # noqa: PLC0415

    target = release.newest_engine
    world = sample_cluster(release, start_version(target, release))
    for each in upgrade(world, release, target):
        done = sum(step.state is StepState.DONE for step in each.steps)
        if done == 1 and each.next_pod is not None and each.next_pod.is_free:
            break
    return fake_cluster_source(world, release)


def file_source(files: Sequence[str], release: Release, namespace: str) -> Source:
    """A fake cluster that has the objects of the files; its engine follows from their pods.

    `namespace` is that of objects that have none. Raises ClickException.
    """
    manifests = {Key.of(each): each for file in files for each in load_manifests(file, namespace)}
    names = ", ".join(files)
    try:
        source = fake_cluster_source(_fake_cluster(manifests, release), release)
    except MALFORMED_OBJECT_ERRORS as error:
        culprit = next((key for key in manifests if _is_readable_without(manifests, key, release)), None)
        raise ReadWriteError(malformed_object_message(names, culprit, error)) from error
    for secret in _missing_secrets(manifests):
        click.echo(f"note: {secret} is not in the files and counts as missing", err=True)
    contents = f"; found {_first_few(map(str, manifests))}" if manifests else ": no objects"
    return replace(source, files=f" in {names}", contents=contents)


def _first_few(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    return ", ".join(listed[:_LISTED]) + more


def _missing_secrets(manifests: Mapping[Key, Manifest]) -> Iterator[Key]:
    """Secrets that a SearchCluster refers to and that are not among the manifests."""
    for key, manifest in manifests.items():
        if key.kind == "SearchCluster":
            security = manifest["spec"].get("security") or {}
            for name in (*security.values(), manifest["spec"].get("keystoreSecret")):
                secret = Key("v1", "Secret", key.namespace, name or "")
                if name and secret not in manifests:
                    yield secret


def _is_readable_without(manifests: Mapping[Key, Manifest], key: Key, release: Release) -> bool:
    try:
        _fake_cluster({each: manifest for each, manifest in manifests.items() if each != key}, release)
    except MALFORMED_OBJECT_ERRORS:
        return False
    return True


def _fake_cluster(manifests: Mapping[Key, Manifest], release: Release) -> FakeCluster:
    """A fake cluster with these objects. Observes every SearchCluster once, to find malformed objects now."""
    with optional_imports():
        from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState, processes  # noqa: PLC0415
        from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore  # noqa: PLC0415
        from searchkeeper.testing.fake_opensearch import FakeEngine, advance  # noqa: PLC0415

    store, engine = ObjectStore(dict(sorted(manifests.items())), len(manifests), len(manifests)), FakeEngine()
    for _ in range(2):
        engine = advance(engine, processes(store))
    world = FakeCluster(replace(FakeClusterState(), cluster=store, engine=engine, now=int(time.time())))
    for key in _fake_search_clusters(world, ""):
        observe(world, world, key, release, world.state.now)
    return world


def fake_cluster_source(world: FakeCluster, release: Release) -> Source:
    """The SearchClusters of a fake cluster."""
    return Source(
        world,
        lambda _: world,
        release,
        lambda: world.state.now,
        partial(_fake_search_clusters, world),
        list_all=partial(_fake_search_clusters, world, ""),
    )


def _fake_search_clusters(world: FakeCluster, namespace: str) -> list[Key]:
    keys = sorted(world.state.cluster.objects)
    return [key for key in keys if key.kind == "SearchCluster" and namespace in ("", key.namespace)]


def cluster_source(kubeconfig: str | None, engine: str | None, release: Release) -> Source:
    """The cluster of the kubeconfig. Raises ClickException if there is none."""
    with optional_imports():
        from kubernetes.config import ConfigException  # noqa: PLC0415 - the client takes 0.5 s to import

        from searchkeeper.cli.engines import select_engine_clients  # noqa: PLC0415
        from searchkeeper.manager.kubernetes_client import connect, load_kubeconfig  # noqa: PLC0415

    try:
        kube = connect(load_kubeconfig(kubeconfig))
    except (ConfigException, OSError) as error:
        raise no_cluster_error(error) from error
    return Source(
        kube,
        select_engine_clients(kube, engine),
        release,
        lambda: int(time.time()),
        lambda namespace: [Key.of(each) for each in kube.list(_API, "SearchCluster", namespace, {})],
        is_remote=engine is None,
    )


@contextmanager
def optional_imports() -> Iterator[None]:
    """Surround imports that some installations lack. Raises UsageError if this one does."""
    try:
        yield
    except ModuleNotFoundError as error:
        module = error.name or ""
        if module.startswith("searchkeeper.testing"):
            raise click.UsageError(
                "the image of the operator does not contain the cluster in memory that --embedded, "
                "--filename and --engine embedded need: run this command from an installation of everpath"
            ) from error
        package = module.partition(".")[0]
        if package not in ("prometheus_client", "kubernetes"):
            raise
        raise click.UsageError(
            f"the Python package {package} is not installed: "
            "run pip install '.[operator]' in a clone, or pip install 'everpath[operator]' "
            "once a release is published"
        ) from error
