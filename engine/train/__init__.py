"""``mindspore.train``: the training loop, callbacks, metrics, loss scaling and checkpoints."""

from ..base.module_names import name_methods as _name_methods
from ..base.module_names import on_first_use as _on_first_use
from ..formats import *
from .callback import *
from .callback import CallbackManager as _CallbackManager
from .callback import InternalCallbackParam as _InternalCallbackParam
from .loss_scale import *
from .metrics import *
from .model import *
from .summary import *

__getattr__ = _on_first_use(__name__, names={"auto_mixed_precision": "amp", "build_train_network": "amp"})
_name_methods(globals())
