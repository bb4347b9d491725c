"""Operators that reduce axes, and running ones: sums, means, norms, extremes, statistics."""

from .reduction import *
from .statistics import *
