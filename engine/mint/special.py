"""``mindspore.mint.special``."""

from ..ops import erfc, exp2, expm1, log1p, round, sinc
from .functions import log_softmax

__all__ = ["erfc", "exp2", "expm1", "log1p", "log_softmax", "round", "sinc"]
