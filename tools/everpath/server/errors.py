"""What becomes of a catalog that may not be served."""

from __future__ import annotations

__all__ = ["Refused"]

from everpath.errors import EverpathError, ExitCode


class Refused(EverpathError):
    """A catalog that opm would not serve either."""

    exit_code = ExitCode.FINDINGS
