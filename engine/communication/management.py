"""``mindspore.communication.management``: the older name of ``mindspore.communication``."""

from __future__ import annotations

from ..core.names import on_first_use
from . import __all__ as __all__

__getattr__ = on_first_use(__name__, names=dict.fromkeys(__all__, "communication"))
