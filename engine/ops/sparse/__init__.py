"""Sparse tensors, and the operators on them and on their components."""

from .functions import *
from .unary import *
