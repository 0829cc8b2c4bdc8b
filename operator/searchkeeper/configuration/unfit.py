"""What this operator has no procedure for: left alone, with a word about who has one."""

from __future__ import annotations

__all__ = ["REFUSAL"]

from typing import Final

from searchkeeper.configuration.procedures import CLUSTER
from searchkeeper.kernel import Answer, Procedure, Unfit, action, waiting
from searchkeeper.releases import who_takes
from searchkeeper.upgrade.gates import FOR_EVER


@action()
def configuration_is_known(unfit: Unfit) -> Answer:
    """False, whatever anybody does to the cluster: another operator is needed."""
    return waiting("NoProcedureFits", f"{unfit}; {_who(unfit)}", patience=FOR_EVER)


def _who(unfit: Unfit) -> str:
    ways = frozenset(version for version, each in CLUSTER.items() if each.takes(unfit.deployed))
    found = [each.version for each in who_takes(ways)]
    if not found:
        return "no release of the operator that this one knows of can take it"
    return f"these releases of the operator can take it: {', '.join(found)}"


REFUSAL: Final = Procedure(0, 0, (configuration_is_known,))
