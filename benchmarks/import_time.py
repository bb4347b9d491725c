"""Cost of `import hookscope` and of its engine beside `import numpy`, each in a fresh process.

    python benchmarks/import_time.py [--repeats 15]

NumPy is imported before the clock starts for the others. The imports take turns, so that a change in the
machine's load affects all alike.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys

# Name -> the statement before the clock starts, and the timed statement.
IMPORTS = {
    "numpy": ("pass", "import numpy"),
    "hookscope": ("import numpy", "import hookscope"),
    "hookscope.engine": ("import numpy", "import hookscope.engine"),
    "mindspore, as alias": ("import numpy", "import hookscope; hookscope.install_as_mindspore(); import mindspore.nn"),
}
TIMED = "{}\nimport time\nbegin = time.perf_counter()\n{}\nprint(time.perf_counter() - begin)"
# Bytecode is cached, as it is for every user.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def import_seconds(before: str, statement: str) -> float:
    """Return the time of one import, without the interpreter's own start."""
    command = [sys.executable, "-c", TIMED.format(before, statement)]
    return float(subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args(arguments).repeats
    times: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for before, statement in IMPORTS.values():  # fill the caches
        import_seconds(before, statement)
    for _ in range(repeats):
        for name, (before, statement) in IMPORTS.items():
            times[name].append(import_seconds(before, statement))
    print(f"{'import':<20} {'median ms':>10} {'min ms':>8}   ({repeats} processes each; after NumPy's own)")
    for name, values in times.items():
        print(f"{name:<20} {1e3 * statistics.median(values):>10.1f} {1e3 * min(values):>8.1f}")


if __name__ == "__main__":
    main()
