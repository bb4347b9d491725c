"""``mindspore.common``: what MindSpore gathers under that name."""

from ..dtype import *
from ..initializer import initializer
from ..jit import jit
from ..parameter import Parameter, ParameterTuple
from ..random import get_seed, set_seed
from ..tensor import Tensor

__all__ = ["Parameter", "ParameterTuple", "Tensor", "get_seed", "initializer", "jit", "set_seed"]
