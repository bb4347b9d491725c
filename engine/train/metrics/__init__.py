"""``mindspore.train.metrics``: measures of a network's quality, one family per file; each file here is imported.

The decorator ``register`` gives a metric its names for ``get_metric_fn`` and ``Model(metrics=...)``.
"""

from ...base.module_names import name_methods as _name_methods
from ...base.module_names import names_in as _names_in
from ...base.module_names import on_first_use as _on_first_use
from .metric import *

_NAMES = _names_in(__name__)
globals().update(_NAMES)
__all__ = list(_NAMES)
__getattr__ = _on_first_use(__name__)
_name_methods(globals())
