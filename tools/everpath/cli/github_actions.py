"""GitHub Actions: the root of the checkout, and the step summary."""

from __future__ import annotations

__all__ = ["MAX_SUMMARY_ROWS", "append_step_summary", "workspace"]

import os
from collections.abc import Iterable
from typing import Final

from everpath.app.config.config import current_folder
from everpath.cli.output import print_message
from everpath.reporters.lint.lint_report import Workspace

#: GitHub refuses a step summary of more than a mebibyte; a row is some hundred bytes.
MAX_SUMMARY_ROWS: Final = 500


def workspace() -> Workspace:
    """Return the current folder, and the checkout that GitHub resolves paths from."""
    here = current_folder()
    checkout = os.environ.get("GITHUB_WORKSPACE")
    if not checkout:
        return Workspace(here, here)
    from pathlib import Path  # noqa: PLC0415 - only in GitHub Actions

    return Workspace(here, str(Path(checkout)) if Path(here).is_relative_to(checkout) else here)


def append_step_summary(lines: Iterable[str]) -> None:
    """Append to the step summary; print a message if that fails."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if not file:
        return
    try:
        with open(file, "a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.writelines(lines)
    except OSError as error:
        print_message(f"cannot write the step summary: {error.strerror}")
