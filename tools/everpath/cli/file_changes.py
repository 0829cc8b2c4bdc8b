"""Changes of files as text, one line for each bundle and each other file, and as JSON."""

from __future__ import annotations

__all__ = ["change_lines", "generate_json", "release_json"]

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from everpath.app.project.generate import GenerateResult
from everpath.app.project.project import Project
from everpath.app.project.release import ReleaseResult
from everpath.atomic_files import FileChange
from everpath.cli.failing_findings import failing_finding_objects
from everpath.cli.release_report import comparison_documents
from everpath.reporters.formatting import printable
from everpath.wording import count


def change_lines(
    changes: Sequence[FileChange], project: Project | None = None, *, every_file: bool = True
) -> Iterator[str]:
    """Yield a line for each change; unless `every_file`, one line for all files of a bundle."""
    groups: dict[Path, list[FileChange]] = {}
    for change in changes:
        path = change.path
        if not every_file and project and path.is_relative_to(project.bundles) and path != project.bundles:
            path = project.bundles / path.relative_to(project.bundles).parts[0]
        groups.setdefault(path, []).append(change)
    for path, group in groups.items():
        if len(group) == 1:
            yield f"{group[0].action:<7} {printable(str(group[0].path))}\n"
        else:
            action = "add" if all(change.action == "add" for change in group) else "change"
            yield f"{action:<7} {printable(str(path))} ({count(len(group), 'file')})\n"


def generate_json(result: GenerateResult) -> Iterator[str]:
    """Yield the result of `generate` as one JSON object (docs/schemas/generate.schema.json)."""
    head = {"version": 1, "package": result.project.releases_file.package, "state": result.state}
    findings = failing_finding_objects(result.findings)
    yield from _json_object(head, {"files": _file_objects(result.changes), "findings": findings})


def release_json(version: str, result: ReleaseResult) -> Iterator[str]:
    """Yield the result of `release` as one JSON object (docs/schemas/release.schema.json)."""
    head = {
        "version": 1,
        "package": result.new.releases_file.package,
        "release": version,
        "state": result.state,
        "reasons": list(result.blockers),
    }
    lists = {
        "files": _file_objects(result.changes),
        "findings": failing_finding_objects(result.findings),
        "comparisons": comparison_documents(result),
    }
    yield from _json_object(head, lists)


def _file_objects(changes: Sequence[FileChange]) -> Iterator[str]:
    for action, path in changes:
        yield json.dumps({"action": action, "path": path.as_posix()}, ensure_ascii=False)


def _json_object(head: Mapping[str, object], lists: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield an object of short values and lists; the items of the lists are JSON already."""
    yield json.dumps(head, ensure_ascii=False).removesuffix("}")
    for key, items in lists.items():
        yield f',\n "{key}": [' + ",".join(f"\n  {item}" for item in items) + "\n ]"
    yield "}\n"
