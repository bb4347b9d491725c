"""``mindspore.mint.optim``: the experimental optimizers with both moments corrected, and with less state.

One optimizer per file; each file here is imported.
"""

from ....base.module_names import name_methods as _name_methods
from ....base.module_names import names_in as _names_in
from ....base.module_names import on_first_use as _on_first_use

_OPTIMIZERS = _names_in(__name__)
globals().update(_OPTIMIZERS)
__all__ = list(_OPTIMIZERS)
__getattr__ = _on_first_use(__name__)
_name_methods(globals())
