"""``mindspore.mint.linalg``: functions of ``ops``, declared where they are."""

from ..surfaces import MINT as _MINT
from ..surfaces import names_in as _names_in

globals().update(_names_in(_MINT, "linalg"))
