"""The modules ``cupy`` and ``cupyx``: every name that they have, and no other."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np

from . import cuda_runtime, facts, sparse
from .arrays import ndarray
from .functions import RULES, Function
from .ufuncs import Ufunc

__all__ = ["CUPY", "make"]

# CuPy's own, or under another name in NumPy and SciPy.
COMPUTED_BY = {
    "amax": "max",
    "amin": "min",
    "fix": "trunc",
    "digamma": "psi",
    "trapz": "trapezoid",
    "in1d": "isin",
    "row_stack": "vstack",
    "max": "max",
    "concat": "concatenate",
    "permute_dims": "transpose",
}


class Module(ModuleType):
    """One of CuPy's modules: its names come from ``facts``, its results from NumPy or SciPy."""

    def __init__(self, name: str, by: Any, arguments: dict[str, Any]) -> None:
        super().__init__(name)
        self.__dict__.update(arguments, _by=by, __version__=facts.VERSION)

    def __getattr__(self, name: str) -> Any:
        described = facts.MODULES[self.__name__].get(name)
        if described is None or name.startswith("_"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        result = self._make(name, described)
        self.__dict__[name] = result
        return result

    def _make(self, name: str, described: Any) -> Any:
        full = f"{self.__name__}.{name}".removeprefix("cupy.")
        by = getattr(self._by, COMPUTED_BY.get(name, name), getattr(self._by, name, None))
        if isinstance(described, dict) and "loops" in described:
            return Ufunc(name, described, by or _unknown(full))
        if isinstance(described, dict):
            return Function(full, described["parameters"], by if full not in RULES else None)
        if described == "module" or by is None:
            raise NotImplementedError(f"the strict device cannot stand in for {self.__name__}.{name}")
        return by  # a dtype, a constant


def _unknown(name: str) -> Any:
    def compute(*_: Any) -> Any:
        raise NotImplementedError(f"the strict device cannot compute cupy.{name}")

    return compute


def _power(x: Any, y: Any) -> Any:
    """Return powers of integers, also for negative exponents: 1, -1, and 0 for all others."""
    if x.dtype.kind in "iu" and y.dtype.kind == "i" and (y < 0).any():
        ones = np.where(x == 1, 1, np.where(x == -1, np.where(y % 2, -1, 1), 0))
        return np.where(y < 0, ones, np.power(x, np.maximum(y, 0))).astype(x.dtype)
    return np.power(x, y)


class _RandomState:
    """``cupy.random.RandomState``, whose numbers are not CuPy's."""

    def __init__(self, seed: Any = None) -> None:
        self._numpy = np.random.RandomState(seed)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        draw = getattr(self._numpy, name)
        return lambda *args, dtype=None, **kwargs: MODULES["cupy"].asarray(np.asarray(draw(*args, **kwargs), dtype))


class broadcast:  # noqa: N801  # CuPy's own name
    """The common shape of arrays, and the arrays in it."""

    def __init__(self, *arrays: Any) -> None:
        self.shape = np.broadcast_shapes(*[x.shape for x in arrays if isinstance(x, ndarray)])
        self.nd = len(self.shape)
        self.size = int(np.prod(self.shape, dtype=np.int64))
        self.values = [MODULES["cupy"].broadcast_to(x, self.shape) if isinstance(x, ndarray) else x for x in arrays]


def make(capability: tuple[int, int] = (9, 0), available: bool = True) -> dict[str, Any]:
    """Return the modules by their names, to be put into ``sys.modules``; ``["cupy"]`` is CuPy.

    Args:
        capability: the compute capability of the GPU.
        available: whether there is one.
    """
    special = importlib.import_module("scipy.special")
    of_cuda = cuda_runtime.make(capability, available)
    pool = of_cuda.pop("pool")
    for name in ("runtime", "device"):
        of_cuda[name] = Module(f"cupy.cuda.{name}", None, vars(of_cuda[name]))
    tricks = Module("cupy.lib.stride_tricks", np.lib.stride_tricks, {})
    inner = {
        "cuda": Module("cupy.cuda", None, of_cuda),
        "fft": Module("cupy.fft", np.fft, {}),
        "lib": Module("cupy.lib", np.lib, {"stride_tricks": tricks}),
        "linalg": Module("cupy.linalg", np.linalg, {}),
        "random": Module("cupy.random", None, {"RandomState": _RandomState}),
    }
    power = Ufunc("power", facts.MODULES["cupy"]["power"], _power)
    cupy = Module(
        "cupy",
        np,
        {
            **inner,
            "ndarray": ndarray,
            "broadcast": broadcast,
            "power": power,
            "get_default_memory_pool": lambda: pool,
            "get_default_pinned_memory_pool": lambda: pool,
        },
    )
    of_special = Module("cupyx.scipy.special", special, {})
    of_sparse = Module("cupyx.scipy.sparse", None, {"coo_matrix": sparse.coo_matrix, "csr_matrix": sparse.csr_matrix})
    scipy = Module("cupyx.scipy", None, {"special": of_special, "sparse": of_sparse})
    return {
        "cupy": cupy,
        **{f"cupy.{name}": module for name, module in inner.items()},
        "cupyx": Module("cupyx", None, {"scipy": scipy}),
        "cupyx.scipy": scipy,
        "cupyx.scipy.special": of_special,
        "cupyx.scipy.sparse": of_sparse,
    }


MODULES = make()
CUPY = MODULES["cupy"]
