"""Manifests of each configuration version. Pure: the same spec gives the same manifests."""
