"""Programs of the harness get ready or say why not, and are gone afterwards, whatever happens."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.servers.polling import NotInTimeError, until
from e2e.servers.processes import ProcessError, Workshop, running, workshop

pytestmark = pytest.mark.skipif(
    shutil.which("setpriv") is None, reason="there is no setpriv (util-linux) here"
)

TESTS = Path(__file__).parents[2]

# A run of the harness that waits for its end: it prints the folder and the process id of what it has started.
A_RUN = """
import signal, sys, time
from pathlib import Path
from e2e.servers.processes import running, workshop
for each in (signal.SIGINT, signal.SIGTERM):
    # Whoever is started in the background of a script is not interrupted by SIGINT, nor are those it starts.
    signal.signal(each, signal.default_int_handler)
with workshop(Path(sys.argv[1])) as place:
    command = ["sh", "-c", "touch up; exec sleep 60"]
    with running(place, "sleep", command, ready=(place.home("sleep") / "up").exists) as process:
        print(place.folder, process.pid, flush=True)
        # Not `signal.pause`: a signal that comes just before it ends no pause.
        while True:
            time.sleep(0.1)
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workshop]:
    with workshop(tmp_path) as made:
        yield made


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def is_alive(pid: int) -> bool:
    """A zombie whose parent has not looked yet is dead."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_one_that_ends_before_it_is_ready_is_an_error_with_its_log(place: Workshop) -> None:
    with (
        pytest.raises(ProcessError, match=r"(?s)server ended with exit code 3\n.*address already in use"),
        running(place, "server", shell("echo address already in use; exit 3"), ready=lambda: False),
    ):
        pytest.fail("it is not ready")


def test_one_that_does_not_get_ready_is_an_error_with_its_log_and_ended(place: Workshop) -> None:
    pid = place.home("server") / "pid"
    script = "echo still loading; echo $$ > pid; exec sleep 60"

    def never() -> bool:
        """Looked at from when the program has said what it says."""
        until("it is loading", lambda: pid.is_file() and pid.read_text())
        return False

    with (
        pytest.raises(ProcessError, match=r"(?s)did not get ready within 1 s\n.*still loading"),
        running(place, "server", shell(script), ready=never, within=1),
    ):
        pytest.fail("it is not ready")
    assert not is_alive(int(pid.read_text()))


def test_one_that_ends_later_is_noticed_by_whoever_waits_for_it(place: Workshop) -> None:
    with running(place, "server", ["sleep", "60"], ready=lambda: True) as process:
        os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(ProcessError, match="ended with exit code -9"):
            until("it has ended", process.must_run)


def test_what_a_process_has_started_ends_with_it(place: Workshop) -> None:
    children = place.home("server") / "child"
    script = "sleep 60 & echo $! > child; wait"
    with running(
        place, "server", shell(script), ready=lambda: children.is_file() and bool(children.read_text())
    ):
        child = int(children.read_text())
        assert is_alive(child)
    until("the child has ended", lambda: not is_alive(child))


def test_one_that_does_not_want_to_end_is_killed(place: Workshop) -> None:
    stubborn = place.home("server") / "stubborn"
    script = "trap '' TERM; touch stubborn; while true; do sleep 60; done"
    with running(place, "server", shell(script), ready=stubborn.exists, grace=0.1) as process:
        assert is_alive(process.pid)
    assert not is_alive(process.pid)


def test_it_has_a_home_of_its_own_and_no_variable_of_ours(
    place: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/ours")
    said = place.home("server") / "said"
    script = 'echo "$HOME $TMPDIR ${KUBECONFIG-none} $EXTRA" > saying; mv saying said; exec sleep 60'
    with running(place, "server", shell(script), ready=said.exists, environment={"EXTRA": "extra"}):
        home = place.folder / "server"
        assert said.read_text().split() == [str(home), str(home / "tmp"), "none", "extra"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_interrupted_leaves_no_process_and_one_that_can_clean_up_no_folder(
    tmp_path: Path, how: signal.Signals
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    command = [sys.executable, "-c", A_RUN, str(tmp_path)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as run:
        assert run.stdout is not None
        folder, pid = run.stdout.readline().split()
        assert is_alive(int(pid))
        run.send_signal(how)
        try:
            run.wait(60)
        finally:
            run.kill()
    until("the process has ended", lambda: not is_alive(int(pid)))
    assert Path(folder).exists() == (how == signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def test_waiting_ends_with_what_is_found_or_with_the_sentence_that_did_not_come_true() -> None:
    answers = iter(("", "", "here"))
    assert until("somebody answers", lambda: next(answers)) == "here"
    with pytest.raises(NotInTimeError, match="not within 0 s: pigs fly"):
        until("pigs fly", lambda: False, within=0.1)
