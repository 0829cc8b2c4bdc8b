"""Run programs for the duration of a `with` block.

Each program has its own home folder, TMPDIR and log. If it exits or does not become ready, the error message
has the end of its log. The kernel kills the programs if the Python process is killed.
"""

from __future__ import annotations

__all__ = [
    "Process",
    "ProcessError",
    "WorkDir",
    "create_work_dir",
    "log_tail",
    "run_process",
    "start_process",
]

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.e2e.servers.polling import WaitTimeoutError, wait_until

_LOG_TAIL_LINES: Final = 40
_REQUIRED_SPACE: Final = 2 * 2**30


class ProcessError(RuntimeError):
    """A program has exited or did not become ready."""


@dataclass(frozen=True, slots=True)
class WorkDir:
    """Folders for the programs of a test run: `folder` is deleted at the end, `logs` is kept."""

    folder: Path
    logs: Path

    def home(self, name: str) -> Path:
        """Create the home folder of a program, with a folder `tmp`."""
        home = self.folder / name
        (home / "tmp").mkdir(parents=True, exist_ok=True)
        return home


@contextmanager
def create_work_dir(logs: Path) -> Iterator[WorkDir]:
    with TemporaryDirectory(prefix="everpath-real-", dir=_memory_backed_folder()) as folder:
        yield WorkDir(Path(folder), logs)


def _memory_backed_folder() -> str | None:
    """Return /dev/shm if it has enough space: on a slow disk, deleting the files takes minutes."""
    folder = Path("/dev/shm")
    has_space = (
        folder.is_dir() and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > _REQUIRED_SPACE
    )
    return str(folder) if has_space else None


class Process:
    """A started program."""

    def __init__(self, name: str, log: Path, process: subprocess.Popen[bytes]) -> None:
        self.name = name
        self.log = log
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    def check_running(self) -> None:
        """Raise ProcessError if it has exited."""
        if (code := self.exit_code) is not None:
            raise self.error(f"ended with exit code {code}")

    def error(self, message: str) -> ProcessError:
        return ProcessError(f"{self.name} {message}\n{log_tail(self.log)}")

    def terminate(self, grace: float) -> None:
        """Send SIGTERM, and SIGKILL after `grace` seconds, to the process and its children."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(grace)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()


def log_tail(log: Path) -> str:
    """Return the last lines of a log, after a line with its path."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_TAIL_LINES:]
    return "\n".join([f"the end of {log}:", *lines])


@contextmanager
def run_process(
    work_dir: WorkDir,
    name: str,
    command: Sequence[str | Path],
    *,
    ready: Callable[[], bool],
    environment: Mapping[str, str] | None = None,
    timeout: float = 180.0,
    grace: float = 1.0,
) -> Iterator[Process]:
    """Start a program, wait until it is ready, and terminate it at the end of the block.

    `grace` is the time between SIGTERM and SIGKILL, in seconds.
    """
    process = start_process(name, work_dir.logs / f"{name}.log", command, work_dir.home(name), environment)
    try:
        _wait_until_ready(process, ready, timeout)
        yield process
    finally:
        process.terminate(grace)


def start_process(
    name: str,
    log: Path,
    command: Sequence[str | Path],
    home: Path,
    environment: Mapping[str, str] | None = None,
) -> Process:
    """Start a program. The kernel kills it when the *thread* that started it ends.

    It inherits only PATH: it must not use the proxy or the kubeconfig of the user who runs the tests.
    """
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        **(environment or {}),
    }
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*_kill_with_parent(), *map(str, command)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=home,
            env=variables,
            # Only this process gets the SIGINT of Ctrl-C, and terminates the programs in reverse order.
            start_new_session=True,
        )
    return Process(name, log, process)


def _kill_with_parent() -> Sequence[str]:
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise ProcessError("setpriv of util-linux is required: it ends the programs if the tests are killed")
    return (setpriv, "--pdeathsig", "KILL", "--")


def _wait_until_ready(process: Process, ready: Callable[[], bool], timeout: float) -> None:
    def is_ready() -> bool:
        process.check_running()
        return ready()

    try:
        wait_until(f"{process.name} is ready", is_ready, timeout)
    except WaitTimeoutError as error:
        raise process.error(f"did not get ready within {timeout:.0f} s") from error
