"""What a catalog says, as plain frozen data: Catalog → Package → Channel → Entry, and Bundle once a package.

The model holds whatever was written, right or wrong: a package declared twice has two declarations, a
channel of an undeclared package sits in a package with none, an entry may name what exists nowhere. To
judge is the business of `everpath.rules`.

All of it are NamedTuples: as frozen as a frozen dataclass, made in a third of the time, and the class in an
eighth. What remembers an answer is a subclass of one, for a tuple has no room for it.
"""

from __future__ import annotations

__all__ = [
    "UNREAD",
    "Bundle",
    "Catalog",
    "Channel",
    "Csv",
    "Declaration",
    "DeprecationEntry",
    "Deprecations",
    "Entry",
    "Gvk",
    "Other",
    "Package",
    "Place",
    "Problem",
    "Property",
    "Unread",
    "UpdateMode",
]

from collections.abc import Iterator, Mapping
from enum import Enum, StrEnum
from functools import cached_property
from typing import Final, Literal, NamedTuple

Dialect = Literal["fbc", "csv", "annotations"]

# Where a reader finds the fields of an entry or a bundle, by the kind of document that states them.
_DIALECTS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "fbc": {},
    "csv": {
        "name": ("metadata", "name"),
        "replaces": ("spec", "replaces"),
        "skips": ("spec", "skips"),
        "skipRange": ("metadata", "annotations", "olm.skipRange"),
        "version": ("spec", "version"),
    },
    "annotations": {
        "package": ("annotations", "operators.operatorframework.io.bundle.package.v1"),
        "channels": ("annotations", "operators.operatorframework.io.bundle.channels.v1"),
        "defaultChannel": ("annotations", "operators.operatorframework.io.bundle.channel.default.v1"),
    },
}


class Place(NamedTuple):
    """Where something is written: a file, the document in it, and the way down to a value.

    Lines and columns are not kept: `loaders.positions` finds them again from this, for findings only.
    `offset` is the byte at which the document starts; `on_key` means the last key, not the value behind it.
    """

    file: str
    offset: int = 0
    pointer: tuple[str | int, ...] = ()
    dialect: Dialect = "fbc"
    on_key: bool = False

    def at(self, *steps: str | int) -> Place:
        """The place of a value below this one, named as the model names it."""
        if not steps:
            return self
        first = steps[0]
        head = _DIALECTS[self.dialect].get(first, (first,)) if isinstance(first, str) else (first,)
        return self._replace(pointer=(*self.pointer, *head, *steps[1:]))

    def key(self, *way: str | int) -> Place:
        """The place of a key below this one, spelled as it is written."""
        return self._replace(pointer=(*self.pointer, *way), on_key=True)


class Unread(Enum):
    """The value of a property that is too large to read for the graph's sake."""

    UNREAD = "unread"


UNREAD: Final = Unread.UNREAD


class UpdateMode(StrEnum):
    """How a bundle repository makes edges (`updateGraph` of ci.yaml)."""

    REPLACES = "replaces-mode"
    SEMVER = "semver-mode"
    SEMVER_SKIPPATCH = "semver-skippatch"


class Gvk(NamedTuple):
    """Group, version and kind of a Kubernetes API."""

    group: str
    version: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind} ({self.group}/{self.version})"


class Property(NamedTuple):
    """One typed property of a bundle; `value` is what JSON would hold, or UNREAD."""

    type: str
    value: object
    place: Place


class Csv(NamedTuple):
    """What a bundle folder's ClusterServiceVersion and annotations.yaml say about upgrades.

    `stray_ranges` are texts under keys where nobody reads a range, each with the way to it.
    """

    place: Place
    version: str | None = None
    replaces: str | None = None
    skips: tuple[str, ...] = ()
    skip_range: str | None = None
    substitutes_for: str | None = None
    metadata_keys: tuple[str, ...] = ()
    annotation_keys: tuple[str, ...] = ()
    spec_keys: tuple[str, ...] = ()
    folder: str | None = None
    annotations: Place | None = None
    package: str | None = None
    channels: tuple[str, ...] = ()
    default_channel: str | None = None
    stray_ranges: tuple[tuple[tuple[str | int, ...], str], ...] = ()


