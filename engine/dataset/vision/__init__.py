"""``mindspore.dataset.vision``: what may be done with images, arrays of shape (H, W) or (H, W, C)."""

from ...core.names import on_first_use as _on_first_use
from .basic import *
from .batches import *
from .boxes import *
from .colors import *
from .files import *
from .filters import *
from .parts import *
from .policies import *
from .warping import *

__getattr__ = _on_first_use(__name__)
