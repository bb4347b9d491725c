"""``mindspore.mint.special``: functions of ``ops``, declared there, and one of ``mint``."""

import typing as _typing

from ...base.surfaces import MINT as _MINT
from ...base.surfaces import functions_of as _functions_of
from .arithmetic import log_softmax as log_softmax

if _typing.TYPE_CHECKING:
    from .special_types import *
globals().update(_functions_of(_MINT, "special"))
