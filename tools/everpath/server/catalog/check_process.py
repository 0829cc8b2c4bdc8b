"""Check a catalog in another process: parse every byte, and return the first problem.

The child runs `python -m everpath.server.catalog.check_process PATH` and writes one JSON object to standard
output: `{"problem": null}`, or the message of the problem.
"""

from __future__ import annotations

__all__ = ["check_in_subprocess"]

import asyncio
import json
import os
import sys
from contextlib import suppress
from typing import Final

from everpath.errors import UnreadableInput
from everpath.server.catalog.snapshot import take_snapshot
from everpath.server.errors import CatalogRejected

# The server has priority over the check.
_CHECK_NICENESS: Final = 10


async def check_in_subprocess(path: str) -> str | None:
    """Parse every byte of a catalog in a child process, and return the first problem.

    Raises OSError if the check cannot run or does not complete. Cost: 0.1 s of CPU time a megabyte.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        path,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, _CHECK_NICENESS)
        output, errors = await process.communicate()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):
            process.kill()
        # Reads to the end: a pipe that is still open would outlive the event loop.
        await process.communicate()
        raise
    if process.returncode != 0:
        last_line = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise ChildProcessError(last_line or f"exit code {process.returncode}")
    problem: str | None = json.loads(output)["problem"]
    return problem


def _main(path: str) -> None:
    problem = None
    try:
        take_snapshot(path, thorough=True)
    except (CatalogRejected, UnreadableInput) as error:
        problem = error.message
    sys.stdout.write(json.dumps({"problem": problem}))


if __name__ == "__main__":
    _main(sys.argv[1])
