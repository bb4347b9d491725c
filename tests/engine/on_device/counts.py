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
    ("MLP", "float32"): (Held(28, 10), Held(108, 11)),
    ("MLP", "bfloat16"): (Held(34, 10), Held(164, 11)),
    ("MLP", "bfloat16 O2"): (Held(47, 10), Held(144, 11)),
    ("MLP", "float16 O2"): (Held(61, 20), Held(158, 21)),
    ("LeNet-5", "float32"): (Held(188, 22), Held(343, 23)),
    ("LeNet-5", "bfloat16"): (Held(215, 22), Held(475, 23)),
    ("LeNet-5", "bfloat16 O2"): (Held(248, 22), Held(433, 23)),
    ("LeNet-5", "float16 O2"): (Held(280, 38), Held(465, 39)),
    ("ResNet-18", "float32"): (Held(1365, 126), Held(2112, 127)),
    ("ResNet-18", "bfloat16"): (Held(1729, 126), Held(2925, 127)),
    ("ResNet-18", "bfloat16 O2"): (Held(1678, 126), Held(2435, 127)),
    ("ResNet-18", "float16 O2"): (Held(1865, 194), Held(2622, 195)),
    ("Transformer layer", "float32"): (Held(113, 30), Held(353, 31)),
    ("Transformer layer", "bfloat16"): (Held(146, 30), Held(570, 31)),
    ("Transformer layer", "bfloat16 O2"): (Held(202, 30), Held(503, 31)),
    ("Transformer layer", "float16 O2"): (Held(245, 50), Held(546, 51)),
    ("LSTM", "float32"): (Held(240, 18), Held(351, 19)),
    ("LSTM", "bfloat16"): (Held(271, 18), Held(446, 19)),
    ("LSTM", "bfloat16 O2"): (Held(289, 18), Held(410, 19)),
    ("LSTM", "float16 O2"): (Held(312, 31), Held(433, 32)),
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
            found = Held(len(counts.launches), len(counts.synchronizations))
            print(f"{name:<20}{precision:<14}{found}")


if __name__ == "__main__":
    main()
