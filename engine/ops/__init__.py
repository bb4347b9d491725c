"""``mindspore.ops``: functions on tensors, and the primitive classes of ``ops.operations``."""

from ..grad import grad, jvp, value_and_grad, vjp
from . import operations
from .activation import *
from .arithmetic import *
from .convolution import *
from .creation import *
from .dropping import *
from .hook_backward import HookBackward
from .indexing import getitem
from .linalg import *
from .loss import *
from .normalization import *
from .operations import *
from .reduction import *
from .shape import *
