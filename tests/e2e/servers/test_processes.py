"""Processes become ready or raise an error with their log, and are always terminated."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.servers.polling import WaitTimeoutError, wait_until
from tests.e2e.servers.processes import ProcessError, WorkDir, create_work_dir, run_process

pytestmark = pytest.mark.skipif(
    shutil.which("setpriv") is None, reason="there is no setpriv (util-linux) here"
)

TESTS = Path(__file__).parents[2]

# A script that starts a process, prints the folder and its process id, and waits to be interrupted.
SCRIPT = """
import signal, sys, time
from pathlib import Path
from tests.e2e.servers.processes import create_work_dir, run_process
for each in (signal.SIGINT, signal.SIGTERM):
    # A process in the background of a shell script ignores SIGINT, and so do its children.
    signal.signal(each, signal.default_int_handler)
with create_work_dir(Path(sys.argv[1])) as work_dir:
    command = ["sh", "-c", "touch up; exec sleep 60"]
    with run_process(work_dir, "sleep", command, ready=(work_dir.home("sleep") / "up").exists) as process:
        print(work_dir.folder, process.pid, flush=True)
        # Not `signal.pause`: it would miss a signal that comes before the call.
        while True:
            time.sleep(0.1)
"""


@pytest.fixture
def work_dir(tmp_path: Path) -> Iterator[WorkDir]:
    with create_work_dir(tmp_path) as created:
        yield created


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def is_alive(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_process_that_exits_before_it_is_ready_raises_an_error_with_its_log(work_dir: WorkDir) -> None:
    with (
        pytest.raises(ProcessError, match=r"(?s)server ended with exit code 3\n.*address already in use"),
        run_process(work_dir, "server", shell("echo address already in use; exit 3"), ready=lambda: False),
    ):
        pytest.fail("the process is not ready")


def test_process_that_does_not_become_ready_is_terminated_and_raises_an_error_with_its_log(
    work_dir: WorkDir,
) -> None:
    pid = work_dir.home("server") / "pid"
    script = "echo still loading; echo $$ > pid; exec sleep 60"

    def never() -> bool:
        """Wait until the program has written its log and its process id."""
        wait_until("the program is loading", lambda: pid.is_file() and pid.read_text())
        return False

    with (
        pytest.raises(ProcessError, match=r"(?s)did not get ready within 1 s\n.*still loading"),
        run_process(work_dir, "server", shell(script), ready=never, timeout=1),
    ):
        pytest.fail("the process is not ready")
    assert not is_alive(int(pid.read_text()))


def test_check_running_raises_an_error_if_the_process_has_exited(work_dir: WorkDir) -> None:
    with run_process(work_dir, "server", ["sleep", "60"], ready=lambda: True) as process:
        os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(ProcessError, match="ended with exit code -9"):
            wait_until("the process has exited", process.check_running)


def test_children_of_a_process_are_terminated_with_it(work_dir: WorkDir) -> None:
    children = work_dir.home("server") / "child"
    script = "sleep 60 & echo $! > child; wait"
    with run_process(
        work_dir, "server", shell(script), ready=lambda: children.is_file() and bool(children.read_text())
    ):
        child = int(children.read_text())
        assert is_alive(child)
    wait_until("the child has exited", lambda: not is_alive(child))


def test_process_that_ignores_sigterm_is_killed(work_dir: WorkDir) -> None:
    stubborn = work_dir.home("server") / "stubborn"
    script = "trap '' TERM; touch stubborn; while true; do sleep 60; done"
    with run_process(work_dir, "server", shell(script), ready=stubborn.exists, grace=0.1) as process:
        assert is_alive(process.pid)
    assert not is_alive(process.pid)


def test_process_has_its_own_home_and_does_not_inherit_the_environment(
    work_dir: WorkDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/inherited")
    output = work_dir.home("server") / "output"
    script = 'echo "$HOME $TMPDIR ${KUBECONFIG-none} $EXTRA" > partial; mv partial output; exec sleep 60'
    with run_process(work_dir, "server", shell(script), ready=output.exists, environment={"EXTRA": "extra"}):
        home = work_dir.folder / "server"
        assert output.read_text().split() == [str(home), str(home / "tmp"), "none", "extra"]


@pytest.mark.parametrize("interruption", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_run_leaves_no_process_and_no_folder_unless_killed(
    tmp_path: Path, interruption: signal.Signals
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as run:
        assert run.stdout is not None
        folder, pid = run.stdout.readline().split()
        assert is_alive(int(pid))
        run.send_signal(interruption)
        try:
            run.wait(60)
        finally:
            run.kill()
    wait_until("the process has exited", lambda: not is_alive(int(pid)))
    assert Path(folder).exists() == (interruption == signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def test_wait_until_returns_the_result_or_raises_an_error_with_the_description() -> None:
    results = iter(("", "", "here"))
    assert wait_until("there is a result", lambda: next(results)) == "here"
    with pytest.raises(WaitTimeoutError, match="not within 0 s: pigs fly"):
        wait_until("pigs fly", lambda: False, timeout=0.1)
