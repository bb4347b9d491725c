"""A wheel from the sdist, installed into an environment of its own: it runs the demo, and goes away whole."""

from __future__ import annotations

import os
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest


class Installation:
    """An empty virtual environment that finds the libraries of this one, but not this one's hookscope."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "an environment"
        self.python = self.folder / "bin" / "python"
        self.cache = folder / "cache"
        venv.create(self.folder, symlinks=True)
        (packages,) = self.folder.glob("lib/python*/site-packages")
        # Folders that a .pth file names are searched, but their own .pth files are not read: no editable install.
        (packages / "libraries.pth").write_text("\n".join(site.getsitepackages()))
        templates = Path("share", "jupyter", "nbconvert")
        (self.folder / templates.parent / "kernels").mkdir(parents=True)  # ipykernel's place, which pip leaves
        (self.folder / templates).symlink_to(sys.prefix / templates)

    def run(self, *command: str | Path) -> str:
        """Run a command in an empty folder; what it printed."""
        dropped = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHOME", "NUMBA_CACHE_DIR", "JUPYTER_PATH")
        environment = {name: text for name, text in os.environ.items() if name not in dropped}
        environment |= {"XDG_CACHE_HOME": str(self.cache), "PATH": f"{self.python.parent}:{os.environ['PATH']}"}
        result = subprocess.run(
            list(map(str, command)),
            cwd=self.folder.parent,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def pip(self, *arguments: str | Path) -> None:
        """Run this environment's pip on that one."""
        options = ("--quiet", "--disable-pip-version-check", "--no-input")
        self.run(sys.executable, "-m", "pip", "--python", self.python, *options, *arguments)

    def files(self) -> set[str]:
        """Return its files."""
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}


@pytest.mark.timeout(400)
@pytest.mark.parametrize("with_demo", [False, pytest.param(True, marks=pytest.mark.ci_only)])
def test_it_runs_the_demo_and_leaves_nothing_behind(
    with_demo: bool, wheels: dict[str, Path], repository: Path, tmp_path: Path
) -> None:
    """The demo compiles all it needs, which takes long; without it, only the import is tried."""
    installation = Installation(tmp_path)
    before = installation.files()
    installation.pip("install", "--no-index", "--no-deps", wheels["sdist"])
    result = installation.run(installation.python, "-c", "import hookscope; print(hookscope.__file__)")
    assert Path(result.strip()).is_relative_to(installation.folder)

    if with_demo:
        demo, tour = repository / "scripts" / "demo.py", repository / "notebooks" / "01_tour.ipynb"
        output = installation.run(installation.python, demo, tour, "--output", tmp_path / "demo")
        assert "wrong_bprop in gate" in output and "before:" in output and "after:" in output
        assert (tmp_path / "demo" / "01_tour.html").is_file()
        # The tour's kernels came compiled, for any processor: nothing was left to compile.
        assert list(installation.cache.glob("hookscope/numba/*")) == []

    installation.pip("uninstall", "--yes", "hookscope")
    assert installation.files() - before == set()
