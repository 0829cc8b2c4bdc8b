"""From the paths of a command line to catalogs, and from a wrong name to the one that was meant."""

from __future__ import annotations

__all__ = ["Inputs", "Names", "default_path", "missing", "say_unread", "unreadable", "unreadable_parts"]

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from everpath.app.config import Config
from everpath.cli.image_inputs import local, shown
from everpath.cli.saying import say
from everpath.errors import EverpathError, UnreadableInput, UsageError
from everpath.loaders.catalog_loader import Progress, load
from everpath.loaders.location import SourcePosition
from everpath.loaders.partition import WHOLE, Partition
from everpath.loaders.sources import STANDARD_INPUT, Sources
from everpath.model import Catalog, Place, Problem, UpdateMode
from everpath.reporters.formatting import count
from everpath.rules.registry import rules_for_subjects

if TYPE_CHECKING:
    from everpath.app.lint_cache import LintCache
    from everpath.file_cache import FileCache


def _cache() -> FileCache | None:
    """The index of repositories that the environment asks for."""
    from everpath.file_cache import FileCache  # noqa: PLC0415 - only a repository has one

    return FileCache.from_environment(os.environ)


class Names(dict[str, set[str]]):
    """The packages there are, and the channels of each."""

    @classmethod
    def of(cls, catalog: Catalog) -> Names:
        return cls((package.name, {c.name for c in package.channels}) for package in catalog.packages)


class Inputs:
    """What one run reads. Remembers packages and channels it met, and how many parts it could not read."""

    def __init__(
        self, paths: Sequence[str], config: Config, default_mode: str | None = None, thorough: bool = False
    ) -> None:
        self.paths = paths
        self.config = config
        self.default_mode = default_mode
        self.thorough = thorough
        self.sources = Sources()
        self.names = Names()
        self.unread = 0
        #: Why paths could not be read at all, of which the others were.
        self.missed: list[UnreadableInput] = []

    @property
    def chosen(self) -> Sequence[str]:
        """The paths of the command line, or of the configuration, or the usual one."""
        paths = self.paths or self.config.paths or (default_path(),)
        if list(paths).count(STANDARD_INPUT) > 1:
            raise UsageError("standard input can be read only once", hint="give - a single time")
        return paths

    def catalogs(self, progress: Progress | None) -> Iterator[Catalog]:
        """Each path as a catalog of its own, read when it is its turn."""
        for path in self.chosen:
            catalog = self.read(path, progress)
            self.note(Names.of(catalog))
            self.unread += unreadable_parts(catalog)
            yield catalog

    @property
    def mode(self) -> str | None:
        """How edges are made where a ci.yaml does not say; None if nobody else does either."""
        return self.default_mode or self.config.default_update_mode

    def read(
        self,
        path: str,
        progress: Progress | None,
        partition: Partition = WHOLE,
        lint_cache: Callable[[], LintCache | None] | None = None,
    ) -> Catalog:
        """The catalog at one path, or a partition of it, without what verdicts stand on."""
        found = local(path, progress)
        catalog = load(
            found,
            sources=self.sources,
            progress=progress,
            thorough=self.thorough,
            cache=_cache,
            default_mode=UpdateMode(self.mode) if self.mode else None,
            partition=partition,
            package_filter=lint_cache,
        ).catalog
        return catalog if found == path else catalog._replace(name=path.removeprefix("docker://"))

    def lint_cache(self, path: str, question: object) -> LintCache | None:
        """What was found at a path before, for a question; None where nothing is to be remembered."""
        from everpath.app.lint_cache import LintCache  # noqa: PLC0415 - only a repository has any

        cache = None if self.thorough else _cache()
        return LintCache.for_path(cache, path, (self.mode, question)) if cache else None

    def note(self, names: Names) -> None:
        """Remember names that are there."""
        for package, channels in names.items():
            self.names.setdefault(package, set()).update(channels)

    def verify(self, packages: Iterable[str], channels: Iterable[str]) -> None:
        """Raise an error for a name that nothing was called: a typo must not look like a clean catalog."""
        wanted = set(packages)
        for name in sorted(wanted - self.names.keys()):
            raise self._unknown("package", name, set(self.names))
        there = {c for p, names in self.names.items() if not wanted or p in wanted for c in names}
        for name in sorted(set(channels) - there):
            raise self._unknown("channel", name, there)

    def _unknown(self, kind: str, name: str, names: set[str]) -> EverpathError:
        from difflib import get_close_matches  # noqa: PLC0415 - only who mistypes pays for it

        near = get_close_matches(name, sorted(names), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"{self.listing(f'{kind}s')} lists what there is"
        return missing(f"no {kind} is called {name!r}", hint, self.unread)

    def listing(self, noun: str, package: str | None = None) -> str:
        """The command that lists what was read here, and no other catalog; it takes one path."""
        from shlex import quote  # noqa: PLC0415 - only a wrong name needs it

        where = "" if not self.paths else " PATH" if len(self.paths) > 1 else f" {quote(self.paths[0])}"
        return f"`everpath list {noun}{where}{f' -p {quote(package)}' if package else ''}`"

    def refuse_missed(self, *, all_of_them: bool = False) -> None:
        """Raise UnreadableInput for the paths that could not be read; or only if there was no other."""
        if self.missed and (not all_of_them or len(self.missed) == len(self.chosen)):
            said = "; ".join(error.message for error in self.missed)
            raise UnreadableInput(said, hint=self.missed[0].hint, file=self.missed[0].file)

    def no_package(self) -> EverpathError:
        """The error of a question about a package where there is none."""
        return missing("there is no package here", "everpath validate-graph says what was read", self.unread)

    def locate(self, place: Place) -> SourcePosition:
        """The line of a place; without a line when the file cannot be read (again)."""
        from everpath.loaders import source_positions  # noqa: PLC0415 - a clean catalog needs no lines

        try:
            found = self.config.locate(place) or source_positions.locate(place, self.sources)
        except UnreadableInput:
            found = SourcePosition(place.file, 0, 0, 0, "")
        return found._replace(file=shown(found.file))


def default_path() -> str:
    """What is read where nothing is named."""
    return "catalog" if os.path.isdir("catalog") else "."


def missing(said: str, hint: str, unread: int) -> EverpathError:
    """The error over something that is not there, or may be in what could not be read."""
    if not unread:
        return UsageError(said, hint=hint)
    message = f"{said}, and {count(unread, 'part')} could not be read"
    return UnreadableInput(message, hint="everpath validate-graph says which")


def say_unread(unread: int) -> None:
    """On standard error: that an answer is about less than the whole."""
    said = f"warning: {count(unread, 'part')} could not be read; everpath validate-graph says which"
    say(said)


def unreadable_parts(catalog: Catalog) -> int:
    """How many parts of a catalog could not be read at all."""
    return sum(1 for _ in unreadable(catalog))


def unreadable(catalog: Catalog) -> Iterator[Problem]:
    """Why parts of a catalog could not be read, and where they are."""
    kinds = (
        {rule.name for rule in rules_for_subjects(("catalog",)) if rule.unreadable}
        if catalog.problems
        else ()
    )
    return (problem for problem in catalog.problems if problem.kind in kinds)
