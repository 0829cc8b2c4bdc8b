"""What GitHub Actions tells a command about its job, and what it wants to be told besides the report."""

from __future__ import annotations

__all__ = ["MAX_SUMMARY_ROWS", "append_step_summary", "workspace"]

import os
from collections.abc import Iterable
from typing import Final

from everpath.app.config import current_folder
from everpath.cli.output import print_message
from everpath.reporters.lint_report import Workspace

#: GitHub refuses a step summary of more than a mebibyte; a row is some hundred bytes.
MAX_SUMMARY_ROWS: Final = 500


def workspace() -> Workspace:
    """GitHub counts paths from the checkout, wherever in it the step runs."""
    here = current_folder()
    checkout = os.environ.get("GITHUB_WORKSPACE")
    if not checkout:
        return Workspace(here, here)
    from pathlib import Path  # noqa: PLC0415 - a run elsewhere has no use for it

    return Workspace(here, str(Path(checkout)) if Path(here).is_relative_to(checkout) else here)


def append_step_summary(lines: Iterable[str]) -> None:
    """A summary that cannot be written is worth a word, not a failed check."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if not file:
        return
    try:
        with open(file, "a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.writelines(lines)
    except OSError as error:
        print_message(f"cannot write the step summary: {error.strerror}")
