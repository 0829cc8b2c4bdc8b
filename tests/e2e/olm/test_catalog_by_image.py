"""OLM installs the operator from a catalog image and bundle images that everpath has pushed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import everpath
from everpath.loaders.catalog_loader import load
from tests.e2e.images.docker_registry import DockerRegistry, docker_registry
from tests.e2e.olm.recorder import record_olm
from tests.e2e.olm.subscription_runner import SubscriptionRunner
from tests.e2e.olm.subscriptions import CATALOG, PACKAGE, PredictedPaths, SubscriptionCase
from tests.e2e.servers.olm_v0 import OlmV0
from tests.e2e.servers.processes import WorkDir
from tests.e2e.servers.pulled_images import PulledImages
from tests.support.commandline import ROOT

pytestmark = pytest.mark.e2e

PUBLISHED_REGISTRY: Final = "registry.example.com"
# The channel with the fewest releases: each release is an image to build, push and pull.
CHANNEL: Final = min(
    load(str(CATALOG)).catalog.by_name[PACKAGE].channels, key=lambda channel: len(channel.entries)
)


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[DockerRegistry]:
    folder = tmp_path / "registry"
    folder.mkdir()
    with docker_registry(folder) as started:
        yield started


def push(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "everpath", *map(str, arguments), "--insecure", "--quiet"]
    environment = {"PYTHONPATH": str(Path(everpath.__file__).parents[1]), "HOME": "/nonexistent"}
    subprocess.run(command, check=True, env=environment, timeout=300)


def push_catalog(registry: DockerRegistry, folder: Path) -> str:
    """Push the bundles of the channel and a catalog that refers to them; return the image of the catalog."""
    folder.mkdir()
    for file in CATALOG.glob("**/catalog.yaml"):
        text = file.read_text(encoding="utf-8").replace(
            f"{PUBLISHED_REGISTRY}/everpath/", f"{registry.host}/everpath/"
        )
        (folder / file.name).write_text(text, encoding="utf-8")
    for entry in CHANNEL.entries:
        version = entry.name.removeprefix(f"{PACKAGE}.v")
        image = f"{registry.host}/everpath/{PACKAGE}-bundle:v{version}"
        push("bundle", "push", ROOT / "bundles" / PACKAGE / version, image)
    image = f"{registry.host}/everpath/catalog:v1"
    push("catalog", "push", folder, image)
    return image


def test_olm_installs_from_a_pushed_catalog_image(
    olm_v0: OlmV0, work_dir: WorkDir, registry: DockerRegistry, tmp_path: Path
) -> None:
    image = push_catalog(registry, tmp_path / "catalog")
    olm_v0.agent.images.register(f"{registry.host}/*", PulledImages(tmp_path / "pulled"))
    spec = {"image": image, "grpcPodConfig": {"extractContent": {"catalogDir": "/configs"}}}
    case = SubscriptionCase("by-image", CHANNEL.name, CHANNEL.entries[0].name)
    with (
        olm_v0.catalog_source("by-image", spec),
        record_olm(olm_v0, work_dir.logs / "olm-events-by-image.log") as recorder,
    ):
        runner = SubscriptionRunner(olm_v0, recorder, PredictedPaths(), [case])
        assert runner.wait_for(case).path == [entry.name for entry in CHANNEL.entries]
