"""MindSpore's dialect: modules that exist because a MindSpore program imports them, as ``mindspore.NAME``.

MindSpore's modules with a subject of their own, such as ``nn`` and ``train``, are packages of the engine.
"""

import typing as _typing

from ..base.module_names import on_first_use as _on_first_use

if _typing.TYPE_CHECKING:
    from . import boost as boost
    from . import communication as communication
    from . import device_context as device_context
    from . import experimental as experimental
    from . import hal as hal
    from . import log as log
    from . import mint as mint
    from . import numpy as numpy
    from . import parallel as parallel
    from . import runtime as runtime

ON_FIRST_USE = (
    "boost",
    "communication",
    "device_context",
    "experimental",
    "hal",
    "log",
    "mint",
    "numpy",
    "parallel",
    "runtime",
)
"""Modules that are imported on first use."""
__getattr__ = _on_first_use(__name__, rooms=ON_FIRST_USE)
