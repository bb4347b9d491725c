"""Operators of neural networks: activations, convolution, pooling, normalization, attention, recurrence, losses."""

from .activation import *
from .adaptive_pooling import *
from .attention import *
from .convolution import *
from .cross_entropy import *
from .ctc import *
from .deformable import *
from .loss import *
from .normalization import *
from .pooling import *
from .recurrent import *
from .unpooling import *
