"""``mindspore.mint``: the functions, layers and optimizers of ``ops`` and ``nn`` with PyTorch's names and defaults."""

import typing as _typing

from ...base.module_names import on_first_use as _on_first_use
from ...base.surfaces import MINT as _MINT
from ...base.surfaces import functions_of as _functions_of
from .arithmetic import *
from .creation import *
from .nn.functional import conv2d
from .reduction import *
from .shapes import *

if _typing.TYPE_CHECKING:
    from . import linalg as linalg
    from . import nn as nn
    from . import optim as optim
    from . import special as special
    from .function_types import *
globals().update(_functions_of(_MINT))
__getattr__ = _on_first_use(__name__, rooms=("distributed", "linalg", "nn", "optim", "special"))
