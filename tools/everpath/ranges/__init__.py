"""OLM's version ranges: the grammar of blang/semver v4.0.0, quirks included, and the algebra over it.

Range.parse(">=1.0.0 <1.2.3").contains(version)     what OLM's resolver would answer
Range.parse("<1.0.0 || >2.0.0").intervals           a set: | & ~, is_empty, is_subset, spans
Range.parse("1.0.0 - 2.0.0").hazards                what happens without a word
Coverage({"a": range.intervals, ...}).covering(v)   which of many ranges have a version, without asking each
samples([range.intervals, ...])                      a version for every way in which ranges accept one
everpath.ranges.explain.explain_range(range)              all of it in sentences
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

from everpath.ranges._coverage import Coverage
from everpath.ranges._hazards import Hazard, HazardKind
from everpath.ranges._intervals import Bound, Interval, IntervalSet
from everpath.ranges._range import Range, RangeError, RangePanic
from everpath.ranges._samples import sample_versions