class Bundle(NamedTuple):
    """One released version. `version` is as written, from its olm.package property (or its CSV).

    `related_images` are those a rendered catalog lists. A bundle's folder has none here: opm makes the list
    of the images in every deployment, which no look at upgrades needs and no repository can be read for.
    """

    name: str
    package: str
    version: str | None
    place: Place
    image: str = ""
    release: str | None = None
    properties: tuple[Property, ...] = ()
    related_images: tuple[tuple[str, str], ...] = ()
    has_objects: bool = False
    csv: Csv | None = None

    def properties_of(self, kind: str) -> Iterator[Property]:
        """Its properties of one type, in the order they are written."""
        return (p for p in self.properties if p.type == kind)


class Entry(NamedTuple):
    """A bundle's membership in one channel, with the edges it declares there."""

    name: str
    place: Place
    replaces: str | None = None
    skips: tuple[str, ...] = ()
    skip_range: str | None = None


class _Channel(NamedTuple):
    name: str
    package: str
    place: Place
    entries: tuple[Entry, ...] = ()


class Channel(_Channel):
    """A named stream of updates; entry order is the order they were written in."""

    @cached_property
    def by_name(self) -> Mapping[str, Entry]:
        """Entries by name; of two with one name the first, as the rule that reports them assumes."""
        found: dict[str, Entry] = {}
        for entry in self.entries:
            found.setdefault(entry.name, entry)
        return found


class DeprecationEntry(NamedTuple):
    """One deprecated package, channel or bundle."""

    schema: str
    name: str
    message: str
    place: Place


class Deprecations(NamedTuple):
    """One olm.deprecations document."""

    package: str
    place: Place
    entries: tuple[DeprecationEntry, ...] = ()


class Declaration(NamedTuple):
    """One olm.package document, or what a bundle repository implies in its stead.

    `alone`: implied by the folder of one bundle, which does not say what else the package has.
    """

    place: Place
    default_channel: str = ""
    inferred: bool = False
    mode: UpdateMode | None = None
    alone: bool = False


class _Package(NamedTuple):
    name: str
    declarations: tuple[Declaration, ...] = ()
    channels: tuple[Channel, ...] = ()
    bundles: tuple[Bundle, ...] = ()
    deprecations: tuple[Deprecations, ...] = ()


class Package(_Package):
    """All that a catalog says under one package name.

    No declaration: the name is only referred to. Several: it is declared more than once.
    """

    @cached_property
    def by_name(self) -> Mapping[str, Bundle]:
        """Bundles by name, the first of each name."""
        found: dict[str, Bundle] = {}
        for bundle in self.bundles:
            found.setdefault(bundle.name, bundle)
        return found

    @cached_property
    def channels_by_name(self) -> Mapping[str, tuple[Channel, ...]]:
        """Channels by name, in their order: opm refuses a second one of a name, and users may have it."""
        found: dict[str, tuple[Channel, ...]] = {}
        for channel in self.channels:
            found[channel.name] = (*found.get(channel.name, ()), channel)
        return found

    @property
    def default_channel(self) -> str:
        """The default channel of the first declaration, or an empty string."""
        return self.declarations[0].default_channel if self.declarations else ""

    @property
    def is_one_release(self) -> bool:
        """Whether one bundle's folder was read: the releases before it exist, but elsewhere."""
        return any(declaration.alone for declaration in self.declarations)

    @property
    def place(self) -> Place:
        """Where to point for a finding about the package as a whole."""
        for group in (self.declarations, self.channels, self.bundles, self.deprecations):
            for first in group:
                return first.place
        return Place("")

    def deprecated(self, schema: str) -> Mapping[str, DeprecationEntry]:
        """Names deprecated under one schema (for olm.package the name is empty)."""
        return {e.name: e for d in self.deprecations for e in d.entries if e.schema == schema}


class Other(NamedTuple):
    """A document of a schema everpath does not know; kept, never interpreted."""

    schema: str
    package: str
    name: str
    place: Place


class Problem(NamedTuple):
    """Something the reader met and could not turn into the model; `kind` is the name of its rule."""

    kind: str
    place: Place
    message: str
    fix: str | None = None
    package: str | None = None
    entry: str | None = None


class _Catalog(NamedTuple):
    name: str
    packages: tuple[Package, ...] = ()
    others: tuple[Other, ...] = ()
    problems: tuple[Problem, ...] = ()


class Catalog(_Catalog):
    """Everything read from one input, packages in order of name."""

    @cached_property
    def by_name(self) -> Mapping[str, Package]:
        """Packages by name."""
        return {package.name: package for package in self.packages}
