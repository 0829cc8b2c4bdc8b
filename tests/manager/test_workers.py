"""Threads for cycles: those of engines that hang hold up nobody else, and not the end either."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
from collections.abc import Coroutine
from typing import Any

import pytest

from searchkeeper.manager.workers import FastSlowPool, WorkerPool


def ended(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 60))


def test_what_a_call_gives_or_raises_is_that_of_whoever_waits() -> None:
    async def work() -> None:
        threads = WorkerPool(1, "test")
        assert await threads.run(lambda: 1) == 1
        with pytest.raises(ZeroDivisionError):
            await threads.run(lambda: 1 // 0)
        assert await threads.run(lambda: 2) == 2
        threads.close()

    ended(work())


def test_there_are_no_more_threads_than_are_needed() -> None:
    async def work() -> None:
        threads = WorkerPool(8, "needed")
        names = {await threads.run(lambda: threading.current_thread().name) for _ in range(20)}
        assert names <= {"needed-1", "needed-2"}
        threads.close()

    ended(work())


def test_there_are_no_more_threads_than_are_allowed() -> None:
    async def work() -> None:
        threads, let_go = WorkerPool(2, "allowed"), threading.Event()
        held = [asyncio.create_task(threads.run(let_go.wait)) for _ in range(5)]
        last = asyncio.create_task(threads.run(lambda: threading.current_thread().name))
        await asyncio.sleep(0)
        assert threads._count == 2
        let_go.set()
        assert (await last).startswith("allowed-")
        assert await asyncio.gather(*held) == [True] * 5
        threads.close()

    ended(work())


def test_whoever_took_long_holds_up_only_their_like() -> None:
    """The lanes are one thread wide: behind somebody slow a quick one would never have its turn."""

    async def work() -> None:
        lanes, let_go = FastSlowPool(1, 1, long=3600), threading.Event()
        await lanes.run("quick", lambda: None)
        held = asyncio.create_task(lanes.run("new", let_go.wait))
        await asyncio.sleep(0)

        assert await lanes.run("quick", lambda: "done") == "done"
        assert not held.done()
        let_go.set()
        await held
        lanes.close()

    ended(work())


def test_whoever_takes_long_changes_lanes_until_they_do_not() -> None:
    async def work() -> None:
        lanes = FastSlowPool(1, 1, long=3600)
        places = [await lanes.run("one", lambda: threading.current_thread().name) for _ in range(2)]
        lanes._long = -1
        places += [await lanes.run("one", lambda: threading.current_thread().name) for _ in range(2)]
        assert places == ["slow-cycle-1", "cycle-1", "cycle-1", "slow-cycle-1"]
        lanes.close()

    ended(work())


def test_a_thread_that_hangs_does_not_keep_a_process_from_its_end() -> None:
    script = """
        import asyncio, threading
        from searchkeeper.manager.workers import FastSlowPool

        async def work():
            began = threading.Event()
            def hang():
                began.set()
                threading.Event().wait()
            task = asyncio.create_task(FastSlowPool().run("one", hang))
            while not began.is_set():
                await asyncio.sleep(0.01)
            task.cancel()

        asyncio.run(work())
        print("over")
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert (done.returncode, done.stdout, done.stderr) == (0, "over\n", "")
