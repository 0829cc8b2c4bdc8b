"""Parse and write a compact notation of upgrade graphs, used by tests and rule pages.

    [stable]                      a channel; without one the channel is called stable
    c: b / a, x / >=1.0.0 <2.0.0  entry: replaces / skips / skipRange (each may be left out or be -)
    b: a
    a@1.0.0-rc.1                  an entry with a version of its own
    old?                          an entry that has no bundle
    %default fast                 the default channel (else the first)
    %deprecated a: no longer kept a deprecated bundle and its message
    %prohibited b                 a bundle with the property olm.deprecated
    %dependent b                  a bundle that requires another package

The version follows from the name: `op.v1.2.3` and `1.2.3` contain it, `b3` is 3.0.0, `c` is 3.0.0.
"""

from __future__ import annotations

__all__ = ["format_channel", "parse"]

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from everpath.errors import UsageError
from everpath.model import (
    Bundle,
    Catalog,
    Channel,
    Declaration,
    DeprecationEntry,
    Deprecations,
    Entry,
    Place,
    Property,
)
from everpath.model.builder import CatalogBuilder
from everpath.versions import parse_or_none

_LINE = re.compile(r"(?P<name>[^\s:@?]+)(?:@(?P<version>[^\s:?]+))?(?P<absent>\?)?\s*(?::(?P<edges>.*))?")


@dataclass(slots=True)
class _Drawing:
    """The parts of a drawing."""

    package: str
    channels: dict[str, list[Entry]] = field(default_factory=dict)
    bundles: dict[str, Bundle] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    deprecated: dict[str, str] = field(default_factory=dict)
    prohibited: set[str] = field(default_factory=set)
    dependent: set[str] = field(default_factory=set)
    default: str = ""


def parse(text: str, package: str = "p") -> Catalog:
    """Return the catalog of a drawing; places are the lines of the drawing."""
    drawing = _Drawing(package)
    channel = "stable"
    for number, raw in enumerate(text.splitlines()):
        line = raw.partition("#")[0].strip()
        if line.startswith("[") and line.endswith("]"):
            channel = line[1:-1].strip()
            drawing.channels.setdefault(channel, [])
        elif line.startswith("%"):
            _directive(drawing, line[1:])
        elif line:
            _entry(drawing, channel, line, number)
    return _catalog(drawing)


def _directive(drawing: _Drawing, line: str) -> None:
    word, _, rest = line.partition(" ")
    if word == "default":
        drawing.default = rest.strip()
    elif word == "deprecated":
        name, _, message = rest.partition(":")
        drawing.deprecated[name.strip()] = message.strip()
    elif word == "prohibited":
        drawing.prohibited.add(rest.strip())
    elif word == "dependent":
        drawing.dependent.add(rest.strip())
    else:
        hint = "there are %default, %deprecated, %prohibited and %dependent"
        raise UsageError(f"no directive is called %{word}", hint=hint)


def _entry(drawing: _Drawing, channel: str, line: str, number: int) -> None:
    match = _LINE.fullmatch(line)
    if match is None:
        raise UsageError(
            f"line {number + 1} is no entry: {line!r}", hint="name: replaces / skips / skipRange"
        )
    name, version = match["name"], match["version"]
    fields = [part.strip() for part in re.split(r"(?:^|\s)/(?:\s|$)", match["edges"] or "")]
    replaces, skips, skip_range = ("" if f in "-–" else f for f in (*fields, "", "")[:3])
    place = Place("<drawing>", 0, (number,))
    drawing.channels.setdefault(channel, []).append(
        Entry(
            name,
            place,
            replaces=replaces or None,
            skips=tuple(s.strip() for s in skips.strip("[]").split(",") if s.strip()),
            skip_range=skip_range or None,
        )
    )
    if match["absent"]:
        drawing.absent.add(name)
    elif version or name not in drawing.bundles:
        drawing.bundles[name] = _bundle(drawing.package, name, version or _implied_version(name), place)


def _implied_version(name: str) -> str:
    """Return the version that a name implies."""
    tail = re.sub(r"^.*?\.v(?=\d)", "", name)
    if parse_or_none(tail):
        return tail
    if number := re.search(r"(\d+)$", name):
        return f"{int(number[1])}.0.0"
    return f"{sum(ord(c) - ord('a') + 1 for c in name[:1].lower())}.0.0"


def _bundle(package: str, name: str, version: str, place: Place) -> Bundle:
    value = {"packageName": package, "version": version}
    return Bundle(
        name,
        package,
        version,
        place,
        image=f"registry.example/{package}:{version.replace('+', '_')}",
        properties=(Property("olm.package", value, place),),
    )


def _catalog(drawing: _Drawing) -> Catalog:
    builder = CatalogBuilder()
    default = drawing.default or next(iter(drawing.channels), "")
    builder.declare(drawing.package, Declaration(Place("<drawing>"), default))
    for name, entries in drawing.channels.items():
        builder.add_channel(Channel(name, drawing.package, Place("<drawing>"), tuple(entries)))
    for bundle in _bundles(drawing):
        builder.add_bundle(bundle)
    if drawing.deprecated:
        deprecated = tuple(
            DeprecationEntry("olm.bundle", n, m, Place("<drawing>")) for n, m in drawing.deprecated.items()
        )
        builder.add_deprecations(Deprecations(drawing.package, Place("<drawing>"), deprecated))
    return builder.build("drawing")


def _bundles(drawing: _Drawing) -> Iterator[Bundle]:
    for name, bundle in drawing.bundles.items():
        if name in drawing.absent:
            continue
        extra = [Property("olm.deprecated", {}, bundle.place)] if name in drawing.prohibited else []
        if name in drawing.dependent:
            value = {"packageName": f"{drawing.package}-base", "versionRange": ">=1.0.0"}
            extra.append(Property("olm.package.required", value, bundle.place))
        yield bundle._replace(properties=(*bundle.properties, *extra))


def format_channel(channel: Channel) -> str:
    """Return a channel in the notation, with its entries in their order."""
    return "\n".join(_format_entry(entry) for entry in channel.entries)


def _format_entry(entry: Entry) -> str:
    fields = [entry.replaces or "-", ", ".join(entry.skips) or "-", entry.skip_range or "-"]
    while fields and fields[-1] == "-":
        fields.pop()
    return f"{entry.name}: {' / '.join(fields)}" if fields else entry.name
