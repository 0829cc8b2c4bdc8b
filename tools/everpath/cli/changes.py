"""What is written, told to people: a line for each bundle and each other file."""

from __future__ import annotations

__all__ = ["listed_changes"]

from collections.abc import Iterator, Sequence
from pathlib import Path

from everpath.cli.making import Project
from everpath.outputs.plain import count, printable


def listed_changes(project: Project, due: Sequence[tuple[str, Path]], *, each: bool) -> Iterator[str]:
    """Several files of one bundle on one line, unless `each` is wanted. In the order of `due`."""
    groups: dict[Path, list[tuple[str, Path]]] = {}
    for what, path in due:
        groups.setdefault(path if each else _shown(project, path), []).append((what, path))
    for folder, done in groups.items():
        if len(done) == 1:
            what, path = done[0]
            yield f"{what:<7} {printable(str(path))}\n"
        else:
            what = "add" if {what for what, _ in done} == {"add"} else "change"
            yield f"{what:<7} {printable(str(folder))} ({count(len(done), 'file')})\n"


def _shown(project: Project, path: Path) -> Path:
    """The bundle's folder of a file in one, else the file itself."""
    is_inside = path.is_relative_to(project.bundles) and path != project.bundles
    return project.bundles / path.relative_to(project.bundles).parts[0] if is_inside else path
