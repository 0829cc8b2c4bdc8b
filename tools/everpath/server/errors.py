"""Errors of the server."""

from __future__ import annotations

__all__ = ["CatalogRejected"]

from everpath.errors import EverpathError, ExitCode


class CatalogRejected(EverpathError):
    """The catalog is readable, but opm or catalogd would not serve it."""

    exit_code = ExitCode.FINDINGS
