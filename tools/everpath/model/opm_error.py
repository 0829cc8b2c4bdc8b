"""The error for input that opm rejects."""

from __future__ import annotations

__all__ = ["OpmError"]

from everpath.model.catalog import Place


class OpmError(Exception):
    """Input that opm rejects: the reason, the place and a fix.

    Rendering raises it at the first error; `rules.opm_errors` returns all errors of a package. Input that
    comes from no file has an empty place. `rule` is the rule that reports the same error.
    """

    def __init__(
        self,
        message: str,
        place: Place | None = None,
        fix: str | None = None,
        *,
        package: str = "",
        channel: str | None = None,
        rule: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.place = place if place is not None else Place("")
        self.fix = fix
        self.package = package
        self.channel = channel
        self.rule = rule
