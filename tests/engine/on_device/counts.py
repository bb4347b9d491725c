"""``python -m tests.engine.on_device.counts [triton]``: what a step of each network asks of the device, and may ask.

``HELD`` is held by ``test_networks.py``: launches and synchronizations of the third step, forward, backward and Adam,
with Triton's kernels and by CuPy alone. Who needs fewer lowers a number here.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from tests import strict_device
from tests.engine.on_device.networks import NETWORKS, PRECISIONS, training

__all__ = ["HELD", "Held", "measured"]


@dataclass(frozen=True)
class Held:
    """The most that a step may ask for."""

    launches: int
    synchronizations: int


# (network, precision): with Triton, by CuPy alone.
HELD: dict[tuple[str, str], tuple[Held, Held]] = {
    ("MLP", "float32"): (Held(20, 0), Held(106, 0)),
    ("MLP", "bfloat16"): (Held(20, 0), Held(154, 0)),
    ("MLP", "bfloat16 O2"): (Held(31, 0), Held(129, 0)),
    ("MLP", "float16 O2"): (Held(54, 0), Held(179, 0)),
    ("LeNet-5", "float32"): (Held(43, 0), Held(341, 0)),
    ("LeNet-5", "bfloat16"): (Held(43, 0), Held(456, 0)),
    ("LeNet-5", "bfloat16 O2"): (Held(67, 0), Held(401, 0)),
    ("LeNet-5", "float16 O2"): (Held(96, 0), Held(499, 0)),
    ("ResNet-18", "float32"): (Held(232, 0), Held(2110, 0)),
    ("ResNet-18", "bfloat16"): (Held(233, 0), Held(2918, 0)),
    ("ResNet-18", "bfloat16 O2"): (Held(360, 0), Held(2423, 0)),
    ("ResNet-18", "float16 O2"): (Held(440, 0), Held(2936, 0)),
    ("Transformer layer", "float32"): (Held(57, 0), Held(339, 0)),
    ("Transformer layer", "bfloat16"): (Held(58, 0), Held(526, 0)),
    ("Transformer layer", "bfloat16 O2"): (Held(100, 0), Held(440, 0)),
    ("Transformer layer", "float16 O2"): (Held(132, 0), Held(569, 0)),
    ("LSTM", "float32"): (Held(44, 0), Held(347, 0)),
    ("LSTM", "bfloat16"): (Held(46, 0), Held(437, 0)),
    ("LSTM", "bfloat16 O2"): (Held(62, 0), Held(396, 0)),
    ("LSTM", "float16 O2"): (Held(88, 0), Held(470, 0)),
}


def measured(name: str, precision: str, triton: bool = False) -> tuple[list[float], strict_device.Counts]:
    """The losses of three steps on the strict device, and what the third asked for; losses are read after it."""
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
            result = Held(len(counts.launches), len(counts.synchronizations))
            print(f"{name:<20}{precision:<14}{result}")


if __name__ == "__main__":
    main()
