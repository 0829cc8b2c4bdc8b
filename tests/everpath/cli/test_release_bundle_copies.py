"""Release and generate copy each bundle to a temporary folder once."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest

from tests.support.commandline import Everpath
from tests.support.everpath.projects import write_operator, write_releases

ONE = """
    - {version: 0.1.0, channels: [stable]}
"""


@pytest.fixture
def project(here: Path, everpath: Everpath) -> Path:
    write_operator(here)
    write_releases(here, ONE)
    assert everpath("generate").code == 0
    return here


@pytest.mark.parametrize("arguments", [("release", "0.2.0"), ("generate",)])
def test_a_bundle_is_copied_to_a_temporary_folder_at_most_once(
    everpath: Everpath, project: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    (project / "operator/manifests.yaml").write_text(
        (project / "operator/manifests.yaml").read_text().replace("Keeps acmes.", "Keeps all acmes.")
    )
    copies: Counter[tuple[str, ...]] = Counter()
    write_bytes = Path.write_bytes

    def count(path: Path, content: bytes) -> int:
        if path.is_relative_to(tempfile.gettempdir()) and "everpath-" in str(path):
            copies[path.parts[-3:]] += 1
        return write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", count)
    folders: list[str] = []
    create_folder = tempfile.mkdtemp

    def record_folder(*arguments: str, **options: str) -> str:
        folders.append(create_folder(*arguments, **options))
        return folders[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", record_folder)
    assert everpath(*arguments).code == 0
    assert len(folders) == 1
    assert not Path(folders[0]).exists()
    versions = {"release": {"0.1.0", "0.2.0"}, "generate": {"0.1.0"}}[arguments[0]]
    csvs = {parts[0]: times for parts, times in copies.items() if "clusterserviceversion" in parts[-1]}
    assert csvs == dict.fromkeys(versions, 1)
    assert max(copies.values()) == 1
