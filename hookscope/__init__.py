"""Hookscope: a Jupyter kernel and notebook-native debugger for neural networks."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .engine.debug import DebugSession, Run, SummaryWriter, log
    from .engine.tensors.backend import device_report
    from .kernel import install_as_mindspore, pause, serve
    from .widgets import DebuggerPanel

__all__ = [
    "DebugSession",
    "DebuggerPanel",
    "Run",
    "SummaryWriter",
    "device_report",
    "install_as_mindspore",
    "load_ipython_extension",
    "log",
    "pause",
    "serve",
    "unload_ipython_extension",
]

# Name -> module: each is imported on first access, so that `import hookscope` stays light.
_FACE = {
    "DebugSession": ".engine.debug",
    "DebuggerPanel": ".widgets",
    "Run": ".engine.debug",
    "SummaryWriter": ".engine.debug",
    "device_report": ".engine.tensors.backend",
    "install_as_mindspore": ".kernel",
    "log": ".engine.debug",
    "pause": ".kernel",
    "serve": ".kernel",
}


def __getattr__(name: str) -> Any:
    if name in ("engine", "kernel", "widgets", "triton_kernels"):
        return importlib.import_module(f".{name}", __name__)
    if name not in _FACE:
        raise AttributeError(f"module 'hookscope' has no attribute '{name}'")
    return getattr(importlib.import_module(_FACE[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "engine", "kernel", "widgets", "triton_kernels"})


def load_ipython_extension(shell: Any) -> None:
    """Load the magics, in any IPython kernel (``%load_ext hookscope``)."""
    from .kernel.extension import load_ipython_extension as load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Unload the magics (``%unload_ext hookscope``)."""
    from .kernel.extension import unload_ipython_extension as unload

    unload(shell)
