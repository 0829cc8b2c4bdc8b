"""Generates the bundles and catalogs of releases.yaml, checks them and writes them.

result = generate(None, Config())
if result.state == "refused":
    print(result.findings)
"""

from __future__ import annotations

__all__ = ["GenerateResult", "GenerateState", "generate"]

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from everpath.app.config.config import Config
from everpath.app.project.check import FailingFindings, check
from everpath.app.project.generated_files import FileEdit, generate_files
from everpath.app.project.project import Project, open_project, project_lock
from everpath.app.project.warnings import generate_warnings, rewritten_bundle_warnings
from everpath.atomic_files import FileChange

#: `outOfDate` is the state of a read-only run that would write files.
GenerateState: TypeAlias = Literal["written", "upToDate", "outOfDate", "refused"]


@dataclass(frozen=True)
class GenerateResult:
    """What generated files change, and whether they are written.

    `findings` are those for which nothing is written. `edits` has the content of the files that a read-only
    run would change.
    """

    state: GenerateState
    project: Project
    changes: tuple[FileChange, ...]
    findings: FailingFindings | None = None
    warnings: tuple[str, ...] = ()
    edits: tuple[FileEdit, ...] = ()


def generate(
    file: str | None,
    config: Config,
    *,
    pins_file: str | None = None,
    suffix: str | None = None,
    read_only: bool = False,
    on_wait: Callable[[], object] = lambda: None,
) -> GenerateResult:
    """Generate the files of the project of a releases.yaml: write all of them, or none if it is refused.

    `pins_file` replaces the file of digests that releases.yaml names, and `suffix` is the format of the
    catalogs, by default the one they have. The project is locked meanwhile; `read_only` runs share the lock.
    `on_wait` is called before waiting for another process. Raises EverpathError, with nothing written.
    """
    with (
        project_lock(open_project(file, pins_file=pins_file), exclusive=not read_only, on_wait=on_wait),
        # Opened again: another process may have changed it before the lock was acquired.
        generate_files(open_project(file, pins_file=pins_file), suffix) as files,
    ):
        project, changes = files.project, tuple(files.changes())
        if read_only:
            # Users who run generate afterwards should know which bundles it rewrites.
            warnings = tuple(rewritten_bundle_warnings(files))
            state: GenerateState = "outOfDate" if changes else "upToDate"
            return GenerateResult(state, project, changes, warnings=warnings, edits=tuple(files.edits()))
        if changes and (findings := check(files, config)):
            return GenerateResult("refused", project, changes, findings)
        warnings = tuple(generate_warnings(files)) if changes else ()
        # Without changes too: a killed run may have left an empty staging folder.
        files.commit()
        return GenerateResult("written" if changes else "upToDate", project, changes, warnings=warnings)
