"""Layers: cells with parameters or settings that compute one operation, one family per file."""

from .activation import *
from .arrays import *
from .conv import *
from .derivatives import *
from .dropout import *
from .embedding import *
from .image_similarity import *
from .images import *
from .linear import *
from .matrices import *
from .normalization import *
from .norms import *
from .padding import *
from .pooling import *
from .rnn import *
from .special import *
from .transformer import *
