"""``mindspore.nn.probability.bijector``: invertible functions, and the logarithms of their slopes."""

from ....base.module_names import name_methods as _name_methods
from .bijector import Bijector
from .exp import Exp
from .gumbel_cdf import GumbelCDF
from .invert import Invert
from .power_transform import PowerTransform
from .scalar_affine import ScalarAffine
from .softplus import Softplus

__all__ = ["Bijector", "Exp", "GumbelCDF", "Invert", "PowerTransform", "ScalarAffine", "Softplus"]
_name_methods(globals())
