"""``mindspore.experimental.optim``: optimizers with PyTorch's names and defaults, called with the gradients.

One optimizer per file; each file here is imported.
"""

from ....base.module_names import name_methods as _name_methods
from ....base.module_names import names_in as _names_in
from ....base.module_names import on_first_use as _on_first_use
from . import lr_scheduler as lr_scheduler
from .optimizer import *

_OPTIMIZERS = _names_in(__name__, without=("lr_scheduler",))
globals().update(_OPTIMIZERS)
__all__ = [*_OPTIMIZERS, "lr_scheduler"]
__getattr__ = _on_first_use(__name__)
_name_methods(globals())
