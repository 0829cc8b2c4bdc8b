"""What to type where a command needs libraries that only an extra brings."""

from __future__ import annotations

__all__ = ["install_extra_hint"]


def install_extra_hint(extra: str) -> str:
    """How to install an extra. The clone comes first: it works also where no release is published."""
    return (
        f"pip install '.[{extra}]' in a clone, or pip install 'everpath[{extra}]' once a release is published"
    )
