"""Upgrade paths between versions: their number, constraints on them, and the smallest mirror that keeps them.

A path here is a tuple of names: any sequence of hops that edges allow, of which there may be 2^n. The one
that OLM takes from an installed version is an `upgrade_path.UpgradePath`.

report            answers one query about a package
hop_graph         the hops that edges allow, or that a resolver makes
resolver_hops     the next hop of every installed version under one resolver
path_counts       number of paths, the longest, and paths in order of length
reachability      shortest paths, and what can be reached
constraints       `--must-pass` and `--never`
outside_versions  installed versions that are not entries of a channel and have a hop into it
mirror            the smallest mirror of a channel: `mirror_v0`, `mirror_v1`, `set_cover`, `bundle_list`
bundle_selector   names, versions and ranges of the command line
"""
