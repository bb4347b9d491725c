"""Installation of the kernelspec with the path of this interpreter.

`pip install` already puts a kernelspec next to the Jupyter of the same environment. This is for a Jupyter in another
environment, which needs the path of the Python that has Hookscope.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

SPEC_FOLDER = Path(__file__).parent / "kernelspec"


def install_kernelspec(name: str = "hookscope", prefix: str | None = None, user: bool = False) -> Path:
    """Install the kernelspec for `prefix`, for the user, or for all users, and return its folder."""
    if not re.fullmatch(r"[A-Za-z0-9._-]+", name):
        raise ValueError(f"a kernel's name has only letters, digits and . _ -, got {name!r}")
    from jupyter_client.kernelspec import KernelSpecManager

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(SPEC_FOLDER, folder, dirs_exist_ok=True)
        file = Path(folder, "kernel.json")
        spec = json.loads(file.read_text(encoding="utf-8"))
        spec["argv"][0] = sys.executable
        if name != "hookscope":
            spec["display_name"] += f" ({name})"
        file.write_text(json.dumps(spec, indent=2) + "\n", encoding="utf-8")
        manager = KernelSpecManager()
        return Path(manager.install_kernel_spec(folder, kernel_name=name, user=user, prefix=prefix))
