"""``mindspore.ops``: functions on tensors, and the primitive classes of ``ops.operations``."""

from ..grad import *
from . import operations as operations
from .activation import *
from .arithmetic import *
from .convolution import *
from .creation import *
from .dropping import *
from .hook_backward import *
from .indexing import *
from .linalg import *
from .loss import *
from .normalization import *
from .operations import *
from .reduction import *
from .shape import *
