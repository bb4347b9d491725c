"""Functions of functions: ``vmap``, Jacobians, ``HyperMap``, loops, conditions; and ``HookBackward``."""

from .composite import *
from .control import *
from .hook_backward import *
from .loops import *
from .transforms import *
