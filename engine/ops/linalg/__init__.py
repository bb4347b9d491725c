"""Linear algebra: products, decompositions, systems, diagonals, Fourier transforms."""

from .bands import *
from .cholesky import *
from .determinants import *
from .diagonals import *
from .eig import *
from .inverse import *
from .lu import *
from .matmul import *
from .norms import *
from .products import *
from .qr import *
from .spectra import *
from .svd import *
from .systems import *
