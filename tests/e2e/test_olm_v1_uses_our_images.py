"""Images that everpath built and pushed, taken by the real catalogd and operator-controller."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

import pytest

from commandline import ROOT
from content_requests import NAME, Asked, Told, requests, serving, tell
from documents import channel, package
from e2e.images.docker_registry import docker_registry
from e2e.servers.api import Api
from e2e.servers.binaries import Binaries
from e2e.servers.control_plane import control_plane
from e2e.servers.network_namespace import private_network
from e2e.servers.olm_v1 import OlmV1, run_olm_v1
from e2e.servers.processes import create_work_dir
from everpath.serving.http_conditions import parse_time
from everpath.serving.http_front import content_of
from everpath.serving.snapshots import take

pytestmark = pytest.mark.e2e


class Stand(NamedTuple):
    """OLM v1, and the registry that it takes images from."""

    olm: OlmV1
    registry: str


@pytest.fixture(scope="module")
def stand(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    """A control plane of their own: catalogd would answer for the catalogs that other tests feign."""
    with (
        private_network(),
        create_work_dir(tmp_path_factory.mktemp("olm-v1")) as work_dir,
        docker_registry(tmp_path_factory.mktemp("registry")) as registry,
        control_plane(binaries, work_dir) as plane,
        run_olm_v1(binaries, work_dir, plane, registry.host) as olm,
    ):
        yield Stand(olm, registry.host)


def test_catalogd_serves_what_we_do_and_as_we_do(
    stand: Stand, record_property: Callable[[str, object], None]
) -> None:
    """Our image of our catalog through the whole of catalogd, beside our own server of the same folder."""
    folder = ROOT / "catalog"
    digest = pushed("catalog", folder, f"{stand.registry}/{NAME}:v1")
    catalog = stand.olm.add_catalog(NAME, f"{stand.registry}/{NAME}:v1")
    assert catalog["status"]["resolvedSource"]["image"]["ref"] == f"{stand.registry}/{NAME}@{digest}"
    counts: Counter[int] = Counter()
    with closing(stand.olm.connection(catalog)) as theirs:
        modified = parse_time(tell(theirs, WHOLE).headers["Last-Modified"])
        assert modified is not None
        with (
            serving({NAME: content_of(take(str(folder)), modified)}) as port,
            closing(HTTPConnection("127.0.0.1", port, timeout=30)) as ours,
        ):
            for asked in requests(modified):
                mine, real = tell(ours, asked), tell(theirs, asked)
                assert mine == without_what_follows_an_error(real), asked
                counts[mine.status] += 1
    record_property("counted", f"the whole catalogd: {counts.total():,} requests, 0 disagreements")
    assert counts.total() > 1_000


def test_operator_controller_installs_our_bundle_and_moves_on(stand: Stand, tmp_path: Path) -> None:
    """Two releases of searchkeeper from images of bundles, found through an image of a catalog."""
    api = stand.olm.api
    versions = ("0.2.2", "0.3.1")
    for version in versions:
        image = f"{stand.registry}/searchkeeper-bundle:v{version}"
        pushed("bundle", ROOT / "bundles" / "searchkeeper" / version, image)
    folder = small_catalog(tmp_path / "catalog", versions, stand.registry)
    pushed("catalog", folder, f"{stand.registry}/small:v1")
    stand.olm.add_catalog("small", f"{stand.registry}/small:v1")
    installed = stand.olm.install("searchkeeper", versions[0], catalog="small", namespace="search")
    assert installed["status"]["install"]["bundle"] == {"name": "searchkeeper.v0.2.2", "version": "0.2.2"}
    before = release_of(api)
    moved = stand.olm.upgrade("searchkeeper", versions[1])
    assert moved["status"]["install"]["bundle"]["name"] == "searchkeeper.v0.3.1"
    assert (before, release_of(api)) == versions
    definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/searchclusters.search.everpath.dev"
    assert api.get(definition)["spec"]["names"]["kind"] == "SearchCluster"


WHOLE = Asked("GET", f"/catalogs/{NAME}/api/v1/all")


def pushed(kind: str, folder: Path, image: str) -> str:
    """The digest of a folder's image, in the registry."""
    return everpath(kind, "push", folder, image, "--insecure", "--print-digest", "--quiet").strip()


def small_catalog(folder: Path, versions: tuple[str, ...], registry: str) -> Path:
    """One channel over some releases, their images in the registry."""
    bundles = [ROOT / "bundles" / "searchkeeper" / version for version in versions]
    images = f"{registry}/searchkeeper-bundle:v{{{{.Version}}}}"
    rendered = everpath("catalog", "render", *bundles, "--image-ref-template", images, "-o", "json")
    names = (f"searchkeeper.v{version}" for version in versions)
    graph = [package("searchkeeper"), channel(*names, package="searchkeeper")]
    folder.mkdir()
    (folder / "catalog.json").write_text("\n".join(map(json.dumps, graph)) + "\n" + rendered)
    return folder


def everpath(*arguments: str | Path) -> str:
    """What a command prints, which must succeed."""
    command = [sys.executable, "-m", "everpath", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def release_of(api: Api) -> str:
    """The version of the operator that the installed Deployment runs."""
    (deployment,) = api.items("/apis/apps/v1/namespaces/search/deployments")
    (image,) = {container["image"] for container in deployment["spec"]["template"]["spec"]["containers"]}
    return str(image).rpartition(":")[2].removeprefix("v")


def without_what_follows_an_error(real: Told) -> Told:
    """catalogd sends the catalog behind the message that there was an error."""
    error, line, _ = real.body.partition(b"\n")
    return real._replace(body=error + line) if real.status == 500 else real
