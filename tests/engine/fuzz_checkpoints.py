"""Damaged checkpoint files by the thousand: each loads or is refused by one clear error.

    python tests/engine/fuzz_checkpoints.py [--files 1000000] [--seed 0]

Of a small file in each format: every byte changed in four ways, every truncation, and random splices of the file with
itself and with noise. A file without a checksum may load with other values; with one, the values equal the saved ones.
Each is loaded into a network, which does not change if the file is refused. The command line limits memory, too.
``test_serialization_fuzz.py`` runs 12,000 of them in the suite.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn

SEEDS: dict[str, dict[str, Any]] = {
    "plain.ckpt": {},
    "checksum.ckpt": {"crc_check": True},
    "plain.safetensors": {"format": "safetensors"},
    "checksum.safetensors": {"format": "safetensors", "crc_check": True},
}
PATTERNS = (0x01, 0x08, 0x80, 0xFF)


def values() -> dict[str, Tensor]:
    return {
        "w": Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)),
        "half": Tensor([0.5, -1.5], ms.bfloat16),
        "step": Tensor(7),
        "none": Tensor(np.zeros((0, 2), np.int8)),
    }


class Network(nn.Cell):
    """Network with the saved parameters."""

    def __init__(self) -> None:
        super().__init__()
        for name, value in values().items():
            self.insert_param_to_cell(name, Parameter(ms.ops.zeros_like(value), name))


def damaged(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Yield ``count`` damaged forms of a file: first the systematic ones, then random ones."""
    made = 0
    for index in range(len(content)):
        for pattern in PATTERNS:
            yield content[:index] + bytes([content[index] ^ pattern]) + content[index + 1 :]
        yield content[:index]
        made += len(PATTERNS) + 1
    chance = random.Random(seed)
    for _ in range(count - made):
        changed = bytearray(content)
        for _ in range(chance.randint(1, 4)):
            begin = chance.randrange(len(changed) + 1)
            end = min(len(changed), begin + chance.randint(0, 12))
            source = chance.randrange(len(content))
            piece = content[source : source + chance.randint(0, 24)]
            changed[begin:end] = chance.choice((piece, chance.randbytes(chance.randint(0, 12)), b"\xff" * 9, b""))
        yield bytes(changed)


def protected(tensor: Tensor, name: str) -> Any:
    """Return the values that a format's checksum covers: those of MindSpore's safetensors exclude dtype and shape."""
    content = tensor.asnumpy().tobytes()
    return content if name.endswith(".safetensors") else (tensor.dtype, tensor.shape, content)


def fuzz(folder: Path, files: int, seed: int = 0) -> dict[str, int]:
    """Return how many files were tried, loaded, and refused.

    Raises:
        AssertionError: an error of another class or without the file's name, other values than the checksum stands for,
            a network half changed, or a file beside those that are tried.
    """
    counts = {"files": 0, "loaded": 0, "refused": 0}
    net = Network()
    parameters = list(net.get_parameters())
    for name, options in SEEDS.items():
        good, bad = folder / f"good-{name}", folder / name
        ms.save_checkpoint(values(), good, **options)
        original = good.read_bytes()
        for content in damaged(original, files // len(SEEDS), seed):
            bad.write_bytes(content)
            counts["files"] += 1
            before = [parameter._array for parameter in parameters]
            try:
                result = ms.load_checkpoint(bad, net, **options)
            except (ValueError, TypeError, RuntimeError) as error:
                counts["refused"] += 1
                message = str(error)
                # An error about the network names the parameter, any other the file.
                what = name if type(error) is ValueError else "For 'load_param_into_net', '"
                assert what in message and message.isprintable() and len(message) < 2000, error  # noqa: PT017  # both are right
                after = [parameter._array for parameter in parameters]
                assert all(a is b for a, b in zip(after, before, strict=True)), content
                continue
            counts["loaded"] += 1
            if "crc_check" in options:
                actual = {key: protected(p, name) for key, p in result.items()}
                assert actual == {key: protected(p, name) for key, p in values().items()}, content
    assert sorted(os.listdir(folder)) == sorted([*SEEDS, *(f"good-{name}" for name in SEEDS)])
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + 256 * 2**20,) * 2)
    with tempfile.TemporaryDirectory() as folder:
        print(fuzz(Path(folder), options.files, options.seed))
