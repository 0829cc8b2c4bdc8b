"""A catalog as immutable data: Catalog → Package → Channel → Entry, and Package → Bundle.

The model holds what was written, valid or not: a package that is declared twice has two declarations, a
channel of an undeclared package belongs to a package without declarations, and an entry may refer to names
that do not exist. Validation is in `everpath.rules`.

All types are NamedTuples, because a frozen dataclass takes three times as long to create. Types with cached
properties are subclasses of a NamedTuple, because a NamedTuple itself has no `__dict__`.
"""

from __future__ import annotations

__all__ = [
    "DEPENDENCY_PROPERTIES",
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
    "ProblemKind",
    "Property",
    "Unread",
    "UpdateMode",
]

from collections.abc import Iterator, Mapping
from enum import Enum, StrEnum
from functools import cached_property
from typing import Final, Literal, NamedTuple

from everpath.manifest_access import Pointer

Dialect = Literal["fbc", "csv", "annotations"]

# The path to each field of an entry or a bundle, by the kind of document.
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


#: Properties by which a bundle requires something else on the cluster.
DEPENDENCY_PROPERTIES: Final = frozenset(("olm.package.required", "olm.gvk.required", "olm.constraint"))


class Place(NamedTuple):
    """The location of a value: a file, a document in it, and the path of keys to the value.

    `offset` is the first byte of the document. `on_key` means the last key instead of its value.
    `loaders.source_positions` computes lines and columns from it, only for findings.
    """

    file: str
    offset: int = 0
    pointer: Pointer = ()
    dialect: Dialect = "fbc"
    on_key: bool = False

    def at(self, *path: str | int) -> Place:
        """Return the place of a value below this one. The first key is a field name of the model."""
        if not path:
            return self
        first = path[0]
        head = _DIALECTS[self.dialect].get(first, (first,)) if isinstance(first, str) else (first,)
        return self._replace(pointer=(*self.pointer, *head, *path[1:]))

    def key(self, *path: str | int) -> Place:
        """Return the place of a key below this one. All keys are spelled as in the file."""
        return self._replace(pointer=(*self.pointer, *path), on_key=True)


class Unread(Enum):
    """The type of UNREAD, the value of a property that was not parsed because the graph does not need it."""

    UNREAD = "unread"


UNREAD: Final = Unread.UNREAD


class UpdateMode(StrEnum):
    """How edges follow from the bundles of a repository (`updateGraph` of ci.yaml)."""

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
    """A property of a bundle. `value` is a JSON value, or UNREAD."""

    type: str
    value: object
    place: Place


class Csv(NamedTuple):
    """The fields of a ClusterServiceVersion and of annotations.yaml that affect upgrades.

    `misplaced_ranges` has the ranges under keys that OLM does not read, with the path to each.
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
    misplaced_ranges: tuple[tuple[Pointer, str], ...] = ()


class Bundle(NamedTuple):
    """A bundle. `version` is the text in its olm.package property or in its CSV.

    `related_images` has the images that a rendered catalog lists. It is empty for a bundle folder, because
    opm collects them from all Deployments, which are not loaded for the upgrade graph.
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
        """Return the properties of one type, in the order of the file."""
        return (p for p in self.properties if p.type == kind)


class Entry(NamedTuple):
    """A channel entry: the name of a bundle, and the edges it has in this channel."""

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
    """A channel. Entries are in the order of the file."""

    @cached_property
    def by_name(self) -> Mapping[str, Entry]:
        """Entries by name. Of entries with the same name, the first."""
        found: dict[str, Entry] = {}
        for entry in self.entries:
            found.setdefault(entry.name, entry)
        return found


class DeprecationEntry(NamedTuple):
    """A deprecated package, channel or bundle, with the message for users."""

    schema: str
    name: str
    message: str
    place: Place


class Deprecations(NamedTuple):
    """An olm.deprecations document."""

    package: str
    place: Place
    entries: tuple[DeprecationEntry, ...] = ()


