"""``mindspore.train``: the training loop, callbacks, metrics, loss scaling and saving."""

from ..core.names import on_first_use as _on_first_use
from ..serialization import *
from .callback import *
from .callback import CallbackManager as _CallbackManager
from .callback import InternalCallbackParam as _InternalCallbackParam
from .loss_scale import *
from .metrics import *
from .model import *
from .summary import *

_GRAPH = "there is no compiled graph to hand over; save_checkpoint keeps the parameters"
_CLUSTER = "it is for a cluster; here there is one process"
_SUMMARY = "use %%cell (the debugger) or a callback of your own that keeps numbers"
__getattr__ = _on_first_use(
    __name__,
    names={"auto_mixed_precision": "amp", "build_train_network": "amp"},
    absent={
        "DatasetHelper": "iterate over the data set: for batch in dataset.create_tuple_iterator()",
        "connect_network_with_dataset": "iterate over the data set: for batch in dataset.create_tuple_iterator()",
        "data_sink": "call the function on each batch: for batch in dataset.create_tuple_iterator()",
        "export": _GRAPH,
        "load": _GRAPH,
        "export_split_mindir": _GRAPH,
        "SummaryLandscape": _SUMMARY,
        "FlopsUtilizationCollector": _CLUSTER,
        "TrainFaultTolerance": _CLUSTER,
        "ConvertNetUtils": "use an optimizer of mindspore.nn",
        "ConvertModelUtils": "use an optimizer of mindspore.nn",
        "build_searched_strategy": _CLUSTER,
        "merge_sliced_parameter": _CLUSTER,
        "load_distributed_checkpoint": _CLUSTER,
        "restore_group_info_list": _CLUSTER,
        "get_ckpt_path_with_strategy": _CLUSTER,
    },
)
