"""Networks of mindcv in the real MindSpore and in Hookscope: one forward, a loss, the gradients of all weights.

    python -m tests.differential.mindcv --mindspore /path/to/python --mindcv /path/to/folder
    python -m tests.differential.mindcv --mindspore ... --mindcv ... resnet50 vit_b_32_224:224
    python -m tests.differential.mindcv --mindcv ... swin_tiny:224          # Hookscope alone: does it run?

``--mindspore`` is the Python of an environment with MindSpore 2.10, ``--mindcv`` the folder that mindcv and what it
needs are installed in (`pip install --target`). A network is a name of ``mindcv.list_models()``, with the side of
the images after a colon (64 where none is given). Weights come from a formula, and batch normalization uses its moving
statistics, so that both compute the same. Printed is the largest difference of an output, of the loss and of a
gradient, relative to the largest number of that tensor (a gradient's is at least 1e-4 of the network's largest), and
the seconds that each package took. Ends with 1 where names, dtypes or shapes differ, or numbers by more than ``CLOSE``.

The file runs itself in each package, with ``--run``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import traceback
import zlib
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "resnet18",
    "mobilenet_v3_small_100",
    "regnet_x_200mf",
    "densenet121",
    "shufflenet_v1_g3_05",
    "efficientnet_b0",
    "squeezenet1_0",
    "mnasnet_050",
    "repvgg_a0",
    "poolformer_s12:128",
)
SIZE, BATCH, CLASSES = 64, 2, 10
CLOSE = 2e-3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mindspore", help="the Python that has MindSpore")
    parser.add_argument("--mindcv", required=True, help="the folder that has mindcv")
    parser.add_argument("--run", nargs=2, metavar=("PACKAGE", "FOLDER"), help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", default=NAMES)
    options = parser.parse_args()
    if options.run:
        run_all(*options.run, options.mindcv, options.names)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        status = started(sys.executable, "hookscope", folder, options)
        if options.mindspore is None:
            return status
        wrong = status | started(options.mindspore, "mindspore", folder, options)
        for name in options.names:
            files = [Path(folder) / f"{package}-{name.partition(':')[0]}.npz" for package in ("mindspore", "hookscope")]
            missing = [file.stem for file in files if not file.exists()]
            text, fine = (f"no {missing}", False) if missing else compared(*map(np.load, files))
            print(f"{name}: {text}")
            wrong |= not fine
    return wrong


def started(python: str, package: str, folder: str, options: argparse.Namespace) -> int:
    """Run this file in one package; 1 if it broke."""
    environment = os.environ | {"GLOG_v": "4", "PYTHONPATH": str(ROOT) if package == "hookscope" else ""}
    order = [python, "-P", __file__, "--mindcv", options.mindcv, "--run", package, folder, *options.names]
    return int(subprocess.run(order, env=environment, check=False).returncode != 0)


def compared(reference: Any, answer: Any) -> tuple[str, bool]:
    """Return the differences between the files of both packages, in a line, and whether they are small."""
    if reference.files != answer.files:
        return f"other names: {sorted(set(reference.files) ^ set(answer.files))[:6]}", False
    largest = max(np.abs(reference[key]).max() for key in reference.files if key.startswith("gradient"))
    worst = {"output": (0.0, ""), "loss": (0.0, ""), "gradient": (0.0, "")}
    for key in reference.files:
        kind = key.partition(" ")[0]
        first, second = reference[key], answer[key]
        if first.shape != second.shape or first.dtype != second.dtype:
            return f"{key}: {first.dtype} {first.shape} there, {second.dtype} {second.shape} here", False
        if kind in worst:
            scale = max(np.abs(first).max(), 1e-4 * largest if kind == "gradient" else 1e-30)
            apart = float(np.abs(first.astype(np.float64) - second).max() / scale)
            worst[kind] = max(worst[kind], (apart if np.isfinite(apart) else np.inf, key))
    text = ", ".join(f"{kind} {apart:.1e}" for kind, (apart, _) in worst.items())
    seconds = f"{float(reference['seconds']):.1f} s there, {float(answer['seconds']):.1f} s here"
    return f"{text} ({worst['gradient'][1]}); {seconds}", max(apart for apart, _ in worst.values()) <= CLOSE


def run_all(package: str, folder: str, mindcv: str, names: list[str]) -> None:
    """Compute each network in this process's package and write a file for it; what fails is printed."""
    sys.path.insert(0, mindcv)
    if package == "hookscope":
        import hookscope

        hookscope.install_as_mindspore()
    for spec in names:
        name, _, size = spec.partition(":")
        try:
            np.savez(Path(folder) / f"{package}-{name}.npz", **one_step(name, int(size or SIZE)))
        except Exception:
            print(f"{package}: {name} fails", traceback.format_exc(limit=-3), sep="\n", flush=True)


def one_step(name: str, size: int) -> dict[str, Any]:
    """Return outputs, loss and gradients of a network, each by its name."""
    import mindspore as ms
    from mindcv.models import create_model
    from mindspore import Tensor, nn

    start = time.monotonic()
    network: Any = create_model(name, num_classes=CLASSES, pretrained=False)
    for weight in network.get_parameters():
        weight.set_data(Tensor(number_for(weight.name, weight.shape), weight.dtype))
    network.set_train(False)
    images = Tensor(np.random.default_rng(0).standard_normal((BATCH, 3, size, size)).astype(np.float32))
    labels, loss = Tensor(np.array([1, 7], np.int32)), nn.CrossEntropyLoss()

    def forward(images: Any) -> Any:
        outputs = network(images)
        outputs = outputs if isinstance(outputs, tuple | list) else (outputs,)
        return loss(outputs[0], labels), *outputs

    weights = network.trainable_params()
    (value, *outputs), gradients = ms.value_and_grad(forward, None, weights, has_aux=True)(images)
    results = {"loss": value.asnumpy()}
    results |= {f"output {i}": output.asnumpy() for i, output in enumerate(outputs)}
    results |= {f"gradient {w.name}": g.asnumpy() for w, g in zip(weights, gradients, strict=True)}
    results |= {f"other {w.name}": np.array(w.shape) for w in network.get_parameters() if not w.requires_grad}
    return results | {"seconds": np.array(time.monotonic() - start)}


def number_for(name: str, shape: tuple[int, ...]) -> Any:
    """Return a weight of this name: random for a matrix or kernel, near 1 for a scale, else small."""
    size = int(np.prod(shape))
    if len(shape) >= 2:
        drawn = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(size)
        values = drawn / np.sqrt(max(1, size / shape[0]))
    elif "gamma" in name or "variance" in name:
        values = 1 + 0.1 * np.abs(np.sin(np.arange(size)))
    else:
        values = 0.1 * np.cos(np.arange(size) * 1.7)
    return values.reshape(shape).astype(np.float32)


if __name__ == "__main__":
    sys.exit(main())
