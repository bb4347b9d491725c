"""Memory with and without recompute: the peak of one gradient over a network of 12 layers, and whether the bits agree.

    python benchmarks/recompute_memory.py

tracemalloc counts what NumPy allocates. Both networks have the same weights; each layer is recomputed by itself.
"""

from __future__ import annotations

import copy
import time
import tracemalloc

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops

LAYERS, WIDTH, BATCH = 12, 256, 512


class Layer(nn.Cell):
    """Two dense layers with what stands between them in a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm((WIDTH,))
        self.wide, self.narrow = nn.Dense(WIDTH, 4 * WIDTH), nn.Dense(4 * WIDTH, WIDTH)
        self.drop = nn.Dropout(p=0.1)

    def construct(self, x: Tensor) -> Tensor:
        return x + self.drop(self.narrow(ops.gelu(self.wide(self.norm(x)))))


def measured(net: nn.Cell, x: Tensor) -> tuple[float, float, list[bytes]]:
    """Peak in MiB, seconds, and all gradients as bytes."""
    compute = ms.value_and_grad(net, 0, net.trainable_params())
    ms.set_seed(1)
    start = time.perf_counter()
    compute(x)
    seconds = time.perf_counter() - start
    ms.set_seed(1)
    tracemalloc.start()
    value, (of_x, of_weights) = compute(x)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return peak, seconds, [t.asnumpy().tobytes() for t in (value, of_x, *of_weights)]


def main() -> None:
    """Measure and print."""
    ms.set_seed(0)
    plain = nn.SequentialCell(*[Layer() for _ in range(LAYERS)]).set_train()
    saving = copy.deepcopy(plain)
    for layer in saving.cells():
        layer.recompute()
    x = Tensor(np.random.default_rng(0).normal(size=(BATCH, WIDTH)).astype(np.float32))
    rows = {"kept": measured(plain, x), "recomputed": measured(saving, x)}
    print(f"{LAYERS} layers of width {WIDTH}, batch {BATCH}")
    for name, (peak, seconds, _) in rows.items():
        print(f"{name:12}peak {peak:8.1f} MiB   {seconds:6.3f} s")
    print(f"peak: {rows['recomputed'][0] / rows['kept'][0]:.2f} of that without recompute")
    print("gradients equal bit for bit:", rows["kept"][2] == rows["recomputed"][2])


if __name__ == "__main__":
    main()
