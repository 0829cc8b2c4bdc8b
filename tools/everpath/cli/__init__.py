"""The command line: the only place that knows of arguments, terminals, environment variables and the clock.

Commands are imported when they are called; `everpath --help` imports click and nothing else of weight.
"""

from __future__ import annotations

__all__ = ["main"]

import gc
from typing import Final, NoReturn

# Larger than any block that readers ask for again and again.
_LARGEST_BLOCK: Final = 8 << 20


def main() -> NoReturn:
    """The program: runs and exits.

    What a run makes it keeps to the end, and nothing of it is circular: looking for garbage finds none, and
    costs a tenth of the time, that of imports included. The process is ours here; no command does that to
    somebody else's.
    """
    gc.disable()
    # glibc keeps freed memory for the next one who asks only up to the size of the largest block freed so
    # far; the rest goes back to the system and comes again page by page, a third of all pages of a run. This
    # block is never touched, and sets that size.
    bytes(_LARGEST_BLOCK)
    from everpath.cli.entry_point import main as run_and_exit  # noqa: PLC0415 - it is most of what is imported

    run_and_exit()
