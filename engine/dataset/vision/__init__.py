"""``mindspore.dataset.vision``: transforms of images, arrays of shape (H, W) or (H, W, C)."""

from ...base.module_names import name_methods as _name_methods
from ...base.module_names import on_first_use as _on_first_use
from ..transforms import Sometimes as _Sometimes
from ._devices import OnDevice as _OnDevice
from ._pixels import ImageTransform as _ImageTransform
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
_name_methods(globals(), inner=(_ImageTransform, _OnDevice, _Sometimes))
