"""File of a run's measurements, ``build/benchmarks.json``: a section for each benchmark.

``performance_page`` makes the tables and the picture of docs/performance.md from it.
"""

from __future__ import annotations

import json
import os
import platform
import time
from pathlib import Path
from typing import Any

__all__ = ["PATH", "keep", "load"]

PATH = Path(__file__).resolve().parent.parent / "build" / "benchmarks.json"


def load(path: Path = PATH) -> dict[str, Any]:
    """Return the saved sections; none before the first run."""
    return json.loads(path.read_text()) if path.exists() else {}


def keep(section: str, content: Any, path: Path = PATH) -> None:
    """Save a section, which replaces the one of that name."""
    sections = load(path)
    sections["where"] = {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "day": time.strftime("%Y-%m-%d"),
    }
    sections[section] = content
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(sections, indent=1) + "\n")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
