"""Upgrade paths: the versions that OLM installs one after the other on a cluster.

    from everpath.upgrade_path.channel_paths import ChannelPaths, upgrade_paths

    paths = upgrade_paths(package_graph, channel_graph, "v0")
    path = paths["op.v1.0.0"]
    path.next, path.last, len(path.hops), path.end, path.failure, path.reason

`upgrade_paths` returns the path of every entry of a channel. `ChannelPaths` returns single paths, also of
versions that are not in the channel and of new installations:

    paths = ChannelPaths(package_graph, channel_graph, "v1")
    paths.entry_path("op.v1.0.0")                            an entry of the channel
    paths.path(InstalledBundle("op.v0.9.0", Version(0, 9)))  anything installed
    paths.path(None)                                         a new installation
    paths.next_hops, paths.goals                             the data that paths are made of

`ClusterExtensionPaths` returns the paths of a ClusterExtension that is not limited to one channel of one
catalog.

Every `UpgradePath` is made in this package. Other packages only copy one, with the catalog or the channels
that they know.

Cost: O((edges + ranges) · log n) for a channel of n entries, then a constant for each entry and O(log n) for
another installed version. Hops are computed while they are iterated, because all hops of a channel are n²/2.
`len(path.hops)`, `path.next`, `path.last` and comparing two paths of one `PathInterner` cost a constant.
`path.reason` is computed on access.
"""
