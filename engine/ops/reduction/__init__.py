"""Operators that reduce axes, and running ones: sums, means, norms, extremes, statistics."""

from .cumulative import *
from .extremes import *
from .norms import *
from .reduction import *
from .statistics import *
