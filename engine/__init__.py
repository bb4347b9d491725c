"""The engine: eager tensors, gradients, cells and hooks with MindSpore's names. This module is ``mindspore`` itself."""

import sys as _sys
from typing import Any as _Any

from . import backend as _backend
from . import common, context, dtype, initializer, nn, ops, parameter, serialization, tensor
from . import methods as _methods
from . import random as _random
from .backend import device_report as device_report
from .backend import set_device as set_device
from .context import *
from .dtype import *
from .grad import *
from .jit import *
from .parameter import *
from .random import *
from .serialization import *
from .tensor import Tensor as Tensor

__version__ = "2.10.0"
"""The version of MindSpore whose behaviour the engine follows."""
__hookscope__: str = _sys.modules[__name__.rpartition(".")[0]].__version__
"""The version of Hookscope. Looked up, not imported: the package above imports rooms that the engine must not know."""

_methods.bind()
_backend.choose_from_environment()


def from_numpy(array: _Any) -> Tensor:
    """A tensor of a NumPy array's values."""
    return Tensor.from_numpy(array)
