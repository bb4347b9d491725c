"""``mindspore.experimental``: optimizers with parameter groups that schedulers change."""

from ...base.module_names import on_first_use as _on_first_use
from . import optim

__all__ = ["optim"]
__getattr__ = _on_first_use(__name__)
