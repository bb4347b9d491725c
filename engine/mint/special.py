"""``mindspore.mint.special``: functions of ``ops``, declared where they are, and a form of ``mint``'s."""

import typing as _typing

from ..surfaces import MINT as _MINT
from ..surfaces import names_in as _names_in
from .functions import log_softmax as log_softmax

if _typing.TYPE_CHECKING:
    from .special_types import *
globals().update(_names_in(_MINT, "special"))
