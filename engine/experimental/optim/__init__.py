"""``mindspore.experimental.optim``: optimizers with PyTorch's names and defaults, called with the gradients."""

from . import lr_scheduler
from .adaptive import ASGD, Adadelta, Adagrad, RMSprop, Rprop
from .momentum import SGD, Adam, Adamax, AdamW, NAdam, RAdam
from .optimizer import Optimizer

__all__ = [
    "ASGD", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop",
    "lr_scheduler",
]  # fmt: skip
