"""``mindspore.common``: what MindSpore gathers under that name."""

from ..core.dtype import *
from ..core.initializer import initializer
from ..core.parameter import Parameter, ParameterTuple
from ..core.random import get_seed, set_seed
from ..core.tensor import Tensor
from ..jit import jit
from ..ops.sparse_tensors import COOTensor, CSRTensor, RowTensor, SparseTensor

__all__ = [
    "COOTensor", "CSRTensor", "Parameter", "ParameterTuple", "RowTensor", "SparseTensor", "Tensor", "get_seed",
    "initializer", "jit", "set_seed",
]  # fmt: skip
