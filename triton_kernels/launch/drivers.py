"""Triton drivers without PyTorch: one that launches on CuPy's device and stream, and one that only compiles.

A Triton driver provides the current device, the current stream and the compilation target. Triton's own uses PyTorch's
stream, or without PyTorch the device's default stream; work queued by CuPy on another stream would then not be waited
for.
"""

# mypy: disable-error-code="import-untyped, no-any-return"
# Reason: Triton and CuPy ship no types, so all that comes from them is Any.

from __future__ import annotations

import sys
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase


class CompileOnlyDriver(DriverBase):  # type: ignore[misc]  # Triton ships no types
    """Compiler driver for an NVIDIA GPU of the given compute capability (90 for 9.0), without such a GPU."""

    def __init__(self, capability: int) -> None:
        self._target = GPUTarget("cuda", capability, 32)

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        raise NotImplementedError("a compile-only driver launches nothing")

    def get_current_target(self) -> Any:
        return self._target

    def get_current_device(self) -> str:
        return str(self._target)  # the key of Triton's cache of compiled kernels

    def get_current_stream(self, device: object) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        raise NotImplementedError("a compile-only driver has no device")

    def get_benchmarker(self) -> Any:
        raise NotImplementedError("a compile-only driver runs nothing")


def make_cupy_driver(cupy: Any) -> Any:
    """Return this Triton's NVIDIA driver for CuPy's current device and stream (Triton 3.6 and later).

    It compiles Triton's small C launcher with the host's C compiler the first time, so a missing compiler or an old GPU
    driver may raise any error.
    """
    # Imported here because it loads the CUDA libraries, which a compile-only caller may lack.
    from triton.backends.nvidia.driver import CudaDriver, CudaLauncher, CudaUtils

    runtime = cupy.cuda.runtime

    class CupyDriver(CudaDriver):  # type: ignore[misc]  # Triton ships no types
        def __init__(self) -> None:
            # Not super().__init__(), which imports PyTorch in Triton 3.6.
            self.utils = CudaUtils()
            self.launcher_cls = CudaLauncher
            self._capabilities: dict[int, tuple[int, int]] = {}

        @staticmethod
        def is_active() -> bool:
            return True

        def get_current_device(self) -> int:
            return runtime.getDevice()

        def set_current_device(self, device: int) -> None:
            runtime.setDevice(device)

        def get_current_stream(self, device: int | None = None) -> int:
            return cupy.cuda.get_current_stream().ptr

        def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
            device = runtime.getDevice() if device is None else device
            if device not in self._capabilities:
                properties = runtime.getDeviceProperties(device)
                self._capabilities[device] = (properties["major"], properties["minor"])
            return self._capabilities[device]

        def get_active_torch_device(self) -> Any:
            raise RuntimeError("Hookscope's Triton driver runs on CuPy and has no PyTorch device")

    return CupyDriver()


def keep_torch_out() -> None:
    """Make Triton's one search for PyTorch find none.

    Triton 3.6 imports an installed PyTorch when it first inspects a kernel's argument (2 s and 400 MB without use
    here). Later versions only check whether it is already imported, and this has no effect.
    """
    if "torch" in sys.modules:
        return
    from triton.runtime.jit import mangle_type

    sys.modules["torch"] = None  # type: ignore[assignment]  # None is the documented "import fails here"
    try:
        mangle_type(3)
    except AttributeError:
        pass  # some versions use the entry without checking for None
    finally:
        del sys.modules["torch"]
