"""Package files: NAME.package.yaml of the package-manifest format, which opm no longer reads."""

from __future__ import annotations

__all__ = ["package_file_channels", "package_file_default", "package_file_name"]

from collections.abc import Iterator
from typing import Final

from everpath.manifest_access import items_at, string_at
from everpath.model.bundle_contents import PackageManifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import package_file_rule
from everpath.wording import join_names

_VALIDATOR: Final = "packagemanifest"


@package_file_rule("EP691", "package-file-name", Severity.ERROR, _VALIDATOR)
def package_file_name(file: PackageManifest) -> Iterator[Flaw]:
    """A package file names its package.

    Cost: one look-up.
    """
    if not string_at(file.body, "packageName"):
        place = file.place.at("packageName")
        yield Flaw(place, "the package file names no package", fix="add packageName")


@package_file_rule("EP692", "package-file-channels", Severity.ERROR, _VALIDATOR)
def package_file_channels(file: PackageManifest) -> Iterator[Flaw]:
    """A package file lists channels, each once, each with the CSV at its head.

    A channel without a CSV serves nobody. Cost: one look-up each.
    """
    channels = list(items_at(file.body, "channels"))
    if not channels:
        yield Flaw(file.place.at("channels"), "the package file lists no channels", fix="add a channel")
    seen: set[str] = set()
    for i, channel in channels:
        name, place = string_at(channel, "name"), file.place.at("channels", i)
        if not name:
            yield Flaw(place, f"channel number {i} has no name", fix="name it")
        if not string_at(channel, "currentCSV"):
            yield Flaw(place, f"the channel {name!r} has no currentCSV", fix="name the CSV at its head")
        if name in seen:
            yield Flaw(place, f"the channel {name!r} is listed twice", fix="keep one of the two")
        seen.add(name)


@package_file_rule("EP693", "package-file-default", Severity.ERROR, _VALIDATOR)
def package_file_default(file: PackageManifest) -> Iterator[Flaw]:
    """A package file with several channels says which is the default, and it is one of them.

    Whoever subscribes without naming a channel gets that one. Cost: one look-up.
    """
    names = [string_at(channel, "name") for _, channel in items_at(file.body, "channels")]
    default = string_at(file.body, "defaultChannel")
    place = file.place.at("defaultChannel")
    if not default and len(names) > 1:
        yield Flaw(place, "the package file names no default channel", fix=f"name one of {join_names(names)}")
    elif default and names and default not in names:
        message = f"the default channel {default!r} is none of the channels"
        yield Flaw(place, message, fix=f"name one of {join_names(names)}")
