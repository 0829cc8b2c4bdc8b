"""The real catalogd and operator-controller use images that everpath has built and pushed."""

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

from everpath.server.catalog.snapshot import take_snapshot
from everpath.server.content_api.frontend import build_content
from everpath.server.content_api.preconditions import parse_http_time
from tests.e2e.images.docker_registry import docker_registry
from tests.e2e.servers.api import Api
from tests.e2e.servers.binaries import Binaries
from tests.e2e.servers.control_plane import control_plane
from tests.e2e.servers.network_namespace import private_network
from tests.e2e.servers.olm_v1 import OlmV1, run_olm_v1
from tests.e2e.servers.processes import create_work_dir
from tests.support.commandline import ROOT
from tests.support.everpath.content_api_requests import (
    NAME,
    ContentRequest,
    ContentResponse,
    requests,
    run_content_server,
    send_request,
)
from tests.support.everpath.documents import channel, package

pytestmark = pytest.mark.e2e


class Servers(NamedTuple):
    """OLM v1, and the registry of its images."""

    olm: OlmV1
    registry: str


@pytest.fixture(scope="module")
def servers(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """A separate control plane: catalogd would change the ClusterCatalogs of other tests."""
    with (
        private_network(),
        create_work_dir(tmp_path_factory.mktemp("olm-v1")) as work_dir,
        docker_registry(tmp_path_factory.mktemp("registry")) as registry,
        control_plane(binaries, work_dir) as plane,
        run_olm_v1(binaries, work_dir, plane, registry.host) as olm,
    ):
        yield Servers(olm, registry.host)


def test_everpath_serves_like_catalogd(
    servers: Servers, record_property: Callable[[str, object], None]
) -> None:
    """Compare the responses of catalogd and everpath for the same catalog."""
    folder = ROOT / "catalog"
    digest = push("catalog", folder, f"{servers.registry}/{NAME}:v1")
    catalog = servers.olm.add_catalog(NAME, f"{servers.registry}/{NAME}:v1")
    assert catalog["status"]["resolvedSource"]["image"]["ref"] == f"{servers.registry}/{NAME}@{digest}"
    counts: Counter[int] = Counter()
    with closing(servers.olm.connection(catalog)) as catalogd:
        modified = parse_http_time(send_request(catalogd, WHOLE).headers["Last-Modified"])
        assert modified is not None
        with (
            run_content_server({NAME: build_content(take_snapshot(str(folder)), modified)}) as port,
            closing(HTTPConnection("127.0.0.1", port, timeout=30)) as everpath_server,
        ):
            for request in requests(modified):
                response, expected = send_request(everpath_server, request), send_request(catalogd, request)
                assert response == without_text_after_error(expected), request
                counts[response.status] += 1
    record_property("counted", f"catalogd: {counts.total():,} requests, 0 disagreements")
    assert counts.total() > 1_000


def test_operator_controller_installs_and_upgrades_our_bundle(servers: Servers, tmp_path: Path) -> None:
    """Two releases of searchkeeper, from bundle images and a catalog image."""
    api = servers.olm.api
    versions = ("0.2.2", "0.3.1")
    for version in versions:
        image = f"{servers.registry}/searchkeeper-bundle:v{version}"
        push("bundle", ROOT / "bundles" / "searchkeeper" / version, image)
    folder = create_catalog(tmp_path / "catalog", versions, servers.registry)
    push("catalog", folder, f"{servers.registry}/small:v1")
    servers.olm.add_catalog("small", f"{servers.registry}/small:v1")
    installed = servers.olm.install("searchkeeper", versions[0], catalog="small", namespace="search")
    assert installed["status"]["install"]["bundle"] == {"name": "searchkeeper.v0.2.2", "version": "0.2.2"}
    before = deployed_release(api)
    upgraded = servers.olm.upgrade("searchkeeper", versions[1])
    assert upgraded["status"]["install"]["bundle"]["name"] == "searchkeeper.v0.3.1"
    assert (before, deployed_release(api)) == versions
    crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/searchclusters.search.everpath.dev"
    assert api.get(crd)["spec"]["names"]["kind"] == "SearchCluster"


WHOLE = ContentRequest("GET", f"/catalogs/{NAME}/api/v1/all")


def push(kind: str, folder: Path, image: str) -> str:
    """Push the image of a folder, and return its digest."""
    return everpath(kind, "push", folder, image, "--insecure", "--print-digest", "--quiet").strip()


def create_catalog(folder: Path, versions: tuple[str, ...], registry: str) -> Path:
    """Create a catalog with one channel of these releases."""
    bundles = [ROOT / "bundles" / "searchkeeper" / version for version in versions]
    images = f"{registry}/searchkeeper-bundle:v{{{{.Version}}}}"
    rendered = everpath("catalog", "render", *bundles, "--image-ref-template", images, "-o", "json")
    names = (f"searchkeeper.v{version}" for version in versions)
    graph = [package("searchkeeper"), channel(*names, package="searchkeeper")]
    folder.mkdir()
    (folder / "catalog.json").write_text("\n".join(map(json.dumps, graph)) + "\n" + rendered)
    return folder


def everpath(*arguments: str | Path) -> str:
    """Run a command that must succeed, and return its output."""
    command = [sys.executable, "-m", "everpath", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def deployed_release(api: Api) -> str:
    """Return the version of the operator in the Deployment."""
    (deployment,) = api.items("/apis/apps/v1/namespaces/search/deployments")
    (image,) = {container["image"] for container in deployment["spec"]["template"]["spec"]["containers"]}
    return str(image).rpartition(":")[2].removeprefix("v")


def without_text_after_error(response: ContentResponse) -> ContentResponse:
    """Remove the catalog that catalogd sends after an error message."""
    error, line, _ = response.body.partition(b"\n")
    return response._replace(body=error + line) if response.status == 500 else response
