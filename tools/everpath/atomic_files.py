"""Files and folders that appear whole or not at all: written beside their place, then renamed.

`replace_file`, `atomic_file` and `atomic_folder` write one; `move_into_place` is for a folder that gets its
name at the end. A `FileTransaction` writes many files, all or none. No other module writes a file aside and
renames it.
"""

from __future__ import annotations

__all__ = [
    "FileChange",
    "FileTransaction",
    "StagingDir",
    "atomic_file",
    "atomic_folder",
    "is_leftover",
    "leftovers_below",
    "leftovers_beside",
    "move_into_place",
    "replace_file",
    "scratch_folder",
    "write_error",
]

import errno
import os
import re
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import randbits, token_hex
from typing import BinaryIO, Final, Literal, NamedTuple

from everpath.errors import UsageError
from everpath.signals import signals_blocked

try:
    import fcntl
except ImportError:  # Windows has no file locks of this kind.
    fcntl = None  # type: ignore[assignment]

_TEMPORARY_NAME: Final = re.compile(r"\.everpath\.([0-9]+)\.[0-9a-f]{8}")

# The names that a transaction uses beside a file.
_LEFTOVER: Final = re.compile(r"\.(?P<name>.+)\.\d+\.(new|old)")


@contextmanager
def replace_file(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` when the block succeeds, and is deleted when it fails.

    A symbolic link is replaced, not followed. The umask applies to `mode`. Raises OSError.
    """
    temporary = _temporary_path(path)
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as stream, _shared_lock(temporary):
            yield stream
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Replace a file as `replace_file` does, or the target of a symbolic link.

    Raises UsageError for an OSError, and for a path that is not a regular file, such as a device.
    """
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} exists and is not a file", hint="choose a file, new or existing")
    try:
        with replace_file(path) as stream:
            yield stream
    except OSError as error:
        raise write_error(path, error) from error


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Create a temporary folder that becomes `path` when the block succeeds, and is deleted when it fails.

    `path` must not exist, or be an empty folder. Raises UsageError for an OSError.
    """
    temporary = _temporary_path(path)
    try:
        temporary.mkdir()
        with _shared_lock(temporary):
            yield temporary
        temporary.replace(path)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if isinstance(error, OSError):
            raise write_error(path, error) from error
        raise


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """Create a temporary folder on the file system of a path, and delete it afterwards. Raises OSError."""
    folder = _temporary_path(beside)
    folder.mkdir()
    try:
        with _shared_lock(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def move_into_place(folder: Path, path: Path) -> None:
    """Rename a folder inside a `scratch_folder` to `path`.

    A folder that is already there, perhaps from another process in the meantime, is kept. Raises OSError.
    """
    if path.exists():
        return
    try:
        folder.rename(path)
    except OSError:
        if not path.is_dir():
            raise


def write_error(path: Path, error: OSError) -> UsageError:
    """Return the error for a failed write to a path."""
    return UsageError(
        f"cannot write {path}: {error.strerror or error}",
        hint="nothing was changed; fix the cause and try again",
    )


def _temporary_path(path: Path) -> Path:
    """Return an unused path in the folder of `path`, after deleting what killed processes left there."""
    for leftover in path.parent.glob(".everpath.*"):
        with suppress(OSError):
            if _is_abandoned(leftover):
                shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    # Independent of the target's name, which may already have the longest length that is allowed.
    return path.with_name(f".everpath.{os.getpid()}.{token_hex(4)}")


def _is_abandoned(path: Path) -> bool:
    """True for a temporary file of this user whose process is gone. Raises OSError if it is locked.

    The process id is not enough: containers that share a folder have their own process ids.
    """
    match = _TEMPORARY_NAME.fullmatch(path.name)
    if match is None or path.is_symlink() or path.stat().st_uid != os.getuid():
        return False
    if _is_running(int(match[1])):
        return False
    if fcntl is None:
        return True
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(handle)
    return True


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@contextmanager
def _shared_lock(path: Path) -> Iterator[None]:
    """Hold a lock that the kernel releases when the process ends. Some file systems support none."""
    if fcntl is None:
        yield
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


class FileChange(NamedTuple):
    """What a transaction does to one file."""

    action: Literal["add", "change", "delete"]
    path: Path


class StagingDir(NamedTuple):
    """A hidden folder beside a catalog's folder, in which files of a project are written before the rename.

    It mirrors the folder that it is in: FOLDER/RUN/new/PATH for new files, FOLDER/RUN/old/PATH for the files
    they replace. It is outside the catalog, because opm loads hidden files too: a copy that a killed run
    leaves there would declare everything twice.
    """

    folder: Path

    @classmethod
    def beside(cls, catalog: Path) -> StagingDir:
        """Return the staging folder of the project whose releases.yaml is in this folder."""
        real = catalog.resolve()
        folder = real.parent / f".{real.name}.staging"
        return cls(folder if catalog.is_absolute() else Path(os.path.relpath(folder)))

    def make_path(self, path: Path, run: int, kind: Literal["new", "old"]) -> Path | None:
        """Create the folder in which a file is staged, and return the path of the file there.

        None: the file is outside the mirrored folder, or the folder cannot be created.
        """
        root, real = _resolve_parent(self.folder.parent), _resolve_parent(path)
        if not real.is_relative_to(root):
            return None
        staged = self.folder / str(run) / kind / real.relative_to(root)
        try:
            staged.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        return staged

    def leftovers(self, files: Collection[Path], below: Path | None = None) -> Iterator[Path]:
        """Yield what killed runs have staged for these files, and for all files below a folder."""
        targets = {_resolve_parent(path) for path in files}
        # Leftovers are deleted through this folder too, and a run may be killed while it does that.
        folders = [_resolve_parent(folder) for folder in (self.folder, below) if folder is not None]
        for staged in sorted(self.folder.rglob("*")):
            inner = staged.relative_to(self.folder).parts[2:]
            if inner and staged.is_file():
                path = _resolve_parent(self.folder.parent) / Path(*inner)
                if path in targets or any(path.is_relative_to(folder) for folder in folders):
                    yield staged

    def remove_empty(self) -> None:
        """Remove the empty folders in it, and finally the folder itself."""
        for folder, _, _ in os.walk(self.folder, topdown=False):
            with suppress(OSError):
                Path(folder).rmdir()


def _resolve_parent(path: Path) -> Path:
    """Resolve the links above a path, but not the path itself: a link is replaced, not followed."""
    return path.parent.resolve() / path.name if path.name not in ("", "..") else path.resolve()


def is_leftover(name: str) -> bool:
    """Whether a file has the name of a temporary file that a transaction writes beside another one."""
    return _LEFTOVER.fullmatch(name) is not None


def leftovers_below(folder: Path) -> Iterator[Path]:
    """Yield the temporary files of killed runs below a folder."""
    return (path for path in folder.rglob(".*") if is_leftover(path.name) and path.is_file())


def leftovers_beside(files: Iterable[Path]) -> Iterator[Path]:
    """Yield the temporary files of killed runs for some files, in their folders."""
    paths = set(files)
    for folder in sorted({path.parent for path in paths}):
        for path in folder.glob(".*"):
            found = _LEFTOVER.fullmatch(path.name)
            if found and folder / found["name"] in paths and path.is_file():
                yield path


@dataclass(frozen=True)
class FileTransaction:
    """Files to write and to delete, all of them or none.

    Every new file is written to the staging folder, or beside its place, and then renamed. Until all are in
    place, each replaced file keeps a second name, from which it is restored when a step fails. A killed
    process leaves every file old or new. `first` is renamed first: if all other files follow from it, as
    they follow from releases.yaml, the next run of `everpath generate` completes the transaction.
    """

    files: Mapping[Path, bytes]
    stale: tuple[Path, ...] = ()
    first: Path | None = None
    staging: StagingDir | None = None

    def changes(self) -> list[FileChange]:
        """Return what `commit` would do, ordered by path. Files that are up to date are not listed."""
        changes = [FileChange("delete", path) for path in self.stale if os.path.lexists(path)]
        for path, content in self.files.items():
            try:
                old = path.read_bytes()
            except FileNotFoundError:
                changes.append(FileChange("add", path))
            except OSError as error:
                raise _transaction_error(error) from error
            else:
                if old != content:
                    changes.append(FileChange("change", path))
        return sorted(changes, key=lambda change: change.path)

    def commit(self) -> list[FileChange]:
        """Write and delete the files, and return the changes. Raises UsageError with nothing changed."""
        targets = {_link_target(path): content for path, content in self.files.items()}
        first = _link_target(self.first) if self.first else None
        changes = FileTransaction(targets, self.stale).changes()
        steps = _CommitSteps(self.staging)
        try:
            for action, path in changes:
                if action != "delete":
                    steps.stage(path, targets[path])
            for action, path in sorted(changes, key=lambda change: change.path != first):
                steps.replace(path, delete=action == "delete")
        except BaseException as error:
            with signals_blocked():
                steps.roll_back()
            if isinstance(error, OSError):
                raise _transaction_error(error) from error
            raise
        with signals_blocked():
            steps.finish()
        for action, path in changes:
            if action == "delete":
                _remove_empty_parents(path)
        return changes


def _link_target(path: Path) -> Path:
    return path.resolve() if path.is_symlink() else path


def _transaction_error(error: OSError) -> UsageError:
    name = f" {os.fsdecode(error.filename)}" if error.filename is not None else ""
    return UsageError(
        f"cannot write{name}: {error.strerror or error}",
        hint="nothing was changed; fix the cause and try again",
    )


@dataclass
class _CommitSteps:
    """The steps of a commit so far, recorded before each is done, so that they can be rolled back.

    A signal may arrive between any two lines. `run` is a random number, not the process id: processes of
    containers that share a folder may have the same id.
    """

    staging: StagingDir | None
    run: int = field(default_factory=lambda: randbits(48))
    created_folders: list[Path] = field(default_factory=list)
    staged: dict[Path, Path] = field(default_factory=dict)
    replaced: list[tuple[Path, Path | None]] = field(default_factory=list)

    def stage(self, path: Path, content: bytes) -> None:
        """Write the new content of a file to its staging path, with the permissions of the old file."""
        missing = [path.parent]
        while not missing[-1].exists():
            missing.append(missing[-1].parent)
        for folder in reversed(missing[:-1]):
            self.created_folders.append(folder)
            _make_folder(folder)
        staged = self.staged[path] = self._staging_path(path, "new")
        try:
            _write_new_file(staged, content)
        except OSError as error:
            # The error of a full disk has no file name, and the staging path means nothing to a user.
            error.filename = str(path)
            raise
        with suppress(FileNotFoundError):
            staged.chmod(stat.S_IMODE(path.stat().st_mode))

    def _staging_path(self, path: Path, kind: Literal["new", "old"]) -> Path:
        staged = self.staging.make_path(path, self.run, kind) if self.staging else None
        return staged or path.with_name(f".{path.name}.{self.run}.{kind}")

    def replace(self, path: Path, *, delete: bool) -> None:
        """Give the old file a second name and rename the new one over it, so that the path always exists."""
        backup = self._staging_path(path, "old") if os.path.lexists(path) else None
        self.replaced.append((path, backup))
        if backup is not None and not delete:
            _link_or_copy(path, backup)
        elif backup is not None:
            _rename(path, backup)
        if not delete:
            _rename(self.staged[path], path)

    def roll_back(self) -> None:
        """Restore every file and remove what was staged. Continues after a step that cannot be undone."""
        for path, backup in reversed(self.replaced):
            with suppress(OSError):
                if backup is None:
                    path.unlink(missing_ok=True)
                else:
                    _rename(backup, path)
                    # A rename does nothing if both are names of the same file.
                    backup.unlink(missing_ok=True)
        for staged in self.staged.values():
            with suppress(OSError):
                staged.unlink()
        for folder in reversed(self.created_folders):
            with suppress(OSError):
                folder.rmdir()
        if self.staging is not None:
            self.staging.remove_empty()

    def finish(self) -> None:
        """Delete the old files."""
        for _, backup in self.replaced:
            if backup is not None:
                with suppress(OSError):
                    backup.unlink()
        if self.staging is not None:
            self.staging.remove_empty()


# The steps of a commit that can fail; tests replace them by name.
def _make_folder(folder: Path) -> None:
    folder.mkdir()


def _write_new_file(path: Path, content: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(content)


def _link_or_copy(path: Path, backup: Path) -> None:
    try:
        os.link(path, backup)
    except OSError:
        # Some file systems have no hard links, and some users may not link files of others.
        _copy(path, backup)


def _copy(path: Path, backup: Path) -> None:
    try:
        shutil.copy2(path, backup)
    except BaseException:
        backup.unlink(missing_ok=True)
        raise


def _rename(old: Path, new: Path) -> None:
    """Rename a file. Between file systems, copy it beside the new path and rename the copy."""
    try:
        old.replace(new)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        copy = new.with_name(f".{new.name}.{randbits(48)}.new")
        try:
            _copy(old, copy)
            copy.replace(new)
        except BaseException:
            copy.unlink(missing_ok=True)
            raise
        old.unlink()


def _remove_empty_parents(path: Path) -> None:
    """Remove the folders above a deleted file that are empty now."""
    with suppress(OSError):
        for folder in path.parents:
            folder.rmdir()