class Declaration(NamedTuple):
    """An olm.package document, or what follows from bundles if there is none.

    `inferred`: no bundle names a default channel. `is_single_bundle`: the input was the folder of one
    bundle, so other releases of the package are unknown.
    """

    place: Place
    default_channel: str = ""
    inferred: bool = False
    mode: UpdateMode | None = None
    is_single_bundle: bool = False


class _Package(NamedTuple):
    name: str
    declarations: tuple[Declaration, ...] = ()
    channels: tuple[Channel, ...] = ()
    bundles: tuple[Bundle, ...] = ()
    deprecations: tuple[Deprecations, ...] = ()


class Package(_Package):
    """Everything in a catalog with the same package name.

    It has no declaration if the name is only referred to, and several if it is declared more than once.
    """

    @cached_property
    def by_name(self) -> Mapping[str, Bundle]:
        """Bundles by name. Of bundles with the same name, the first."""
        found: dict[str, Bundle] = {}
        for bundle in self.bundles:
            found.setdefault(bundle.name, bundle)
        return found

    @cached_property
    def channels_by_name(self) -> Mapping[str, tuple[Channel, ...]]:
        """Channels by name, in the order of the file. opm rejects two channels with the same name."""
        found: dict[str, tuple[Channel, ...]] = {}
        for channel in self.channels:
            found[channel.name] = (*found.get(channel.name, ()), channel)
        return found

    @property
    def default_channel(self) -> str:
        """The default channel of the first declaration, or an empty string."""
        return self.declarations[0].default_channel if self.declarations else ""

    @property
    def is_single_bundle(self) -> bool:
        """Whether the input was the folder of one bundle, so that other releases are unknown."""
        return any(declaration.is_single_bundle for declaration in self.declarations)

    @cached_property
    def is_rendered(self) -> bool:
        """Whether the package is from a file-based catalog, not from bundle folders."""
        return not any(bundle.csv for bundle in self.bundles)

    @property
    def place(self) -> Place:
        """The place for a finding about the whole package."""
        for group in (self.declarations, self.channels, self.bundles, self.deprecations):
            for first in group:
                return first.place
        return Place("")

    def deprecations_by_name(self, schema: str) -> Mapping[str, DeprecationEntry]:
        """Return the deprecations of one schema by name. For olm.package the name is empty."""
        return {e.name: e for d in self.deprecations for e in d.entries if e.schema == schema}


class Other(NamedTuple):
    """A document with an unknown schema. opm calls these `others`."""

    schema: str
    package: str
    name: str
    place: Place


class ProblemKind(StrEnum):
    """What is wrong with a document. The value is the name of the rule that reports it."""

    UNREADABLE_DOCUMENT = "unreadable-document"
    DUPLICATE_KEY = "duplicate-key"
    BLANK_DOCUMENT = "blank-document"
    MISSING_SCHEMA = "missing-schema"
    WRONG_TYPE = "wrong-type"
    NON_STRING_NAME = "non-string-name"
    NOT_A_CATALOG_FILE = "not-a-catalog-file"
    LOSSY_NUMBER = "lossy-number"
    CASE_FOLDED_KEYS = "case-folded-keys"
    MISSPELLED_KEY = "misspelled-key"
    BAD_SEPARATOR = "bad-separator"
    UNKNOWN_UPDATE_MODE = "unknown-update-mode"
    UNTRIMMED_CHANNELS = "untrimmed-channels"
    NO_CSV = "no-csv"
    SEVERAL_CSVS = "several-csvs"
    NO_ANNOTATIONS = "no-annotations"


class Problem(NamedTuple):
    """Something that a loader could not put into the model."""

    kind: ProblemKind
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
    """Everything that was read from one input. Packages are sorted by name."""

    @cached_property
    def by_name(self) -> Mapping[str, Package]:
        """Packages by name."""
        return {package.name: package for package in self.packages}
