"""``mindspore.mint.linalg``: functions of ``ops``, declared where they are."""

import typing as _typing

from ..surfaces import MINT as _MINT
from ..surfaces import names_in as _names_in

if _typing.TYPE_CHECKING:
    from .linalg_types import *
globals().update(_names_in(_MINT, "linalg"))
