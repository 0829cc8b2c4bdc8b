"""Programs that run as long as a `with` block, and leave nothing behind when it ends, however it ends.

Each has a home, a folder for temporary files and a log of its own. A process that dies, or does not get
ready, is an error that shows the end of its log. If the interpreter is killed, the kernel kills them.
"""

from __future__ import annotations

__all__ = ["Process", "ProcessError", "Workshop", "log_end", "running", "started", "workshop"]

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

from e2e.servers.polling import NotInTimeError, until

_SHOWN_LINES: Final = 40
_ROOM: Final = 2 * 2**30


class ProcessError(RuntimeError):
    """A program that did not do what it was started for."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where programs of one test run live: `folder` is deleted at the end, `logs` is kept."""

    folder: Path
    logs: Path

    def home(self, name: str) -> Path:
        home = self.folder / name
        (home / "tmp").mkdir(parents=True, exist_ok=True)
        return home


@contextmanager
def workshop(logs: Path) -> Iterator[Workshop]:
    with TemporaryDirectory(prefix="everpath-real-", dir=_memory()) as folder:
        yield Workshop(Path(folder), logs)


def _memory() -> str | None:
    """The folder that is kept in memory, where it is large. To delete ten thousand small files takes longer
    than the tests, where a disk is slow.
    """
    folder = Path("/dev/shm")
    has_room = folder.is_dir() and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > _ROOM
    return str(folder) if has_room else None


class Process:
    """A program that was started."""

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

    def must_run(self) -> None:
        if (code := self.exit_code) is not None:
            raise self.failure(f"ended with exit code {code}")

    def failure(self, what: str) -> ProcessError:
        return ProcessError(f"{self.name} {what}\n{log_end(self.log)}")

    def end(self, grace: float) -> None:
        """Asks it to end, insists after a while, and takes with it whatever it has started itself."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(grace)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()


def log_end(log: Path) -> str:
    """The last lines of a log, and where the others are."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_SHOWN_LINES:]
    return "\n".join([f"the end of {log}:", *lines])


@contextmanager
def running(
    place: Workshop,
    name: str,
    command: Sequence[str | Path],
    *,
    ready: Callable[[], bool],
    environment: Mapping[str, str] | None = None,
    within: float = 180.0,
    grace: float = 1.0,
) -> Iterator[Process]:
    """The program, from when it is ready. `grace` is how long it may take to end: little where everything
    that it could still save is deleted anyway.
    """
    process = started(name, place.logs / f"{name}.log", command, place.home(name), environment)
    try:
        _await(process, ready, within)
        yield process
    finally:
        process.end(grace)


def started(
    name: str,
    log: Path,
    command: Sequence[str | Path],
    home: Path,
    environment: Mapping[str, str] | None = None,
) -> Process:
    """The program, which dies with the *thread* that has started it.

    It inherits no variable but PATH: a proxy or a kubeconfig of whoever runs the tests must not reach it.
    """
    own = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home / "tmp"), **(environment or {})}
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*_dying_with_us(), *map(str, command)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=home,
            env=own,
            # Ctrl-C is for us alone: we end them in the reverse order of their start.
            start_new_session=True,
        )
    return Process(name, log, process)


def _dying_with_us() -> Sequence[str]:
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise ProcessError("real parts need setpriv, of util-linux: it ends them if the tests are killed")
    return (setpriv, "--pdeathsig", "KILL", "--")


def _await(process: Process, ready: Callable[[], bool], within: float) -> None:
    def look() -> bool:
        process.must_run()
        return ready()

    try:
        until(f"{process.name} is ready", look, within)
    except NotInTimeError as late:
        raise process.failure(f"did not get ready within {within:.0f} s") from late
