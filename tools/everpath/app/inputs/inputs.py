"""Load the catalogs that a command reads, and find the position of a finding in them."""

from __future__ import annotations

__all__ = [
    "Inputs",
    "PackageNames",
    "default_path",
    "not_found_error",
    "unreadable_part_count",
    "unreadable_parts",
]

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from everpath.app.config.config import Config
from everpath.app.inputs.image_inputs import display_name, pull_if_image
from everpath.errors import EverpathError, UnreadableInput, UsageError
from everpath.loaders.catalog_loader import load
from everpath.loaders.partition import WHOLE, Partition
from everpath.loaders.sources import STANDARD_INPUT, Sources
from everpath.model import Catalog, Place, Problem, SourcePosition, UpdateMode
from everpath.model.progress import Progress
from everpath.rules.registry import rules_for_subjects
from everpath.wording import count

if TYPE_CHECKING:
    from everpath.file_cache import FileCache


class PackageNames(dict[str, set[str]]):
    """The channel names of each package, by package name."""

    @classmethod
    def of(cls, catalog: Catalog) -> PackageNames:
        return cls((package.name, {c.name for c in package.channels}) for package in catalog.packages)


class Inputs:
    """The catalogs of one run.

    `names` has all packages and channels loaded so far, `unread` the number of parts that could not be
    read, `failed` the errors of paths that could not be read at all.
    """

    def __init__(
        self, paths: Sequence[str], config: Config, default_mode: str | None = None, thorough: bool = False
    ) -> None:
        self.paths = paths
        self.config = config
        self.default_mode = default_mode
        self.thorough = thorough
        self.sources = Sources()
        self.names = PackageNames()
        self.unread = 0
        self.failed: list[UnreadableInput] = []

    def chosen_paths(self) -> Sequence[str]:
        """Return the given paths, those of the configuration, or `catalog` if that folder exists, or `.`."""
        paths = self.paths or self.config.paths or (default_path(),)
        if list(paths).count(STANDARD_INPUT) > 1:
            raise UsageError("standard input can be read only once", hint="give - a single time")
        return paths

    def catalogs(self, progress: Progress | None) -> Iterator[Catalog]:
        """Load each path as a catalog, when it is requested."""
        for path in self.chosen_paths():
            catalog = self.load(path, progress)
            self.add_names(PackageNames.of(catalog))
            self.unread += unreadable_part_count(catalog)
            yield catalog

    @property
    def update_mode(self) -> str | None:
        """The update mode of packages whose ci.yaml has none; None for that of the loader."""
        return self.default_mode or self.config.default_update_mode

    def load(self, path: str, progress: Progress | None) -> Catalog:
        """Load one path. An image is pulled first."""
        return self.load_folder(path, pull_if_image(path, progress), progress)

    def load_folder(
        self, path: str, folder: str, progress: Progress | None, partition: Partition = WHOLE
    ) -> Catalog:
        """Load a path, or a partition of it. `folder` is what `pull_if_image` has returned for the path."""
        catalog = load(
            folder,
            sources=self.sources,
            progress=progress,
            thorough=self.thorough,
            cache=_file_cache,
            default_mode=UpdateMode(self.update_mode) if self.update_mode else None,
            partition=partition,
        ).catalog
        return catalog if folder == path else catalog._replace(name=path.removeprefix("docker://"))

    def add_names(self, names: PackageNames) -> None:
        for package, channels in names.items():
            self.names.setdefault(package, set()).update(channels)

    def verify_names(self, packages: Iterable[str], channels: Iterable[str]) -> None:
        """Raise an error for an unknown package or channel; otherwise a typo looks like a clean catalog."""
        wanted = set(packages)
        for name in sorted(wanted - self.names.keys()):
            raise self._unknown("package", name, set(self.names))
        known = {c for p, names in self.names.items() if not wanted or p in wanted for c in names}
        for name in sorted(set(channels) - known):
            raise self._unknown("channel", name, known)

    def _unknown(self, kind: str, name: str, names: set[str]) -> EverpathError:
        from difflib import get_close_matches  # noqa: PLC0415 - only for an error

        near = get_close_matches(name, sorted(names), n=1)
        hint = (
            f"did you mean {near[0]!r}?" if near else f"{self.list_command(f'{kind}s')} lists what there is"
        )
        return not_found_error(f"no {kind} is called {name!r}", hint, self.unread)

    def list_command(self, noun: str, package: str | None = None) -> str:
        """Return the `everpath list` command for this input."""
        from shlex import quote  # noqa: PLC0415 - only for an error

        path = "" if not self.paths else " PATH" if len(self.paths) > 1 else f" {quote(self.paths[0])}"
        return f"`everpath list {noun}{path}{f' -p {quote(package)}' if package else ''}`"

    def raise_failed(self, *, only_if_all: bool = False) -> None:
        """Raise UnreadableInput for the paths that could not be read at all."""
        if self.failed and (not only_if_all or len(self.failed) == len(self.chosen_paths())):
            message = "; ".join(error.message for error in self.failed)
            raise UnreadableInput(message, hint=self.failed[0].hint, file=self.failed[0].file)

    def no_package_error(self) -> EverpathError:
        hint = "everpath validate-graph says what was read"
        return not_found_error("there is no package here", hint, self.unread)

    def locate(self, place: Place) -> SourcePosition:
        """Return the line of a place; line 0 if the file cannot be read again."""
        from everpath.loaders import source_positions  # noqa: PLC0415 - a clean catalog needs no lines

        try:
            location = self.config.locate(place) or source_positions.locate(place, self.sources)
        except UnreadableInput:
            location = SourcePosition(place.file, 0, 0, 0, "")
        return location._replace(file=display_name(location.file))


def _file_cache() -> FileCache | None:
    from everpath.file_cache import FileCache  # noqa: PLC0415 - only for repositories

    return FileCache.from_environment(os.environ)


def default_path() -> str:
    return "catalog" if os.path.isdir("catalog") else "."


def not_found_error(message: str, hint: str, unread: int) -> EverpathError:
    """Return a UsageError; UnreadableInput if the name may be in one of the `unread` parts."""
    if not unread:
        return UsageError(message, hint=hint)
    message = f"{message}, and {count(unread, 'part')} could not be read"
    return UnreadableInput(message, hint="everpath validate-graph says which")


def unreadable_part_count(catalog: Catalog) -> int:
    return sum(1 for _ in unreadable_parts(catalog))


def unreadable_parts(catalog: Catalog) -> Iterator[Problem]:
    """Yield a problem for each part of a catalog that could not be read."""
    kinds = (
        {rule.name for rule in rules_for_subjects(("catalog",)) if rule.unreadable}
        if catalog.problems
        else ()
    )
    return (problem for problem in catalog.problems if problem.kind in kinds)
