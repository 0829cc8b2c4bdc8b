"""What the `version` of a ClusterExtension may hold: constraints of Masterminds/semver v3.3.1.

This is the version that operator-controller 1.2.0 pins, and a language of its own beside the ranges of
`skipRange`: it has `~`, `^`, commas, short versions and `1.0.0 - 2.0.0`, and a comparison that names no
pre-release holds for none.

    Constraint.parse(">=1.2, <2").contains(parse("1.4.0"))    True
"""

from __future__ import annotations

__all__ = ["Constraint", "ConstraintError"]

from everpath.ranges.masterminds._constraint import Constraint, ConstraintError
