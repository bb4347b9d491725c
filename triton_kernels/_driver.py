"""Triton drivers that need no PyTorch: one that launches on CuPy's device and stream, one that only compiles.

A Triton driver answers which device and stream are current, and what to compile for. The one Triton ships
takes PyTorch's stream, or without PyTorch the device's default one; work queued by CuPy on another stream
would then not be waited for.
"""

# mypy: disable-error-code="import-untyped, no-any-return"
# Reason: Triton and CuPy ship no types, so all that comes from them is Any.

from __future__ import annotations

import sys
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase


class CompileOnlyDriver(DriverBase):  # type: ignore[misc]  # Triton ships no types
    """Compiles for an NVIDIA GPU of the given compute capability (90 for 9.0) where there is none."""

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
        return str(self._target)  # Triton's cache of compiled kernels is keyed on it

    def get_current_stream(self, device: object) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        raise NotImplementedError("a compile-only driver has no device")

    def get_benchmarker(self) -> Any:
        raise NotImplementedError("a compile-only driver runs nothing")


def make_cupy_driver(cupy: Any) -> Any:
    """The NVIDIA driver of this Triton on CuPy's current device and stream (Triton 3.6 and later).

    Compiles Triton's small C launcher with the host's C compiler the first time, and so may raise whatever a
    missing compiler or an old GPU driver makes it raise.
    """
    # Imported here because it looks for the CUDA libraries, which a compile-only caller need not have.
    from triton.backends.nvidia.driver import CudaDriver, CudaLauncher, CudaUtils

    runtime = cupy.cuda.runtime

    class CupyDriver(CudaDriver):  # type: ignore[misc]  # Triton ships no types
        def __init__(self) -> None:
            # Not super().__init__(), which in Triton 3.6 imports PyTorch.
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
    """Let Triton look for PyTorch, once, where it finds none.

    Triton 3.6 imports an installed PyTorch the first time it looks at a kernel's argument (2 s and 400 MB
    that nobody here needs). Later versions only look whether somebody else has imported it, and this changes
    nothing.
    """
    if "torch" in sys.modules:
        return
    from triton.runtime.jit import mangle_type

    sys.modules["torch"] = None  # type: ignore[assignment]  # None is the documented "import fails here"
    try:
        mangle_type(3)
    except AttributeError:
        pass  # some versions look into the entry without asking whether it is None
    finally:
        del sys.modules["torch"]
