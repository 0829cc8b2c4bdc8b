"""Resolvers: what opm accepts, and what OLM v0 and OLM v1 install next.

    opm                  whether `opm validate` accepts a channel
    opm_revalidation     the same after an edit, without validating the whole channel again
    olm_v0, olm_v1       the next hop of every entry of a channel at once
    subscription         OLM v0: the resolution of one Subscription, with its trace
    cluster_extension    OLM v1: the resolution of one ClusterExtension over all catalogs, with its trace

Each mirrors the Go code that it names, not documentation; `make conformance` compares them with that code.
"""

from __future__ import annotations

__all__ = ["CACHED_CHANNELS", "ResolverName"]

from typing import Final, Literal

ResolverName = Literal["v0", "v1"]

#: The number of channels whose results are cached. Rules visit one channel after the other, package rules all
#: channels of a package.
CACHED_CHANNELS: Final = 64
