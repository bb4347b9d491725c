"""``mindspore.common``: names that MindSpore gathers there."""

from ...base.module_names import on_first_use as _on_first_use
from ...nn.recompute import recompute
from ...ops.sparse.tensors import COOTensor, CSRTensor, RowTensor, SparseTensor
from ...tape.tape import no_gradients as _no_grad
from ...tensors import initializer
from ...tensors.dtype import *
from ...tensors.dtype import KINDS as _KINDS
from ...tensors.dtype import SECOND_NAMES as _SECOND_NAMES
from ...tensors.generator import *
from ...tensors.parameter import Parameter, ParameterTuple
from ...tensors.placeholder import Symbol
from ...tensors.random import get_seed, set_seed
from ...tensors.tensor import Tensor, get_py_obj_dtype, swap_tensors, tensor
from ..jit import JitConfig, enable_dynamic, jit, jit_class, lazy_inline, ms_memory_recycle, mutable, no_inline

__getattr__ = _on_first_use(
    __name__,
    names=dict.fromkeys(
        (
            *_SECOND_NAMES.split(),
            *_KINDS.split(),
            "Type",
            "_Function",
            "dtype",
            "from_numpy",
            "is_tensor",
            "register_saved_tensors_hooks",
            "saved_tensors_hooks",
            "set_dump",
            "set_recursion_limit",
        ),
        "",
    ),
)
