"""Operators on single elements: arithmetic, comparison, exponentials, special functions, complex numbers."""

from .arithmetic import *
from .comparison import *
from .complex_numbers import *
from .elementary import *
from .exponentials import *
from .float_numbers import *
from .integers import *
from .older_arithmetic import *
from .special import *
from .trigonometry import *
