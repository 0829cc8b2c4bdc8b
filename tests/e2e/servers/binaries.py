"""Paths of the real programs: those built by `tests/e2e/servers/build.sh`, and etcd of the distribution."""

from __future__ import annotations

__all__ = ["Binaries", "NotAvailableError"]

import os
import shutil
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

_VARIABLE: Final = "EVERPATH_REAL"


class NotAvailableError(LookupError):
    """The real programs are not available; the message says how to install them."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """Paths of the programs, and of the folders with the CRDs of OLM v0 and v1.

    A file built by build.sh has the name of its field, with hyphens.
    """

    etcd: Path
    kube_apiserver: Path
    kube_controller_manager: Path
    catalog: Path
    olm: Path
    copy_content: Path
    operator_controller: Path
    catalogd: Path
    opm: Path
    olm_v0_crds: Path
    olm_v1_crds: Path

    @classmethod
    def locate(cls) -> Binaries:
        """Use the folder in EVERPATH_REAL and the etcd on the PATH.

        Raises NotAvailableError if the variable is not set or there is no etcd. Raises FileNotFoundError if
        the folder lacks a program: a user who sets the variable must not get a run that skips the tests.
        """
        folder = os.environ.get(_VARIABLE)
        if not folder:
            raise NotAvailableError(
                f"{_VARIABLE} is not set; `make e2e` builds the real programs and sets it (needs Go)"
            )
        etcd = shutil.which("etcd")
        if etcd is None:
            raise NotAvailableError("there is no etcd on the PATH; `scripts/real-parts` installs it")
        names = (field.name for field in fields(cls) if field.name != "etcd")
        return cls(Path(etcd), *(_existing_path(Path(folder), name.replace("_", "-")) for name in names))


def _existing_path(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.exists():
        raise FileNotFoundError(
            f"{_VARIABLE} names {folder}, which lacks {name}; tests/e2e/servers/build.sh builds it"
        )
    return path
