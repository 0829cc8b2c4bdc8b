"""A release runs through the modules that docs/architecture.md lists, and copies each bundle once."""

from __future__ import annotations

import inspect
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType

import pytest

from commandline import ROOT, Everpath
from projects import write_operator, write_releases

ONE = """
    - {version: 0.1.0, channels: [stable]}
"""
SECTION = re.compile(r"^## How a release is made\n(.*?)^## ", re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(here: Path, everpath: Everpath) -> Path:
    write_operator(here)
    write_releases(here, ONE)
    assert everpath("generate").code == 0
    return here


def test_the_documented_modules_are_those_that_run(everpath: Everpath, project: Path) -> None:
    called = _modules_called_until_last_write(everpath, project)
    section = SECTION.search((ROOT / "docs/architecture.md").read_text())
    assert section is not None
    documented = set(re.findall(r"`([a-z_0-9.]+)`", section[1]))
    walk = {module for module in called if _is_counted(module)}
    assert walk == set(filter(_is_counted, documented))
    assert len(walk) <= 12
    assert {name for name in documented if not _is_counted(name)} <= {m.partition(".")[0] for m in called}


def _is_counted(module: str) -> bool:
    """Return whether a module counts; layers below the use cases are libraries."""
    return module.startswith(("cli.", "app.")) or module == "atomic_files"


def _modules_called_until_last_write(everpath: Everpath, project: Path) -> Counter[str]:
    """Trace `everpath release` and count the calls into each module, from the command to the last rename."""
    calls: Counter[str] = Counter()
    until_last_write: Counter[str] = Counter()

    def record(frame: FrameType, event: str, _: object) -> None:
        nonlocal until_last_write
        code, name = frame.f_code, str(frame.f_globals.get("__name__"))
        # Bodies of modules and classes run once, when they are imported, and are not optimized.
        if event != "call" or not name.startswith("everpath.") or not code.co_flags & inspect.CO_OPTIMIZED:
            return
        if code.co_qualname == "release" or calls:
            calls[name.removeprefix("everpath.")] += 1
        if name == "everpath.atomic_files" and code.co_name == "_rename":
            until_last_write = Counter(calls)

    sys.setprofile(record)
    try:
        assert everpath("release", "0.2.0").code == 0
    finally:
        sys.setprofile(None)
    return until_last_write


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
