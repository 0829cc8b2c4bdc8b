"""What is written: for people a line for each bundle and each other file, for programs each file."""

from __future__ import annotations

__all__ = ["ReleaseState", "State", "changes_document", "listed_changes", "release_document"]

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from everpath.app.project import Project
from everpath.reporters.formatting import count, printable

State: TypeAlias = Literal["written", "upToDate", "outOfDate", "refused"]
#: Of a release: `planned` is the answer of --dry-run.
ReleaseState: TypeAlias = Literal["written", "planned", "refused"]


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
    head = {"version": 1, "package": project.source.package, "state": state}
    yield from _document(head, {"files": _files(due), "findings": findings})


def release_document(
    project: Project,
    head: Mapping[str, object],
    due: Sequence[tuple[str, Path]],
    findings: Iterable[str],
    comparisons: Iterable[str],
) -> Iterator[str]:
    """What became of a release, for programs: one JSON object (docs/schemas/release.schema.json)."""
    whole = {"version": 1, "package": project.source.package, **head}
    yield from _document(whole, {"files": _files(due), "findings": findings, "comparisons": comparisons})


def _files(due: Sequence[tuple[str, Path]]) -> Iterator[str]:
    import json  # noqa: PLC0415 - text needs none

    for what, path in due:
        yield json.dumps({"action": what, "path": path.as_posix()}, ensure_ascii=False)


def _document(head: Mapping[str, object], lists: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """One object: some short values, and lists of texts that are JSON already."""
    import json  # noqa: PLC0415 - text needs none

    yield json.dumps(head, ensure_ascii=False).removesuffix("}")
    for key, items in lists.items():
        yield f',\n "{key}": [' + ",".join(f"\n  {item}" for item in items) + "\n ]"
    yield "}\n"


def _shown(project: Project, path: Path) -> Path:
    """The bundle's folder of a file in one, else the file itself."""
    is_inside = path.is_relative_to(project.bundles) and path != project.bundles
    return project.bundles / path.relative_to(project.bundles).parts[0] if is_inside else path
