"""Counts and bounds of each network's requests to the device: ``python -m tests.engine.on_device.counts [triton]``.

``test_networks.py`` asserts ``BOUNDS``: launches and synchronizations of the third step, forward, backward and Adam,
with Triton's kernels and by CuPy alone. A change that needs fewer lowers a number here.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from tests import strict_device
from tests.engine.on_device.networks import NETWORKS, PRECISIONS, training

__all__ = ["BOUNDS", "Bound", "measured"]


@dataclass(frozen=True)
class Bound:
    """The most requests of a step."""

    launches: int
    synchronizations: int


# (network, precision): with Triton, by CuPy alone.
BOUNDS: dict[tuple[str, str], tuple[Bound, Bound]] = {
    ("MLP", "float32"): (Bound(20, 0), Bound(106, 0)),
    ("MLP", "bfloat16"): (Bound(20, 0), Bound(154, 0)),
    ("MLP", "bfloat16 O2"): (Bound(31, 0), Bound(129, 0)),
    ("MLP", "float16 O2"): (Bound(54, 0), Bound(179, 0)),
    ("LeNet-5", "float32"): (Bound(43, 0), Bound(341, 0)),
    ("LeNet-5", "bfloat16"): (Bound(43, 0), Bound(456, 0)),
    ("LeNet-5", "bfloat16 O2"): (Bound(67, 0), Bound(401, 0)),
    ("LeNet-5", "float16 O2"): (Bound(96, 0), Bound(499, 0)),
    ("ResNet-18", "float32"): (Bound(232, 0), Bound(2110, 0)),
    ("ResNet-18", "bfloat16"): (Bound(233, 0), Bound(2918, 0)),
    ("ResNet-18", "bfloat16 O2"): (Bound(360, 0), Bound(2423, 0)),
    ("ResNet-18", "float16 O2"): (Bound(440, 0), Bound(2936, 0)),
    ("Transformer layer", "float32"): (Bound(57, 0), Bound(339, 0)),
    ("Transformer layer", "bfloat16"): (Bound(58, 0), Bound(526, 0)),
    ("Transformer layer", "bfloat16 O2"): (Bound(100, 0), Bound(440, 0)),
    ("Transformer layer", "float16 O2"): (Bound(132, 0), Bound(569, 0)),
    ("LSTM", "float32"): (Bound(44, 0), Bound(347, 0)),
    ("LSTM", "bfloat16"): (Bound(46, 0), Bound(437, 0)),
    ("LSTM", "bfloat16 O2"): (Bound(62, 0), Bound(396, 0)),
    ("LSTM", "float16 O2"): (Bound(88, 0), Bound(470, 0)),
}


def measured(name: str, precision: str, triton: bool = False) -> tuple[list[float], strict_device.Counts]:
    """Return the losses of three steps on the strict device, and what the third asked for; losses are read after it."""
    with strict_device.device(triton) as counts:
        step = training(name, precision)
        losses = [step(), step()]
        counts.clear()
        losses.append(step())
        third = counts.copy()
        return [float(loss.asnumpy()) for loss in losses], third


def main() -> None:
    triton = sys.argv[1:2] == ["triton"]
    for name in NETWORKS:
        for precision in PRECISIONS:
            _, counts = measured(name, precision, triton)
            result = Bound(len(counts.launches), len(counts.synchronizations))
            print(f"{name:<20}{precision:<14}{result}")


if __name__ == "__main__":
    main()
