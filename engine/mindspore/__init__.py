"""MindSpore's dialect: modules that exist because a MindSpore program imports them, as ``mindspore.NAME``.

MindSpore's modules with a subject of their own, such as ``nn`` and ``train``, are packages of the engine.
"""

from ..base.module_names import on_first_use as _on_first_use

__getattr__ = _on_first_use(__name__, rooms=())
