"""List the packages, channels and bundles of catalogs."""

from __future__ import annotations

__all__ = ["list_bundles", "list_channels", "list_packages"]

from collections.abc import Collection, Iterator

from everpath.app.inputs.inputs import Inputs
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model.progress import Progress
from everpath.reporters.listing import BundleRow, ChannelRow, PackageRow


def list_packages(
    inputs: Inputs,
    packages: Collection[str] = (),
    channels: Collection[str] = (),
    progress: Progress | None = None,
) -> list[PackageRow]:
    """Return a row for each package; with `channels`, only packages that have one of them.

    The functions of this module load the inputs. They raise an error for an unknown package or channel.
    """
    rows = []
    for package, _ in _select(inputs, packages, channels, progress):
        default = package.package.default_channel
        channel = package.by_name.get(default)
        rows.append(
            PackageRow(
                name=package.name,
                default_channel=default or None,
                head=channel.head if channel else None,
                version=_head_version(channel),
                heads=tuple(channel.heads) if channel else (),
                channels=len(package.channels),
                bundles=len(package.package.bundles),
            )
        )
    return rows


def list_channels(
    inputs: Inputs,
    packages: Collection[str] = (),
    channels: Collection[str] = (),
    progress: Progress | None = None,
) -> list[ChannelRow]:
    """Return a row for each channel, sorted by name within a package."""
    return [
        ChannelRow(
            package=package.name,
            name=channel.name,
            is_default=channel.name == package.package.default_channel,
            head=channel.head,
            version=_head_version(channel),
            heads=tuple(channel.heads),
            entries=len(channel.entries),
        )
        for package, selected in _select(inputs, packages, channels, progress)
        for channel in selected
    ]


def list_bundles(
    inputs: Inputs,
    packages: Collection[str] = (),
    channels: Collection[str] = (),
    progress: Progress | None = None,
) -> list[BundleRow]:
    """Return a row for each entry of each channel, the highest version first, with its edges.

    If no channel of a package is left out, its bundles in no channel follow.
    """
    rows = []
    for package, selected in _select(inputs, packages, channels, progress):
        for channel in selected:
            without_version = sorted(channel.entries.keys() - channel.versions.keys())
            newest_first = [*reversed(channel.by_version), *without_version]
            rows += [_bundle_row(package, name, channel) for name in newest_first]
        if len(selected) == len(package.channels):
            names = (bundle.name for bundle in package.package.bundles)
            rows += [_bundle_row(package, n, None) for n in names if n not in package.channels_by_entry]
    return rows


def _select(
    inputs: Inputs, packages: Collection[str], channels: Collection[str], progress: Progress | None
) -> Iterator[tuple[PackageGraph, list[ChannelGraph]]]:
    """Load the inputs and yield each selected package with its selected channels."""
    for catalog in inputs.catalogs(progress):
        for package in catalog.packages:
            if not packages or package.name in packages:
                graph = PackageGraph(package)
                selected = [each for each in graph.channels if not channels or each.name in channels]
                if selected or not channels:
                    yield graph, sorted(selected, key=lambda each: each.name)
    inputs.verify_names(packages, channels)


def _head_version(channel: ChannelGraph | None) -> str | None:
    """Return the version of the only head; None if there is not exactly one."""
    bundle = channel.bundle(channel.head) if channel and channel.head else None
    return bundle.version if bundle else None


def _bundle_row(package: PackageGraph, name: str, channel: ChannelGraph | None) -> BundleRow:
    bundle = package.package.by_name.get(name)
    entry = channel.entries[name] if channel else None
    return BundleRow(
        package=package.name,
        channel=channel.name if channel else None,
        name=name,
        version=bundle.version if bundle else None,
        replaces=entry.replaces if entry else None,
        skips=tuple(entry.skips) if entry else (),
        skip_range=entry.skip_range if entry else None,
        image=(bundle.image or None) if bundle else None,
    )
