"""All programs of the corpus: ``PLANTED`` and ``HEALTHY``, in the order of their files; and more of each, which were
written later by an author who knew only the names of the conditions.

    for program in PLANTED:
        run = program.build()
        ...                     # attach the debugger to run.net
        run.train()             # may raise program.raises
        ...                     # compare with program.kind, program.place and program.also

``program.mended()`` instead of ``build()`` is the same program without its fault: 90 more healthy ones.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from .programs import Program

_FILES = sorted(path.stem for path in Path(__file__).parent.glob("*_*.py"))


def _programs(prefix: str) -> tuple[Program, ...]:
    modules = [importlib.import_module(f".{name}", __package__) for name in _FILES if name.startswith(prefix)]
    return tuple(value for module in modules for value in vars(module).values() if isinstance(value, Program))


PLANTED = _programs("planted_")
HEALTHY = _programs("healthy_")
MORE_PLANTED = _programs("more_planted_")
MORE_HEALTHY = _programs("more_healthy_")
