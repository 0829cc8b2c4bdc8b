"""Real OpenSearch nodes, each a process of its own, of any version, on loopback addresses of their own."""

from __future__ import annotations

__all__ = [
    "JAVA",
    "Fetched",
    "Nodes",
    "OpenSearchNode",
    "default_settings",
    "opensearch_folder",
    "opensearch_nodes",
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

from e2e.servers.binaries import AbsentError
from e2e.servers.loopback import HOST, free_ports
from e2e.servers.polling import until
from e2e.servers.probes import answered
from e2e.servers.processes import Process, Workshop, started

JAVA: Final = "java-21.0.8.2"
_MEMORY: Final = "-Xms256m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-AlwaysPreTouch"
# Where the versions that are named lie.
Fetched: TypeAlias = Callable[..., Path]

_SCRIPT: Final = Path(__file__).with_name("opensearch.sh")


def opensearch_folder(*versions: str) -> Path:
    """Where these versions are, fetched if they were not. Raises AbsentError where they cannot be."""
    done = subprocess.run([_SCRIPT, *versions], capture_output=True, text=True, check=False, timeout=1800)
    if done.returncode != 0:
        raise AbsentError(f"OpenSearch cannot be fetched: {done.stderr.strip()[-300:]}")
    return Path(done.stdout.strip())


@dataclass(frozen=True, slots=True)
class OpenSearchNode:
    """Who a node is, whatever version it runs at the moment: its name, roles, ports and data stay."""

    name: str
    roles: tuple[str, ...]
    http: int
    transport: int


# What a node of a cluster is told, but for where its data and logs are.
Settings: TypeAlias = Callable[[OpenSearchNode, Sequence[OpenSearchNode]], Mapping[str, Any]]


@dataclass
class Nodes:
    """One cluster. A node that is started again finds its data, as a pod with a volume does."""

    tools: Path
    place: Workshop
    members: tuple[OpenSearchNode, ...]
    settings: Settings
    _running: dict[str, Process] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{next(each.http for each in self.members if each.name in self._running)}"

    def home(self, name: str) -> Path:
        """What is below `config` in it, the node reads."""
        return self.place.home(f"{self.place.folder.name}-{name}")

    def start(self, name: str, version: str) -> None:
        node = next(each for each in self.members if each.name == name)
        home = self.home(name)
        settings = self.settings(node, self.members)
        configuration = _configured(home, settings, self.tools / f"opensearch-{version}")
        log = self.place.logs / f"opensearch-{name}.log"
        program = self.tools / f"opensearch-{version}" / "bin" / "opensearch"
        command: list[str | Path] = [*_unprivileged(), program]
        self._running[name] = started(name, log, command, home, _environment(self.tools, configuration, home))

    def stop(self, name: str) -> None:
        self._running.pop(name).end(20)

    def wipe(self, name: str) -> None:
        """As a new volume would be: of a node that is not running."""
        shutil.rmtree(self.home(name) / "data")

    def has_ended(self, name: str) -> bool:
        """By itself."""
        return self._running[name].exit_code is not None

    def stop_all(self) -> None:
        for name in list(self._running):
            self.stop(name)

    def joined(self, count: int, within: float = 120) -> None:
        """Waits until so many nodes have found each other."""

        def look() -> bool:
            for process in self._running.values():
                process.must_run()
            health = answered(f"{self.url}/_cluster/health?timeout=1s")
            return health is not None and json.loads(health)["number_of_nodes"] == count

        until(f"{count} nodes have joined", look, within)


@contextmanager
def opensearch_nodes(
    place: Workshop,
    tools: Path,
    members: Sequence[tuple[str, tuple[str, ...]]],
    settings: Settings | None = None,
) -> Iterator[Nodes]:
    """A cluster of these nodes, by name and roles, none of which is started yet."""
    ports = free_ports(2 * len(members))
    made = tuple(
        OpenSearchNode(name, roles, ports[2 * number], ports[2 * number + 1])
        for number, (name, roles) in enumerate(members)
    )
    with ExitStack() as ended:
        nodes = Nodes(tools, place, made, settings or default_settings)
        ended.callback(nodes.stop_all)
        yield nodes


def default_settings(node: OpenSearchNode, members: Sequence[OpenSearchNode]) -> Mapping[str, Any]:
    """What a node is told unless a test says otherwise."""
    managers = [each for each in members if "cluster_manager" in each.roles]
    return {
        "cluster.name": "stand",
        "node.name": node.name,
        "node.roles": list(node.roles),
        "network.host": HOST,
        "http.port": node.http,
        "transport.port": node.transport,
        "discovery.seed_hosts": [f"{HOST}:{each.transport}" for each in managers],
        "cluster.initial_cluster_manager_nodes": [each.name for each in managers],
        # Nothing here is about disks, and the machine's may be nearly full.
        "cluster.routing.allocation.disk.threshold_enabled": False,
    }


def _configured(home: Path, settings: Mapping[str, Any], engine: Path) -> Path:
    folder = home / "config"
    folder.mkdir(exist_ok=True)
    places = {"path.data": str(home / "data"), "path.logs": str(home / "logs")}
    (folder / "opensearch.yml").write_text(
        "".join(f"{name}: {json.dumps(text)}\n" for name, text in {**settings, **places}.items())
    )
    agent = engine / "agent" / "opensearch-agent.jar"
    options = [f"-Djava.io.tmpdir={home / 'tmp'}", "-Djava.security.manager=allow"]
    options += [f"-javaagent:{agent}"] if agent.exists() else []
    (folder / "jvm.options").write_text("\n".join([*_MEMORY.split(), *options, ""]))
    shutil.copy(engine / "config" / "log4j2.properties", folder)
    return folder


def _environment(tools: Path, configuration: Path, home: Path) -> dict[str, str]:
    return {
        "OPENSEARCH_PATH_CONF": str(configuration),
        "OPENSEARCH_JAVA_HOME": str(tools / JAVA),
        "OPENSEARCH_TMPDIR": str(home / "tmp"),
    }


def _unprivileged() -> tuple[str, ...]:
    """OpenSearch refuses root. In a user namespace, what is root's belongs to somebody else, who may."""
    return () if os.geteuid() else ("unshare", "--user", "--map-user=1000", "--map-group=1000")
