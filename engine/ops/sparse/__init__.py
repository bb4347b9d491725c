"""Sparse tensors, and the operators on them and on their components."""

from .construction import *
from .matrix_arithmetic import *
from .matrix_conversion import *
from .unary import *
