"""The engine: eager tensors, gradients, cells and hooks with MindSpore's names. This module is ``mindspore`` itself."""

import sys as _sys
import typing as _typing

from . import context, formats, mindspore, nn, ops
from . import methods as _methods
from .autograd.grad import *
from .autograd.saved_tensors import *
from .base.module_names import on_first_use as _on_first_use
from .base.old_names import install as _resolve_old_names
from .context import *
from .formats import *
from .mindspore import common
from .mindspore.jit import *
from .mindspore.run_check import run_check as run_check
from .nn.recompute import recompute as recompute
from .ops.higher_order.transforms import jacfwd as jacfwd
from .ops.higher_order.transforms import jacrev as jacrev
from .ops.higher_order.transforms import vmap as vmap
from .ops.sparse.tensors import COOTensor as COOTensor
from .ops.sparse.tensors import CSRTensor as CSRTensor
from .ops.sparse.tensors import RowTensor as RowTensor
from .ops.sparse.tensors import SparseTensor as SparseTensor
from .tensors import backend as _backend
from .tensors import dtype, initializer, parameter
from .tensors import random as _random
from .tensors.backend import device_report as device_report
from .tensors.backend import set_device as set_device
from .tensors.dtype import *
from .tensors.interchange import *
from .tensors.parameter import *
from .tensors.placeholder import Symbol as Symbol
from .tensors.random import *
from .tensors.tensor import Tensor as Tensor
from .tensors.tensor import get_py_obj_dtype as get_py_obj_dtype
from .tensors.tensor import swap_tensors as swap_tensors
from .tensors.tensor import tensor as tensor

__version__ = "2.10.0"
"""The version of MindSpore whose behavior the engine follows."""
__hookscope__: str = _sys.modules[__name__.rpartition(".")[0]].__version__
"""The version of Hookscope. Looked up, since the package above imports modules that the engine must not import."""

_MINDSPORES = mindspore.ON_FIRST_USE
del mindspore  # `from mindspore import *` must leave the name `mindspore` to the program
_resolve_old_names()
_methods.bind()
_backend.choose_from_environment()


if _typing.TYPE_CHECKING:
    from . import amp as amp
    from . import dataset as dataset
    from . import train as train
    from .mindspore import communication as communication
    from .mindspore import device_context as device_context
    from .mindspore import experimental as experimental
    from .mindspore import hal as hal
    from .mindspore import log as log
    from .mindspore import mint as mint
    from .mindspore import numpy as numpy
    from .mindspore import parallel as parallel
    from .mindspore import runtime as runtime

# Rarely used modules are imported on first use; so are names of MindSpore's top level.
_ROOMS = "amp dataset train"
_PARALLEL = (
    "ParallelMode set_auto_parallel_context get_auto_parallel_context reset_auto_parallel_context set_algo_parameters "
    "get_algo_parameters reset_algo_parameters"
)
_TRAIN = (
    "SummaryCollector SummaryRecord "
    "Model Callback RunContext LossMonitor TimeMonitor ModelCheckpoint CheckpointConfig EarlyStopping "
    "ReduceLROnPlateau LearningRateScheduler History LambdaCallback BackupAndRestore OnRequestExit LossScaleManager "
    "FixedLossScaleManager DynamicLossScaleManager"
)
_RUNTIME = (
    "Event Stream StreamCtx communication_stream current_stream default_stream dispatch_threads_num empty_cache "
    "launch_blocking max_memory_allocated max_memory_reserved memory_allocated memory_reserved memory_stats "
    "memory_summary reset_max_memory_allocated reset_max_memory_reserved reset_peak_memory_stats set_cpu_affinity "
    "set_cur_stream set_kernel_launch_capture set_kernel_launch_group set_memory synchronize"
)
_GENERATOR = "Generator default_generator get_rng_state initial_seed manual_seed seed set_rng_state"
__getattr__ = _on_first_use(
    __name__,
    rooms=("mindspore", *_ROOMS.split()),
    names={
        **dict.fromkeys(_MINDSPORES, "mindspore"),
        **dict.fromkeys(_PARALLEL.split(), "mindspore.parallel"),
        **dict.fromkeys(_TRAIN.split(), "train"),
        **dict.fromkeys(nn.METRICS.split(), "train"),
        **dict.fromkeys(_RUNTIME.split(), "mindspore.runtime"),
        **dict.fromkeys(_GENERATOR.split(), "tensors.generator"),
        **dict.fromkeys(dtype.KINDS.split(), "tensors.type_kinds"),
        "Type": "tensors.dtype",
        **dict.fromkeys(f"{dtype.SECOND_NAMES} bool int float STRICT COMPATIBLE LAX".split(), "tensors.dtype_names"),
        "_Function": "autograd.function",
        "_no_grad": "mindspore.common",
        "build_train_network": "amp",
        "get_level": "mindspore.log",
        "get_log_config": "mindspore.log",
        "is_tensor": "ops.higher_order.control",
    },
)
