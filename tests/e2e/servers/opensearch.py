"""Clusters of real OpenSearch nodes, one process per node, with a version per node."""

from __future__ import annotations

__all__ = [
    "JAVA",
    "DownloadOpenSearch",
    "OpenSearchCluster",
    "OpenSearchNode",
    "default_settings",
    "download_opensearch",
    "opensearch_cluster",
]

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.e2e.servers.binaries import NotAvailableError
from tests.e2e.servers.loopback import HOST, free_ports
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.probes import http_get
from tests.e2e.servers.processes import Process, WorkDir, start_process

JAVA: Final = "java-21.0.8.2"
_JVM_OPTIONS: Final = "-Xms256m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-AlwaysPreTouch"
# Downloads these versions, and returns the folder that has them.
DownloadOpenSearch: TypeAlias = Callable[..., Path]

_SCRIPT: Final = Path(__file__).with_name("opensearch.sh")


def download_opensearch(*versions: str) -> Path:
    """Download the versions that are missing, and return their folder. Raises NotAvailableError."""
    done = subprocess.run([_SCRIPT, *versions], capture_output=True, text=True, check=False, timeout=1800)
    if done.returncode != 0:
        raise NotAvailableError(f"OpenSearch cannot be downloaded: {done.stderr.strip()[-300:]}")
    return Path(done.stdout.strip())


@dataclass(frozen=True, slots=True)
class OpenSearchNode:
    """A node. It keeps its name, roles, ports and data when its version changes."""

    name: str
    roles: tuple[str, ...]
    http: int
    transport: int


# Returns opensearch.yml of a node of these members, without the paths of data and logs.
Settings: TypeAlias = Callable[[OpenSearchNode, Sequence[OpenSearchNode]], Mapping[str, Any]]


@dataclass
class OpenSearchCluster:
    """One cluster. A restarted node has its old data, like a pod with a volume."""

    tools: Path
    work_dir: WorkDir
    members: tuple[OpenSearchNode, ...]
    settings: Settings
    _running: dict[str, Process] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{next(each.http for each in self.members if each.name in self._running)}"

    def home(self, name: str) -> Path:
        """Create the home folder of a node. Its configuration is in the folder `config`."""
        return self.work_dir.home(f"{self.work_dir.folder.name}-{name}")

    def start(self, name: str, version: str) -> None:
        node = next(each for each in self.members if each.name == name)
        home = self.home(name)
        settings = self.settings(node, self.members)
        configuration = _write_config(home, settings, self.tools / f"opensearch-{version}")
        log = self.work_dir.logs / f"opensearch-{name}.log"
        program = self.tools / f"opensearch-{version}" / "bin" / "opensearch"
        command: list[str | Path] = [*_unprivileged(), program]
        self._running[name] = start_process(
            name, log, command, home, _environment(self.tools, configuration, home)
        )

    def stop(self, name: str) -> None:
        self._running.pop(name).terminate(20)

    def wipe(self, name: str) -> None:
        """Delete the data of a stopped node."""
        shutil.rmtree(self.home(name) / "data")

    def has_exited(self, name: str) -> bool:
        """Whether the process has exited without `stop`."""
        return self._running[name].exit_code is not None

    def stop_all(self) -> None:
        for name in list(self._running):
            self.stop(name)

    def wait_for_nodes(self, count: int, timeout: float = 120) -> None:
        """Wait until the cluster has this many nodes."""

        def has_nodes() -> bool:
            for process in self._running.values():
                process.check_running()
            health = http_get(f"{self.url}/_cluster/health?timeout=1s")
            return health is not None and json.loads(health)["number_of_nodes"] == count

        wait_until(f"{count} nodes have joined", has_nodes, timeout)


@contextmanager
def opensearch_cluster(
    work_dir: WorkDir,
    tools: Path,
    members: Sequence[tuple[str, tuple[str, ...]]],
    settings: Settings | None = None,
) -> Iterator[OpenSearchCluster]:
    """Create a cluster of nodes with these names and roles. None of them is started."""
    ports = free_ports(2 * len(members))
    nodes = tuple(
        OpenSearchNode(name, roles, ports[2 * number], ports[2 * number + 1])
        for number, (name, roles) in enumerate(members)
    )
    with ExitStack() as stack:
        cluster = OpenSearchCluster(tools, work_dir, nodes, settings or default_settings)
        stack.callback(cluster.stop_all)
        yield cluster


def default_settings(node: OpenSearchNode, members: Sequence[OpenSearchNode]) -> Mapping[str, Any]:
    """Return the settings for a test that has none."""
    managers = [each for each in members if "cluster_manager" in each.roles]
    return {
        "cluster.name": "e2e",
        "node.name": node.name,
        "node.roles": list(node.roles),
        "network.host": HOST,
        "http.port": node.http,
        "transport.port": node.transport,
        "discovery.seed_hosts": [f"{HOST}:{each.transport}" for each in managers],
        "cluster.initial_cluster_manager_nodes": [each.name for each in managers],
        # The disk of the machine may be nearly full.
        "cluster.routing.allocation.disk.threshold_enabled": False,
    }


def _write_config(home: Path, settings: Mapping[str, Any], engine: Path) -> Path:
    folder = home / "config"
    folder.mkdir(exist_ok=True)
    paths = {"path.data": str(home / "data"), "path.logs": str(home / "logs")}
    (folder / "opensearch.yml").write_text(
        "".join(f"{name}: {json.dumps(value)}\n" for name, value in {**settings, **paths}.items())
    )
    agent = engine / "agent" / "opensearch-agent.jar"
    options = [f"-Djava.io.tmpdir={home / 'tmp'}", "-Djava.security.manager=allow"]
    options += [f"-javaagent:{agent}"] if agent.exists() else []
    (folder / "jvm.options").write_text("\n".join([*_JVM_OPTIONS.split(), *options, ""]))
    shutil.copy(engine / "config" / "log4j2.properties", folder)
    return folder


def _environment(tools: Path, configuration: Path, home: Path) -> dict[str, str]:
    return {
        "OPENSEARCH_PATH_CONF": str(configuration),
        "OPENSEARCH_JAVA_HOME": str(tools / JAVA),
        "OPENSEARCH_TMPDIR": str(home / "tmp"),
    }


def _unprivileged() -> tuple[str, ...]:
    """Return the prefix of the command: OpenSearch does not run as root, so root maps itself to user 1000."""
    return () if os.geteuid() else ("unshare", "--user", "--map-user=1000", "--map-group=1000")
