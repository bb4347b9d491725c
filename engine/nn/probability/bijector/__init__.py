"""``mindspore.nn.probability.bijector``: functions with an inverse, and the logs of their slopes."""

from .bijector import Bijector  # noqa: I001  (what others are made of goes first)
from .power_transform import PowerTransform
from .exp import Exp
from .gumbel_cdf import GumbelCDF
from .invert import Invert
from .scalar_affine import ScalarAffine
from .softplus import Softplus

__all__ = ["Bijector", "Exp", "GumbelCDF", "Invert", "PowerTransform", "ScalarAffine", "Softplus"]
