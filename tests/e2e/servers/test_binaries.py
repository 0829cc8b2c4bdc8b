"""Binaries.locate finds the real programs, or raises an error that says how to install them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.servers.binaries import Binaries, NotAvailableError


def test_error_says_how_to_install_the_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("EVERPATH_REAL", raising=False)
    with pytest.raises(NotAvailableError, match="make e2e"):
        Binaries.locate()
    monkeypatch.setenv("EVERPATH_REAL", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotAvailableError, match="scripts/real-parts"):
        Binaries.locate()


def test_folder_that_lacks_a_program_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "etcd").touch(mode=0o755)
    monkeypatch.setenv("EVERPATH_REAL", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"lacks kube-apiserver; tests/e2e/servers/build\.sh"):
        Binaries.locate()
