"""A strict stand-in for CuPy 14 on NumPy's memory, so that the GPU's path is tested where there is no GPU.

It has the names, parameters and loops that the real CuPy has (``facts.json``, written by ``record``), refuses what a
real ``cupy.ndarray`` refuses, and counts what the device would do:

    with strict_device.device() as counts:  # new tensors of the engine lie on it
        ...
    counts.launches, counts.synchronizations, counts.to_device, counts.to_host  # lists of events; print(counts)

New memory is full of NaN, indices out of range wrap around, and what is added in no order is added in a random one. A
call of an elementwise or reducing function is one launch, a view none; what takes more is said where it is computed
(``functions.LAUNCHES``). Libraries' own kernels (cuBLAS, Thrust) are counted by what their algorithm needs.

It cannot show the GPU's own rounding, faults of NVRTC or the driver, races, and speed.
"""

from .arrays import ndarray
from .counts import Counts, Event, counting
from .engine import device
from .modules import CUPY, MODULES, make

__all__ = ["CUPY", "MODULES", "Counts", "Event", "counting", "device", "make", "ndarray"]
