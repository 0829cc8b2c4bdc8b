"""scripts/real-parts installs missing packages, and patiently.sh retries downloads."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "real-parts"
PATIENTLY = Path(__file__).parents[2] / "support" / "peers" / "patiently.sh"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder that is the whole PATH. It has a shell and all required programs except etcd."""
    (tmp_path / "sh").symlink_to(which("sh") or pytest.skip("there is no sh here"))
    for name in ("setpriv", "docker-registry", "skopeo", "umoci", "chromium", "dot"):
        add(tmp_path, name, "")
    return tmp_path


def add(programs: Path, name: str, body: str) -> None:
    (programs / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    (programs / name).chmod(0o755)


def run(programs: Path) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(SCRIPT)]
    return subprocess.run(command, env={"PATH": str(programs)}, capture_output=True, text=True, check=False)


def test_nothing_is_installed_if_all_programs_exist(programs: Path) -> None:
    add(programs, "etcd", "")
    add(programs, "apt-get", "echo called; exit 1")
    done = run(programs)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_missing_packages_are_named_without_apt(programs: Path) -> None:
    done = run(programs)
    assert done.returncode == 1
    assert "install, with what your system has for it: etcd-server" in done.stderr


def test_sudo_is_suggested_if_not_root(programs: Path) -> None:
    add(programs, "apt-get", "echo called; exit 1")
    add(programs, "id", "echo 1000")
    done = run(programs)
    assert done.returncode == 1
    assert f"run: sudo {SCRIPT}" in done.stderr
    assert "called" not in done.stderr


def test_root_installs_after_an_update_if_there_are_no_package_lists(programs: Path) -> None:
    add(programs, "id", "echo 0")
    add(
        programs,
        "apt-get",
        'echo "apt-get $*"; [ "$1" = install ] || : > "${0%/*}/lists"; [ -e "${0%/*}/lists" ]',
    )
    add(programs, "systemctl", "")
    done = run(programs)
    assert done.returncode == 0, done.stderr
    patience = "-o Acquire::Retries=5 -o DPkg::Lock::Timeout=300"
    install = f"apt-get install -y --no-install-recommends etcd-server {patience}"
    assert done.stderr.splitlines() == [install, f"apt-get update {patience}", install]


@pytest.mark.parametrize(("failures", "attempts"), [(0, 1), (3, 4), (9, 5)])
def test_failed_download_is_retried_with_backoff(programs: Path, failures: int, attempts: int) -> None:
    add(programs, "sleep", 'echo "$1" >> "${0%/*}/pauses"')
    add(programs, "fetch", f'echo x >> "$1/tried"; [ "$(wc -l < "$1/tried")" -gt {failures} ]')
    (programs / "wc").symlink_to(which("wc") or pytest.skip("there is no wc here"))
    command = ["sh", str(PATIENTLY), "fetch", str(programs)]
    done = subprocess.run(command, env={"PATH": str(programs)}, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (failures < 5), done.stderr
    assert (programs / "tried").read_text().count("x") == attempts
    pauses = (programs / "pauses").read_text().split() if attempts > 1 else []
    assert pauses == ["2", "4", "8", "16"][: attempts - 1]
