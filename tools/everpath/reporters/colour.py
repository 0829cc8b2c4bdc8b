"""Colours of text on terminals."""

from __future__ import annotations

__all__ = ["Paint"]

from typing import Final, NamedTuple

from everpath.rules.findings import Severity

_CODES: Final = {"bold": "1", "dim": "2", "red": "1;31", "yellow": "1;33", "cyan": "36", "green": "32"}
_SEVERITIES: Final = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


class Paint(NamedTuple):
    """Colours a text if `on`. The text must be printable."""

    on: bool = False

    def __call__(self, colour: str, text: str) -> str:
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if self.on and text else text

    def severity(self, severity: Severity, text: str) -> str:
        return self(_SEVERITIES[severity], text)
