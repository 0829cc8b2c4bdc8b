"""Bundles as they stand in their folders: what opm and operator-framework/api check, rule by rule."""
