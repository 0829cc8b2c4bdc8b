"""Errors of the server."""

from __future__ import annotations

__all__ = ["CatalogRefused"]

from everpath.errors import EverpathError, ExitCode


class CatalogRefused(EverpathError):
    """The catalog is readable, but opm or catalogd would refuse to serve it."""

    exit_code = ExitCode.FINDINGS
