"""Operators that read, write and order elements by index tensors: gather, scatter, sort, lookup."""

from .counting import *
from .gathering import *
from .index_assignment import *
from .lookup import *
from .quantiles import *
from .scattering import *
from .searching import *
from .segments import *
from .sequences import *
from .sorting import *
from .unique import *
