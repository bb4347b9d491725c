"""Convolution without columns, for groups of few channels; images, windows and ``shape`` as in ``convolution``."""

from __future__ import annotations

from typing import Any

from ..library.loops import f32, floats, i64, kernel, read_array
from ..library.spans import DOT, SPREAD, SUM, clear, meet

__all__ = ["directly"]


@kernel(read_array(i64, 2), read_array(i64), *[i64] * 4)
def directly(first: int, stop: int, taps: Any, shape: Any, what: int, x: int, weight: int, y: int) -> None:
    """Compute a group a part: the outputs y (``what`` 0), or from the gradient y that by x (1) or by ``weight`` (2)."""
    image, outputs = shape[0] * shape[1] * shape[2], shape[6] * shape[7] * shape[8]
    wide, samples, channels, kernels = shape[8], shape[9], shape[10], shape[11]
    of_image, of_outputs = 4 * image * samples, 4 * outputs * samples
    for group in range(first, stop):
        numbers = floats(weight + 4 * group * kernels * channels * len(taps), kernels * channels * len(taps))
        if what == 0:
            clear(y + group * kernels * of_outputs, kernels * outputs * samples)
        elif what == 1:
            clear(x + group * channels * of_image, channels * image * samples)
        else:
            numbers[:] = f32(0)
        mode = SUM if what == 0 else SPREAD if what == 1 else DOT
        for k in range(kernels):
            line = y + (group * kernels + k) * of_outputs
            for begin in range(0, outputs, wide):
                for channel in range(channels):
                    for tap in range(len(taps)):
                        position = (k * channels + channel) * len(taps) + tap
                        result = meet(
                            mode,
                            x + (group * channels + channel) * of_image,
                            line + 4 * begin * samples,
                            taps[tap],
                            shape,
                            begin,
                            begin + wide,
                            0,
                            samples,
                            numbers[position],
                        )
                        if what == 2:
                            numbers[position] += result
