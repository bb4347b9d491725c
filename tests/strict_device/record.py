"""``python tests/strict_device/record.py``: writes ``facts.json``, what the real CuPy has, from an installed one.

CuPy imports without a GPU, and without one it can be asked for its names, the parameters of its functions, the loops
of its ufuncs, and which dtypes ``ufunc.at`` refuses. Run it in an environment of its own that has CuPy and ml_dtypes
(``pip install cupy-cuda13x ml_dtypes``); the tests read the file and need no CuPy.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np

MODULES = (
    "cupy",
    "cupy.cuda",
    "cupy.cuda.runtime",
    "cupy.fft",
    "cupy.lib",
    "cupy.lib.stride_tricks",
    "cupy.linalg",
    "cupy.random",
    "cupyx",
    "cupyx.scipy",
    "cupyx.scipy.special",
    "cupyx.scipy.sparse",
)
REDUCTIONS = {
    "sum": ("_routines_math", "sum_auto_dtype"),
    "sum with dtype": ("_routines_math", "_sum_keep_dtype"),
    "prod": ("_routines_math", "prod_auto_dtype"),
    "prod with dtype": ("_routines_math", "_prod_keep_dtype"),
    "nansum": ("_routines_math", "nansum_auto_dtype"),
    "nanprod": ("_routines_math", "nanprod_auto_dtype"),
    "max": ("_routines_statistics", "amax"),
    "min": ("_routines_statistics", "amin"),
    "nanmax": ("_routines_statistics", "nanmax"),
    "nanmin": ("_routines_statistics", "nanmin"),
    "any": ("_routines_logic", "any"),
    "all": ("_routines_logic", "all"),
}
INNER = {
    "arange": "cupy_arange",
    "clip": "cupy_clip",
    "copy": "cupy_copy",
    "is_close": "cupy_is_close",
    "linspace": "cupy_linspace",
    "nan_to_num": "cupy_nan_to_num_",
    "round": "cupy_round",
    "where": "cupy_where",
}
"""Ufuncs that functions of CuPy's call."""
RESOLVED = ("add", "divide", "power", "maximum", "greater", "bitwise_and")
DTYPES = ("?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "E", "f", "d", "F", "D")
NUMBERS = {
    "True": True,
    "2": 2,
    "2.5": 2.5,
    "1j": 1j,
    "np.int8(1)": np.int8(1),
    "np.float32(1)": np.float32(1),
    "np.float64(1)": np.float64(1),
}
FACTS = Path(__file__).with_name("facts.json")


def parameters(function: Any) -> list[str] | None:
    """Return the parameters as text: "name", "name=" with a default, "*" before those by keyword alone, "*name"."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return written_parameters(function.__doc__ or "")
    results, by_keyword = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not by_keyword:
            by_keyword = True
            results.append("*")
        by_keyword |= parameter.kind is parameter.VAR_POSITIONAL
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        results.append(stars + parameter.name + ("" if parameter.default is parameter.empty else "="))
    return results


def written_parameters(doc: str) -> list[str] | None:
    """Return the parameters as the first line of a compiled function's documentation has them, without ``self``."""
    head = re.match(r"[\w.]+\((.*)\)", doc.partition("\n")[0])
    if head is None:
        return None
    results = []
    for part in filter(None, head[1].split(", ")):
        name, equals, _ = part.partition("=")
        if name != "self":
            results.append(name.split()[-1] + equals)  # "int axis=-1" is "axis="
    return results


def described(value: Any) -> Any:
    """Return one name of a module: its loops, its parameters, or what kind of thing it is."""
    kind = type(value).__name__
    if kind == "ufunc":
        return {"loops": " ".join(value.types), "inputs": value.nin}
    if isinstance(value, types.ModuleType):
        return "module"
    if isinstance(value, type):
        return "class"
    if callable(value):
        return {"parameters": parameters(value.__call__ if kind == "_GUFunc" else value)}
    return "value"


def loops(kernel: Any) -> str:
    return " ".join(f"{op.in_types[0].char}->{op.out_types[0].char}" for op in kernel._ops.ops)


def without_memory(cupy: Any, char: str, host: Any) -> Any:
    """Return an array of CuPy's that says it lies on a GPU; nobody may touch its elements."""
    import ml_dtypes

    memory = cupy.cuda.UnownedMemory(host.ctypes.data, host.nbytes, host, 0)
    dtype = ml_dtypes.bfloat16 if char == "E" else char
    return cupy.ndarray((2,), dtype, cupy.cuda.MemoryPointer(memory, 0))


def scattered(cupy: Any) -> dict[str, str]:
    """Return the dtypes that ``at`` of each ufunc takes: with others it raises TypeError before it asks for a GPU."""
    host = np.zeros(64, np.uint8)
    results = {}
    for name in dir(cupy):
        ufunc = getattr(cupy, name)
        if type(ufunc).__name__ != "ufunc" or ufunc._scatter_op is None:
            continue
        takes = ""
        for char in DTYPES:
            array = without_memory(cupy, char, host)
            try:
                ufunc.at(array, without_memory(cupy, "q", host), array)
            except TypeError:
                continue
            except cupy.cuda.runtime.CUDARuntimeError:
                takes += char
        results[name] = takes
    return results


def inner() -> dict[str, Any]:
    """Return the loops of the ufuncs that functions call, by ``INNER``'s names."""
    results = {}
    for where in [name for name in sys.modules if name.startswith("cupy")]:
        for value in list(vars(sys.modules[where]).values()):
            if type(value).__name__ == "ufunc":
                results[value.name] = described(value)
    return {name: results[of] for name, of in INNER.items()}


def resolved(cupy: Any) -> dict[str, dict[str, str]]:
    """Return the loop of each pair of an array and an array or a number, "-" for none; tests compare our rule to it."""
    from cupy._core._scalar import CScalar

    host = np.zeros(64, np.uint8)

    def loop(ufunc: Any, first: Any, second: Any) -> str:
        try:
            op = ufunc._ops.guess_routine(ufunc.name, {}, [first, second], None, ufunc._out_ops)
        except TypeError:
            return "-"
        return "".join(dtype.char for dtype in op.in_types) + "->" + op.out_types[0].char

    arrays = {char: without_memory(cupy, char, host) for char in DTYPES}
    numbers = [CScalar(number) for number in NUMBERS.values()]
    return {
        name: {
            char: " ".join(loop(getattr(cupy, name), array, x) for x in [*arrays.values(), *numbers])
            for char, array in arrays.items()
        }
        for name in RESOLVED
    }


def main() -> None:
    modules = {name: importlib.import_module(name) for name in MODULES}
    cupy = modules["cupy"]
    names = {
        where: {name: described(getattr(module, name)) for name in dir(module) if not name.startswith("_")}
        for where, module in modules.items()
    }
    array = {name: getattr(cupy.ndarray, name) for name in dir(cupy.ndarray) if not name.startswith("_")}
    facts = {
        "version": cupy.__version__,
        "modules": names,
        "methods": {name: parameters(value) for name, value in array.items() if callable(value)},
        "attributes": [name for name, value in array.items() if not callable(value)],
        "reductions": {
            name: loops(getattr(importlib.import_module(f"cupy._core.{where}"), kernel))
            for name, (where, kernel) in REDUCTIONS.items()
        },
        "at": scattered(cupy),
        "inner": inner(),
        "numbers": list(NUMBERS),
        "resolved": resolved(cupy),
    }
    FACTS.write_text(_rows(facts, 3) + "\n")
    print(f"{FACTS.name}: CuPy {cupy.__version__}, {sum(map(len, names.values()))} names")


def _rows(value: Any, depth: int) -> str:
    """Return JSON with a line for each name, so that a newer CuPy shows in a diff."""
    if not isinstance(value, dict) or not depth or set(value) <= {"parameters", "loops", "inputs"}:
        return json.dumps(value)
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {_rows(item, depth - 1)}" for key, item in value.items()) + "\n}"


if __name__ == "__main__":
    main()
