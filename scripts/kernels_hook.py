"""Build hook of hatchling for wheels: machine code of the CPU's kernels, so that users need no compiler.

The code is compiled for the baselines of the machine that the wheel is built on
(``hookscope.engine.cpu.machine_code``), and so is the wheel's tag. If it cannot be compiled, because Numba is missing
as in pip's isolated builds, the wheel is one for all machines, on which kernels are compiled on first use.
``HOOKSCOPE_KERNELS`` names a folder that already contains machine code, or receives it; by default it is
``build/kernels``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INSIDE = "hookscope/engine/cpu/built"


class KernelsHook(BuildHookInterface[Any]):
    """Build hook that adds machine code to wheels; not to editable installations, for which ``make`` does it."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile missing kernels before the wheel's files are listed."""
        if self.target_name != "wheel" or version == "editable":
            return
        folder = Path(os.environ.get("HOOKSCOPE_KERNELS") or Path(self.root, "build", "kernels"))
        command = [
            sys.executable,
            "-m",
            "hookscope.engine.cpu.build_kernels",
            "--baselines",
            "package",
            "--into",
            folder,
        ]
        result = subprocess.run(command, cwd=self.root, text=True, capture_output=True, check=False)
        files = sorted(folder.glob("*.code"))
        if result.returncode or not files:
            reason = (result.stderr.strip().splitlines() or ["nothing is made for this machine"])[-1]
            self.app.display_warning(f"The wheel gets no machine code of kernels: {reason}")
            return
        build_data["force_include"].update({str(path): f"{INSIDE}/{path.name}" for path in files})
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
