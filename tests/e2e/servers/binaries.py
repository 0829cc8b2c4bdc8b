"""Where the real programs are: what `tests/e2e/servers/build.sh` built, and what the distribution brings."""

from __future__ import annotations

__all__ = ["AbsentError", "Parts"]

import os
import shutil
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

_VARIABLE: Final = "EVERPATH_REAL"


class AbsentError(LookupError):
    """There are no real parts here; the message says how to get them."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The programs, and the custom resource definitions of OLM v0 and v1.

    What build.sh built has the name of its field, with hyphens.
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
    def found(cls) -> Parts:
        """The folder that EVERPATH_REAL names and the etcd on the PATH.

        AbsentError if it is not set or there is no etcd. A folder that is named and lacks a program is a
        mistake, and FileNotFoundError: whoever asked for real parts must not get a run without them.
        """
        folder = os.environ.get(_VARIABLE)
        if not folder:
            raise AbsentError(
                f"{_VARIABLE} is not set; `make e2e` builds the real parts and sets it (needs Go)"
            )
        etcd = shutil.which("etcd")
        if etcd is None:
            raise AbsentError("there is no etcd on the PATH; `scripts/real-parts` installs it")
        built = (field.name for field in fields(cls) if field.name != "etcd")
        return cls(Path(etcd), *(_built(Path(folder), name.replace("_", "-")) for name in built))


def _built(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.exists():
        raise FileNotFoundError(
            f"{_VARIABLE} names {folder}, which lacks {name}; tests/e2e/servers/build.sh builds it"
        )
    return path
