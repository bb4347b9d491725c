"""``mindspore.experimental``: the optimizers with groups of parameters that schedulers change."""

from . import optim

__all__ = ["optim"]
