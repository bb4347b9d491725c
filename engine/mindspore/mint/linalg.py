"""``mindspore.mint.linalg``: functions of ``ops``, declared there."""

import typing as _typing

from ...base.surfaces import MINT as _MINT
from ...base.surfaces import functions_of as _functions_of

if _typing.TYPE_CHECKING:
    from .linalg_types import *
globals().update(_functions_of(_MINT, "linalg"))
