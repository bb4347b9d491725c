"""Kernel start beside plain python3's: from starting the process to the first execute_reply.

    python benchmarks/kernel_start.py [--repeats 10]

The two take turns, so that a change in the machine's load affects both alike.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

# Bytecode is cached, as it is for every user: without it Hookscope's files would be compiled at each start.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
KERNELS = {"python3": "ipykernel_launcher", "hookscope": "hookscope.kernel"}


def start_seconds(module: str) -> float:
    """Return the time of one start, up to the reply to the first cell."""
    manager = KernelManager()
    argv = [sys.executable, "-m", module, "-f", "{connection_file}"]
    manager._kernel_spec = KernelSpec(argv=argv, language="python")
    # ZeroMQ's client retries every 100 ms until the kernel listens, which would round the times to that.
    manager.context.RECONNECT_IVL = 1
    begin = time.perf_counter()
    manager.start_kernel(env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = manager.client()
    try:
        client.start_channels(iopub=False, stdin=False, hb=False, control=False)
        message = client.execute("1 + 1")
        while client.get_shell_msg(timeout=60)["parent_header"]["msg_id"] != message:
            pass
        return time.perf_counter() - begin
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Kernel start beside plain python3's.")
    parser.add_argument("--repeats", type=int, default=10)
    repeats = parser.parse_args(arguments).repeats
    times: dict[str, list[float]] = {name: [] for name in KERNELS}
    for module in KERNELS.values():  # fill the caches
        start_seconds(module)
    for _ in range(repeats):
        for name, module in KERNELS.items():
            times[name].append(start_seconds(module))
    print(f"{'kernel':<10} {'median s':>9} {'min s':>7} {'max s':>7}   ({repeats} starts each)")
    for name, values in times.items():
        print(f"{name:<10} {statistics.median(values):>9.3f} {min(values):>7.3f} {max(values):>7.3f}")
    ratio = statistics.median(times["hookscope"]) / statistics.median(times["python3"])
    print(f"hookscope / python3, medians: {ratio:.3f}")


if __name__ == "__main__":
    main()
