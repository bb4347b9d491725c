"""What `import hookscope` and the engine cost over `import numpy`, each in a fresh process.

    python benchmarks/import_time.py [--repeats 15]

The imports take turns, so that a change in the machine's load meets all alike.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys

STATEMENTS = {
    "numpy": "import numpy",
    "hookscope": "import numpy; import hookscope",
    "engine": "import numpy; import hookscope.engine",
    "as mindspore": "import numpy; import hookscope; hookscope.install_as_mindspore(); import mindspore.nn",
}
TIMED = "import time; begin = time.perf_counter(); {}; print(time.perf_counter() - begin)"
# Bytecode is kept, as it is for every user.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def import_seconds(statement: str) -> float:
    """The time of one import, without the interpreter's own start."""
    command = [sys.executable, "-c", TIMED.format(statement)]
    return float(subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args(arguments).repeats
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for statement in STATEMENTS.values():  # fill the caches
        import_seconds(statement)
    for _ in range(repeats):
        for name, statement in STATEMENTS.items():
            times[name].append(import_seconds(statement))
    numpy = statistics.median(times["numpy"])
    print(f"{'import':<14} {'median ms':>10} {'over numpy':>11}   ({repeats} processes each)")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:<14} {1e3 * median:>10.1f} {1e3 * (median - numpy):>11.1f}")


if __name__ == "__main__":
    main()
