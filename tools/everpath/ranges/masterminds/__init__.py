"""Version constraints of Masterminds/semver v3.3.1, for the `version` of a ClusterExtension.

operator-controller 1.2.0 uses this release. The grammar differs from that of `skipRange`: it has `~`, `^`,
commas, short versions and `1.0.0 - 2.0.0`, and a comparison without a pre-release matches no pre-release.

    Constraint.parse(">=1.2, <2").contains(parse("1.4.0"))    True
"""

from __future__ import annotations

__all__ = ["Constraint", "ConstraintError"]

from everpath.ranges.masterminds._constraint import Constraint, ConstraintError
