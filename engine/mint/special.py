"""``mindspore.mint.special``: functions of ``ops``, declared where they are, and a form of ``mint``'s."""

import typing as _typing

from ..core.surfaces import MINT as _MINT
from ..core.surfaces import functions_of as _functions_of
from .functions import log_softmax as log_softmax

if _typing.TYPE_CHECKING:
    from .special_types import *
globals().update(_functions_of(_MINT, "special"))
