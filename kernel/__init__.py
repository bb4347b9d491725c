"""IPython kernel that can pause, its magics, and `import mindspore`.

Importing this package imports nothing else, since plain scripts without IPython use the alias.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .alias import install_as_mindspore, uninstall
    from .extension import load_ipython_extension
    from .kernel import HookscopeKernel
    from .pauses.pauser import KernelPauser, pause, resume
    from .remote.serve import serve

__all__ = [
    "HookscopeKernel",
    "KernelPauser",
    "install_as_mindspore",
    "load_ipython_extension",
    "pause",
    "resume",
    "serve",
    "uninstall",
]

_HOME = {
    "HookscopeKernel": "kernel",
    "KernelPauser": "pauses.pauser",
    "install_as_mindspore": "alias",
    "load_ipython_extension": "extension",
    "pause": "pauses.pauser",
    "resume": "pauses.pauser",
    "serve": "remote.serve",
    "uninstall": "alias",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value
