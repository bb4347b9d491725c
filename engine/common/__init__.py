"""``mindspore.common``: what MindSpore gathers under that name."""

from ..core.dtype import *
from ..core.initializer import initializer
from ..core.parameter import Parameter, ParameterTuple
from ..core.random import get_seed, set_seed
from ..core.tensor import Tensor
from ..jit import jit

__all__ = ["Parameter", "ParameterTuple", "Tensor", "get_seed", "initializer", "jit", "set_seed"]
