"""Rules for package manifests: NAME.package.yaml of a format that opm no longer supports."""

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
def package_file_name(manifest: PackageManifest) -> Iterator[Flaw]:
    """A package manifest has packageName.

    Cost: one look-up.
    """
    if not string_at(manifest.body, "packageName"):
        place = manifest.place.at("packageName")
        yield Flaw(
            place, "validators reject the package manifest: it has no packageName", fix="add packageName"
        )


@package_file_rule("EP692", "package-file-channels", Severity.ERROR, _VALIDATOR)
def package_file_channels(manifest: PackageManifest) -> Iterator[Flaw]:
    """A package manifest lists channels with unique names, each with a currentCSV.

    A channel without currentCSV has no bundles. Cost: one look-up a channel.
    """
    channels = list(items_at(manifest.body, "channels"))
    if not channels:
        yield Flaw(
            manifest.place.at("channels"),
            "validators reject the package manifest: it has no channels",
            fix="add a channel",
        )
    seen: set[str] = set()
    for i, channel in channels:
        name, place = string_at(channel, "name"), manifest.place.at("channels", i)
        if not name:
            yield Flaw(place, f"channels[{i}] has no name", fix="add a name")
        if not string_at(channel, "currentCSV"):
            yield Flaw(
                place, f"the channel {name!r} has no bundles: it has no currentCSV", fix="add currentCSV"
            )
        if name in seen:
            yield Flaw(place, f"the channel {name!r} is listed twice", fix="remove one of them")
        seen.add(name)


@package_file_rule("EP693", "package-file-default", Severity.ERROR, _VALIDATOR)
def package_file_default(manifest: PackageManifest) -> Iterator[Flaw]:
    """A package manifest with several channels has a defaultChannel that is one of them.

    A Subscription without a channel uses the default channel. Cost: one look-up.
    """
    names = [string_at(channel, "name") for _, channel in items_at(manifest.body, "channels")]
    default = string_at(manifest.body, "defaultChannel")
    place = manifest.place.at("defaultChannel")
    if not default and len(names) > 1:
        message = "a Subscription without a channel fails: the package manifest has no defaultChannel"
        yield Flaw(place, message, fix=f"set it to one of {join_names(names)}")
    elif default and names and default not in names:
        message = f"a Subscription without a channel fails: the default channel {default!r} does not exist"
        yield Flaw(place, message, fix=f"set it to one of {join_names(names)}")
