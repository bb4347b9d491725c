"""``mindspore.nn``: cells, layers, losses and optimizers."""

from .activation import *
from .cell import *
from .container import *
from .conv import *
from .dropout import *
from .linear import *
from .loss import *
from .normalization import *
from .optim import *
from .pooling import *
