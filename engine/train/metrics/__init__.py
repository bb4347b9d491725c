"""``mindspore.train.metrics``: figures of how well a network does, one family a file, and each that lies here is found.

A metric is known by name to ``get_metric_fn`` and ``Model(metrics=...)`` where its class is decorated with ``named``.
"""

from ...base.module_names import name_methods as _name_methods
from ...base.module_names import names_in as _names_in
from ...base.module_names import on_first_use as _on_first_use
from .metric import *

_FOUND = _names_in(__name__)
globals().update(_FOUND)
__all__ = list(_FOUND)
__getattr__ = _on_first_use(__name__)
_name_methods(globals())
