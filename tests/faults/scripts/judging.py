"""Findings of a session without a network in each training script, as `hookscope run --check` makes it.

python -m tests.faults.scripts.judging                     # all scripts
python -m tests.faults.scripts.judging NAME ...            # some
python -m tests.faults.scripts.judging --mended            # the planted ones without their faults
python -m tests.faults.scripts.judging --steps 2000 NAME   # for longer than the default
"""

from __future__ import annotations

import importlib
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path

from hookscope.engine.debug import DebugSession
from tests.faults.judging import lines_of

from .script import Script

__all__ = ["HEALTHY_SCRIPTS", "PLANTED_SCRIPTS", "session_of"]

_FILES = sorted(path.stem for path in Path(__file__).parent.glob("*_*.py"))


def _scripts(prefix: str) -> tuple[Script, ...]:
    modules = [importlib.import_module(f".{name}", __package__) for name in _FILES if name.startswith(prefix)]
    return tuple(value for module in modules for value in vars(module).values() if isinstance(value, Script))


PLANTED_SCRIPTS = _scripts("planted_")
HEALTHY_SCRIPTS = _scripts("healthy_")


def session_of(script: Script, mended: bool = False, steps: int | None = None) -> DebugSession:
    """Return the session that watched a script, without a network as argument."""
    session = DebugSession(None, conditions=["all"])
    with warnings.catch_warnings(), session, suppress(Exception):
        warnings.simplefilter("ignore")
        (script.run_mended if mended else script.run)(steps)
    return session


def main(arguments: list[str]) -> None:
    mended = "--mended" in arguments
    steps = int(arguments[arguments.index("--steps") + 1]) if "--steps" in arguments else None
    names = {name for name in arguments if not name.startswith("--") and not name.isdigit()}
    for script in PLANTED_SCRIPTS if mended else (*PLANTED_SCRIPTS, *HEALTHY_SCRIPTS):
        if names and script.name not in names:
            continue
        start = time.process_time()
        session = session_of(script, mended, steps)
        seconds = time.process_time() - start
        fault = f"{script.fault} {script.places}" if script.fault and not mended else "healthy"
        print(f"== {script.name} [{script.kind}] {session.step} steps, {seconds:.1f} s: {fault}")
        print(*(f"     {line[:260]}" for line in lines_of(session.findings().causes())), sep="\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
