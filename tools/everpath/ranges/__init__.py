"""Version ranges of OLM: the grammar of blang/semver v4.0.0 with its quirks, and sets of versions.

Range.parse(">=1.0.0 <1.2.3").contains(version)     whether OLM's resolver matches a version
Range.parse("<1.0.0 || >2.0.0").intervals           the set of matched versions: | & ~, is_empty, is_subset
Range.parse("1.0.0 - 2.0.0").hazards                parts of a range that do not mean what they seem to
Coverage({"a": range.intervals, ...}).covering(v)   which of many sets contain a version
sample_versions([range.intervals, ...])             versions that together fall into every overlap of sets
everpath.ranges.explain.explain_range(range)        a description in words
"""

from __future__ import annotations

__all__ = [
    "Bound",
    "Coverage",
    "Hazard",
    "HazardKind",
    "Interval",
    "IntervalSet",
    "Range",
    "RangeError",
    "RangePanic",
    "sample_versions",
]

from everpath.ranges._coverage import Coverage, sample_versions
from everpath.ranges._hazards import Hazard, HazardKind
from everpath.ranges._intervals import Bound, Interval, IntervalSet
from everpath.ranges._range import Range, RangeError, RangePanic
