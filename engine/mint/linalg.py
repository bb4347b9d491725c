"""``mindspore.mint.linalg``: functions of ``ops``, declared where they are."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..surfaces import MINT as _MINT
from ..surfaces import names_in as _names_in

if _TYPE_CHECKING:
    from .linalg_types import *
globals().update(_names_in(_MINT, "linalg"))
