"""The engine: eager tensors, gradients, cells and hooks with MindSpore's names. This module is ``mindspore`` itself."""

import sys as _sys
import typing as _typing

from . import common, context, nn, ops, serialization
from . import methods as _methods
from .context import *
from .core import backend as _backend
from .core import dtype, initializer, parameter
from .core import random as _random
from .core.backend import device_report as device_report
from .core.backend import set_device as set_device
from .core.dtype import *
from .core.grad import *
from .core.interchange import *
from .core.names import on_first_use as _on_first_use
from .core.parameter import *
from .core.random import *
from .core.saved_tensors import *
from .core.tensor import Tensor as Tensor
from .core.tensor import get_py_obj_dtype as get_py_obj_dtype
from .core.tensor import tensor as tensor
from .cpu.memory import keep_freed_memory as _keep_freed_memory
from .jit import *
from .nn.recompute import recompute as recompute
from .ops.transforms import jacfwd as jacfwd
from .ops.transforms import jacrev as jacrev
from .ops.transforms import vmap as vmap
from .run_check import run_check as run_check
from .serialization import *

__version__ = "2.10.0"
"""The version of MindSpore whose behavior the engine follows."""
__hookscope__: str = _sys.modules[__name__.rpartition(".")[0]].__version__
"""The version of Hookscope. Looked up, not imported: the package above imports rooms that the engine must not know."""

_keep_freed_memory()
_methods.bind()
_backend.choose_from_environment()


if _typing.TYPE_CHECKING:
    from . import amp as amp
    from . import communication as communication
    from . import dataset as dataset
    from . import experimental as experimental
    from . import hal as hal
    from . import log as log
    from . import mint as mint
    from . import numpy as numpy
    from . import parallel as parallel
    from . import runtime as runtime
    from . import train as train

# Rooms that a script may never enter are imported when it does; so are the names that MindSpore keeps at the top, too.
_ROOMS = "amp communication dataset experimental hal log mint numpy parallel runtime train"
_GRAPH = "there is no compiled graph to hand over; save_checkpoint keeps the parameters"
_CLUSTER = "it is for a cluster; here there is one process"
_PROFILE = "use the debugger (%%cell) or Python's cProfile"
_CONVERT = "read the files with NumPy and hand them to mindspore.dataset.GeneratorDataset"
_PARALLEL = (
    "ParallelMode set_auto_parallel_context get_auto_parallel_context reset_auto_parallel_context set_algo_parameters "
    "get_algo_parameters reset_algo_parameters"
)
_TRAIN = (
    "SummaryCollector SummaryRecord "
    "Model Callback RunContext LossMonitor TimeMonitor ModelCheckpoint CheckpointConfig EarlyStopping "
    "ReduceLROnPlateau LearningRateScheduler History LambdaCallback BackupAndRestore OnRequestExit LossScaleManager "
    "FixedLossScaleManager DynamicLossScaleManager Accuracy BleuScore ConfusionMatrix ConfusionMatrixMetric "
    "CosineSimilarity Dice F1 Fbeta HausdorffDistance Loss MAE MSE MeanSurfaceDistance Metric OcclusionSensitivity "
    "Perplexity Precision ROC Recall RootMeanSquareDistance Top1CategoricalAccuracy Top5CategoricalAccuracy "
    "TopKCategoricalAccuracy auc get_metric_fn names rearrange_inputs"
)
_RUNTIME = (
    "Event Stream StreamCtx communication_stream current_stream default_stream dispatch_threads_num empty_cache "
    "launch_blocking max_memory_allocated max_memory_reserved memory_allocated memory_reserved memory_stats "
    "memory_summary reset_max_memory_allocated reset_max_memory_reserved reset_peak_memory_stats set_cpu_affinity "
    "set_cur_stream set_kernel_launch_capture set_kernel_launch_group set_memory synchronize"
)
_DTYPES = (
    "byte short intc long ubyte ushort uintc intp uintp half single double cfloat cdouble bool int float STRICT "
    "COMPATIBLE LAX"
)
_GENERATOR = "Generator default_generator get_rng_state initial_seed manual_seed seed set_rng_state"
_ABSENT = {
    _GRAPH: "export load load_mindir export_split_mindir save_mindir onnx SymbolTree rewrite",
    _CLUSTER: "shard reshard Layout parameter_broadcast rank_list_for_transform transform_checkpoint_by_rank "
    "transform_checkpoints merge_pipeline_strategys merge_sliced_parameter load_distributed_checkpoint "
    "load_segmented_checkpoints unified_safetensors sync_pipeline_shared_parameters build_searched_strategy "
    "restore_group_info_list get_ckpt_path_with_strategy set_ps_context get_ps_context reset_ps_context",
    _PROFILE: "Profiler EnvProfiler FlopsUtilizationCollector SummaryLandscape "
    "flops_collection",
    _CONVERT: "Cifar10ToMR Cifar100ToMR CsvToMR ImageNetToMR MnistToMR TFRecordToMR FileReader FileWriter MindPage "
    "mindrecord",
    "encrypt the file itself, with a tool made for that": "obfuscate_ckpt load_obf_params_into_net set_enc_key",
    "iterate over the data set: for batch in dataset.create_tuple_iterator()": "DatasetHelper data_sink "
    "connect_network_with_dataset",
    "keep values, rows and columns in tensors of their own": "COOTensor CSRTensor RowTensor SparseTensor",
}
__getattr__ = _on_first_use(
    __name__,
    rooms=_ROOMS.split(),
    names={
        **dict.fromkeys(_PARALLEL.split(), "parallel"),
        **dict.fromkeys(_TRAIN.split(), "train"),
        **dict.fromkeys(_RUNTIME.split(), "runtime"),
        **dict.fromkeys(_GENERATOR.split(), "core.generator"),
        **dict.fromkeys(_DTYPES.split(), "core.dtype_names"),
        "build_train_network": "amp",
        "get_level": "log",
        "get_log_config": "log",
        "is_tensor": "ops.control",
    },
    absent={name: instead for instead, names in _ABSENT.items() for name in names.split()},
)
