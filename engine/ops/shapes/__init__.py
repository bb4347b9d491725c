"""Operators that make, move, join, cut and broadcast elements without computing with them."""

from .concatenation import *
from .conversion import *
from .copying import *
from .creation import *
from .data_formats import *
from .joining import *
from .pad import *
from .padding import *
from .rearranging import *
from .reshape import *
from .slicing import *
from .subscripts import *
