"""Device of an image transform: the CPU."""

from __future__ import annotations

from typing import Self

from ...base.argument_checks import check_type

__all__ = ["OnDevice"]


class OnDevice:
    """Mixin of the transforms that MindSpore also runs on Ascend devices."""

    def device(self, device_target: str = "CPU") -> Self:
        """Select the device on which the transform runs.

        Args:
            device_target: "CPU".

        Returns:
            the transform itself.

        Raises:
            TypeError: not a text.
            ValueError: an unknown device.
            NotImplementedError: "Ascend".
        """
        caller = f"{type(self).__name__}.device"
        if check_type(device_target, str, caller, "device_target", show=repr) == "Ascend":
            raise NotImplementedError(
                f"vision.{caller}('Ascend') is not covered by hookscope: transforms run on the CPU"
            )
        if device_target != "CPU":
            raise ValueError(f"For '{caller}', 'device_target' must be 'CPU', but got {device_target!r}")
        return self
