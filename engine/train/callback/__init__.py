"""``mindspore.train.callback``: callbacks of training and evaluation runs."""

from ...base.module_names import name_methods as _name_methods
from ...base.module_names import on_first_use as _on_first_use
from .base import Callback, RunContext
from .base import CallbackManager as CallbackManager
from .base import CallbackManager as _CallbackManager
from .base import InternalCallbackParam as InternalCallbackParam
from .base import InternalCallbackParam as _InternalCallbackParam
from .base import loss_of as _handle_loss
from .monitors import History, LambdaCallback, LossMonitor, ProgressBar, TimeMonitor
from .saving import BackupAndRestore, CheckpointConfig, ModelCheckpoint, OnRequestExit
from .steering import EarlyStopping, LearningRateScheduler, ReduceLROnPlateau
from .summaries import SummaryCollector

__all__ = [
    "BackupAndRestore",
    "Callback",
    "CheckpointConfig",
    "EarlyStopping",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "LossMonitor",
    "ModelCheckpoint",
    "OnRequestExit",
    "ProgressBar",
    "ReduceLROnPlateau",
    "RunContext",
    "SummaryCollector",
    "TimeMonitor",
]
__getattr__ = _on_first_use(__name__)
_name_methods(globals())
