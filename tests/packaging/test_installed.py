"""Files after `pip install`: the kernel, the command, the pytest plugin."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager


def test_jupyter_finds_the_kernel() -> None:
    spec = KernelSpecManager().get_kernel_spec("hookscope")
    assert Path(spec.resource_dir).parts[-4:] == ("share", "jupyter", "kernels", "hookscope")
    assert spec.display_name == "Hookscope"
    assert spec.argv[1:] == ["-m", "hookscope.kernel", "-f", "{connection_file}"]


def test_the_command_line_tells_the_installed_version() -> None:
    version = distribution("hookscope").version
    command = Path(sys.executable).parent / "hookscope"
    for arguments in ([str(command)], [sys.executable, "-m", "hookscope"]):
        output = subprocess.check_output([*arguments, "--version"], text=True, timeout=240)
        assert version in output


def test_the_package_and_its_metadata_agree_on_the_version(
    run_python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    result = run_python("import hookscope; print(hookscope.__version__)")
    assert result.stdout.strip() == distribution("hookscope").version


def test_the_pytest_plugin_does_nothing_unasked(run_python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    code = "import sys, pytest; pytest.main(['--version'])"
    loaded = "print([name for name in ('numpy', 'mindspore', 'hookscope.engine') if name in sys.modules])"
    assert run_python(f"{code}; {loaded}").stdout.splitlines()[-1] == "[]"
