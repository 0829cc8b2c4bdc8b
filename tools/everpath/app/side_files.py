"""The small files that tell others how to read the bundles and the catalog; what is in them already stays."""

from __future__ import annotations

__all__ = ["ignore_file", "mode_file"]

from pathlib import Path
from typing import Final

from everpath.errors import UnreadableInput
from everpath.model import UpdateMode

_MODE: Final = f"updateGraph: {UpdateMode.REPLACES.value}\n".encode()


def mode_file(bundles: Path) -> dict[Path, bytes]:
    """Tells readers of a package's bundles to take the edges of the CSVs; anybody's own file stays."""
    if (bundles / "ci.yml").exists():
        return {}
    file = bundles / "ci.yaml"
    return {file: _read(file) or _MODE}


def ignore_file(source: Path) -> dict[Path, bytes]:
    """Keeps the source out of the sight of whatever loads its folder; what else is ignored stays so."""
    file, line = source.parent / ".indexignore", f"/{source.name}".encode()
    content = _read(file)
    if line in content.split():
        return {file: content}
    return {file: content + (b"" if content.endswith(b"\n") or not content else b"\n") + line + b"\n"}


def _read(file: Path) -> bytes:
    """What is in a file, nothing where there is none."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise UnreadableInput(f"cannot read {file}: {error.strerror or error}", file=str(file)) from error
