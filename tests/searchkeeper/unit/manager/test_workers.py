"""Worker threads: slow reconciles delay neither fast ones nor the exit."""

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


def run_with_timeout(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 60))


def test_caller_gets_the_result_or_the_exception() -> None:
    async def work() -> None:
        workers = WorkerPool(1, "test")
        assert await workers.run(lambda: 1) == 1
        with pytest.raises(ZeroDivisionError):
            await workers.run(lambda: 1 // 0)
        assert await workers.run(lambda: 2) == 2
        workers.close()

    run_with_timeout(work())


def test_pool_starts_no_more_threads_than_needed() -> None:
    async def work() -> None:
        workers = WorkerPool(8, "needed")
        names = {await workers.run(lambda: threading.current_thread().name) for _ in range(20)}
        assert names <= {"needed-1", "needed-2"}
        workers.close()

    run_with_timeout(work())


def test_pool_starts_no_more_threads_than_its_limit() -> None:
    async def work() -> None:
        workers, release = WorkerPool(2, "limited"), threading.Event()
        blocked = [asyncio.create_task(workers.run(release.wait)) for _ in range(5)]
        last = asyncio.create_task(workers.run(lambda: threading.current_thread().name))
        await asyncio.sleep(0)
        assert workers._count == 2
        release.set()
        assert (await last).startswith("limited-")
        assert await asyncio.gather(*blocked) == [True] * 5
        workers.close()

    run_with_timeout(work())


def test_slow_reconcile_does_not_delay_a_fast_cluster() -> None:
    """Each pool has one thread: behind the slow reconcile the fast one would never run."""

    async def work() -> None:
        pool, release = FastSlowPool(1, 1, slow_after=3600), threading.Event()
        await pool.run("fast", lambda: None)
        blocked = asyncio.create_task(pool.run("new", release.wait))
        await asyncio.sleep(0)

        assert await pool.run("fast", lambda: "done") == "done"
        assert not blocked.done()
        release.set()
        await blocked
        pool.close()

    run_with_timeout(work())


def test_cluster_moves_between_the_fast_and_the_slow_pool() -> None:
    async def work() -> None:
        pool = FastSlowPool(1, 1, slow_after=3600)
        workers = [await pool.run("one", lambda: threading.current_thread().name) for _ in range(2)]
        pool._slow_after = -1
        workers += [await pool.run("one", lambda: threading.current_thread().name) for _ in range(2)]
        assert workers == ["slow-reconcile-1", "reconcile-1", "reconcile-1", "slow-reconcile-1"]
        pool.close()

    run_with_timeout(work())


def test_hanging_worker_does_not_keep_the_process_alive() -> None:
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
