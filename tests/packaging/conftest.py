"""The wheels that the tests look into, built without a network: one from this tree, one from what the sdist holds."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder


def _build(builder: type[SdistBuilder] | type[WheelBuilder], root: Path, folder: Path) -> Path:
    (path,) = builder(str(root)).build(directory=str(folder), versions=["standard"])
    return Path(path)


@pytest.fixture(scope="session")
def wheels(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Provide the path of the wheel from the tree, and of the one from the sdist, which others build from."""
    folder = tmp_path_factory.mktemp("wheels")
    os.environ["HOOKSCOPE_KERNELS"] = str(repository / "build" / "kernels")  # compiled once, for both
    sdist = _build(SdistBuilder, repository, folder)
    subprocess.run(["tar", "-xzf", str(sdist), "-C", str(folder)], check=True, timeout=240)
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    return {
        "tree": _build(WheelBuilder, repository, folder / "tree"),
        "sdist": _build(WheelBuilder, unpacked, folder / "sdist"),
    }
