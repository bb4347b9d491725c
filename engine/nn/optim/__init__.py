"""Optimizers: called with the gradients, they update the parameters. One per file; new files are included."""

from ...base.module_names import name_methods as _name_methods
from ...base.module_names import names_in as _names_in
from ...base.module_names import on_first_use as _on_first_use
from .optimizer import *
from .parameter_updates import *

_OPTIMIZERS = _names_in(__name__)
globals().update(_OPTIMIZERS)
__all__ = list(_OPTIMIZERS)
__getattr__ = _on_first_use(__name__)
_name_methods(globals())
