"""Counts of Python's instructions on the engine's shortest paths, which do not vary as times do.

    python tests/engine/bytecode_counts.py                     prints the counts of this Python
    python tests/engine/bytecode_counts.py --renew PYTHON ...  writes those of other interpreters to the .json beside it

Instructions in files of the engine count, others do not: NumPy's own lines are not ours.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_suffix(".json")
REPOSITORY = Path(__file__).resolve().parents[2]
OPERATORS = 25  # times four are the hundred


class _Counter:
    """Counter that counts while it is open."""

    def __init__(self) -> None:
        import hookscope.engine

        self.count = 0
        self._engine = str(Path(hookscope.engine.__file__).parent)

    def __enter__(self) -> _Counter:
        self.count = 0
        self._before = sys.gettrace()
        sys.settrace(self._entered)
        return self

    def __exit__(self, *exc_info: object) -> None:
        sys.settrace(self._before)

    def _entered(self, frame: Any, _event: str, _argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(self._engine):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return self._executed

    def _executed(self, _frame: Any, event: str, _argument: Any) -> Any:
        self.count += event == "opcode"
        return self._executed


def _settled(once: Callable[[], int]) -> int:
    """Return the count of a call after some: Python rewrites instructions that it has seen a few times."""
    for _ in range(50):
        once()
    return once()


def counted() -> dict[str, int]:
    """Return the counts of this interpreter, by path."""
    import hookscope.engine as ms
    from hookscope.engine import Tensor, nn

    counter = _Counter()
    x, y, w, b = (Tensor([value] * 4, ms.float32) for value in (0.5, 1.5, 0.25, 1.0))

    class Same(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return x

    same = Same()

    def add() -> int:
        with counter:
            x + y
        return counter.count

    def recorded_add() -> int:
        count = 0

        def function(x: Tensor) -> Tensor:
            nonlocal count
            with counter:
                result = x + y
            count = counter.count
            return result

        ms.grad(function)(x)
        return count

    def call() -> int:
        with counter:
            same(x)
        return counter.count

    def chain(x: Tensor) -> Tensor:
        result = x
        for _ in range(OPERATORS):
            result = (result * w + b - x) * w
        return result.sum()

    gradient = ms.grad(chain)

    def small_operators() -> int:
        with counter:
            gradient(x)
        return counter.count

    paths: dict[str, Callable[[], int]] = {
        "x + y": add,
        "x + y, recorded": recorded_add,
        "call of a cell": call,
        "100 operators, forward and backward": small_operators,
    }
    gc.disable()  # freeing objects may run code of the engine
    return {name: _settled(once) for name, once in paths.items()}


def of(python: str) -> tuple[str, dict[str, int]]:
    """Return the version of an interpreter, as "3.11", and its counts; taken in a process of its own."""
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("HOOKSCOPE_", "PYTHON", "COV"))
    }
    run = subprocess.run(
        [python, __file__],
        env={**environment, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise RuntimeError(f"{python}: {run.stderr}")
    version, counts = json.loads(run.stdout)
    return version, counts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--renew", nargs="+", metavar="PYTHON", help="interpreters whose counts are to be written")
    options = parser.parse_args()
    if not options.renew:
        print(json.dumps([f"{sys.version_info.major}.{sys.version_info.minor}", counted()]))
        return
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    recorded |= dict(of(python) for python in options.renew)
    RECORDED.write_text(json.dumps(dict(sorted(recorded.items())), indent=1) + "\n")
    print(RECORDED.read_text(), end="")


if __name__ == "__main__":
    main()
