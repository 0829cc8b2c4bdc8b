"""What is written: for people a line for each bundle and each other file, for programs each file."""

from __future__ import annotations

__all__ = ["State", "changes_document", "listed_changes"]

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from everpath.cli.making import Project
from everpath.outputs.plain import count, printable

State: TypeAlias = Literal["written", "upToDate", "outOfDate", "refused"]


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


def changes_document(
    project: Project, state: State, due: Sequence[tuple[str, Path]], findings: Iterable[str] = ()
) -> Iterator[str]:
    """The same for programs: one JSON object (docs/schemas/generate.schema.json)."""
    import json  # noqa: PLC0415 - text needs none

    head = {"version": 1, "package": project.source.package, "state": state}
    files = (json.dumps({"action": what, "path": path.as_posix()}, ensure_ascii=False) for what, path in due)
    yield json.dumps(head, ensure_ascii=False).removesuffix("}")
    for key, items in (("files", files), ("findings", findings)):
        yield f',\n "{key}": [' + ",".join(f"\n  {item}" for item in items) + "\n ]"
    yield "}\n"


def _shown(project: Project, path: Path) -> Path:
    """The bundle's folder of a file in one, else the file itself."""
    is_inside = path.is_relative_to(project.bundles) and path != project.bundles
    return project.bundles / path.relative_to(project.bundles).parts[0] if is_inside else path
