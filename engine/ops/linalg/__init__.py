"""Linear algebra: products, decompositions, systems, diagonals, Fourier transforms."""

from .bands import *
from .decompositions import *
from .diagonals import *
from .matmul import *
from .products import *
from .spectra import *
