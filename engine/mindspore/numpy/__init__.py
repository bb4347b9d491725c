"""``mindspore.numpy``: NumPy's names for tensors. Python numbers become Int32 and Float32, as in MindSpore.

Functions that are the same in ``ops``, or differ only in argument names, are declared there (``numpy=``) and also
accept lists and numbers (``lists.py``). The other modules define the functions that differ otherwise.
"""

import math as _math
import typing as _typing

from ...base.module_names import on_first_use as _on_first_use
from ...base.surfaces import NUMPY as _NUMPY
from ...tensors.dtype import bool_, float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64
from . import fft as fft
from .arrays import *
from .creation import *
from .drawing import *
from .elementwise import *
from .indexing import *
from .lists import taking_lists as _taking_lists
from .logic import *
from .padding import *
from .polynomials import *
from .products import *
from .reduction import *
from .sets import *
from .shapes import *
from .statistics import *
from .types import *

pi, e, inf, nan = _math.pi, _math.e, _math.inf, _math.nan
newaxis = None
int_, float_ = int32, float32

if _typing.TYPE_CHECKING:
    from .function_types import *
globals().update({name: _taking_lists(name, function) for name, function in _NUMPY.items()})
__getattr__ = _on_first_use(__name__, rooms=("fft",))
