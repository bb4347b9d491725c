"""Operators that read, write and order elements by index tensors: gather, scatter, sort, lookup."""

from .gathering import *
from .lookup import *
from .scattering import *
from .sequences import *
from .sorting import *
