"""The engine: eager tensors, gradients, cells and hooks with MindSpore's names. This module is ``mindspore`` itself."""

from typing import Any as _Any

from . import backend as _backend
from . import common, context, dtype, initializer, nn, ops, parameter, serialization, tensor
from . import methods as _methods
from . import random as _random
from .backend import set_device
from .context import GRAPH_MODE, PYNATIVE_MODE, get_context, set_context
from .dtype import *
from .grad import get_grad, grad, jvp, value_and_grad, vjp
from .jit import jit
from .parameter import Parameter, ParameterTuple
from .random import get_seed, set_seed
from .serialization import load_checkpoint, load_param_into_net, save_checkpoint
from .tensor import Tensor

__version__ = "2.10.0"
"""The version of MindSpore whose behaviour the engine follows."""

_methods.bind()
_backend.choose_from_environment()


def from_numpy(array: _Any) -> Tensor:
    """A tensor of a NumPy array's values."""
    return Tensor.from_numpy(array)
