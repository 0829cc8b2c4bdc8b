"""The fingerprint of the code: findings of other versions of the code are not used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from everpath.loaders import code_fingerprint as module
from everpath.loaders.code_fingerprint import code_fingerprint
from tests.support.everpath.bundles import write
from tests.support.everpath.cache_folders import much_later


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return write(tmp_path / "everpath", {"a.py": "a = 1", "rules/b.py": "b = 1", "rules/note.txt": ""})


def test_fingerprint_stays_while_nothing_changes(sources: Path) -> None:
    known = code_fingerprint(much_later(), sources)
    write(sources, {"rules/note.txt": "no source", "rules/__pycache__/b.cpython-311.py": ""})
    assert known is not None
    assert code_fingerprint(much_later(), sources) == known


# With another size, because the time may stay the same within one tick of the file system's clock.
CHANGES: dict[str, Callable[[Path], object]] = {
    "a source changes": lambda root: write(root, {"a.py": "a = 10"}),
    "a source below changes": lambda root: write(root, {"rules/b.py": "b = 10"}),
    "a source comes": lambda root: write(root, {"rules/c.py": ""}),
    "a source goes": lambda root: (root / "rules" / "b.py").unlink(),
    "a source gets another name": lambda root: (root / "a.py").rename(root / "z.py"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_fingerprint_changes_with_the_code(sources: Path, change: Callable[[Path], object]) -> None:
    known = code_fingerprint(much_later(), sources)
    change(sources)
    assert code_fingerprint(much_later(), sources) not in (None, known)


@pytest.mark.parametrize(("where", "what"), [(module, "__version__"), (sys, "version")])
def test_fingerprint_changes_with_the_version_of_everpath_and_of_python(
    sources: Path, monkeypatch: pytest.MonkeyPatch, where: object, what: str
) -> None:
    known = code_fingerprint(much_later(), sources)
    monkeypatch.setattr(where, what, "0.0.0")
    assert code_fingerprint(much_later(), sources) not in (None, known)


def test_fingerprint_changes_with_the_libraries(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "site", {"readers.py": "version = 1"})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(module, "_LIBRARIES", ("readers",))
    known = code_fingerprint(much_later(), sources)
    write(tmp_path / "site", {"readers.py": "version = 10"})
    assert code_fingerprint(much_later(), sources) not in (None, known)


def test_recently_changed_code_has_no_fingerprint(sources: Path) -> None:
    assert code_fingerprint((sources / "a.py").stat().st_ctime_ns, sources) is None


@pytest.mark.parametrize("library", ["there-is-no-such-library", "sys"])
def test_libraries_that_are_no_files_have_no_fingerprint(
    sources: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setattr(module, "_LIBRARIES", (library,))
    assert code_fingerprint(much_later(), sources) is None


def test_code_that_is_no_file_has_no_fingerprint(sources: Path) -> None:
    assert code_fingerprint(much_later(), sources / "archive.zip" / "everpath") is None
