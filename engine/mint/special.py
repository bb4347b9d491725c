"""``mindspore.mint.special``: functions of ``ops``, declared where they are, and a form of ``mint``'s."""

from ..surfaces import MINT as _MINT
from ..surfaces import names_in as _names_in
from .functions import log_softmax as log_softmax

globals().update(_names_in(_MINT, "special"))
