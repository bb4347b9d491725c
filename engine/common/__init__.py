"""``mindspore.common``: what MindSpore gathers under that name."""

from ..core import initializer
from ..core.dtype import *
from ..core.dtype import KINDS as _KINDS
from ..core.dtype import SECOND_NAMES as _SECOND_NAMES
from ..core.generator import *
from ..core.names import on_first_use as _on_first_use
from ..core.parameter import Parameter, ParameterTuple
from ..core.placeholder import Symbol
from ..core.random import get_seed, set_seed
from ..core.recording import no_gradients as _no_grad
from ..core.tensor import Tensor, get_py_obj_dtype, swap_tensors, tensor
from ..jit import JitConfig, enable_dynamic, jit, jit_class, lazy_inline, ms_memory_recycle, mutable, no_inline
from ..nn.recompute import recompute
from ..ops.sparse_tensors import COOTensor, CSRTensor, RowTensor, SparseTensor

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
