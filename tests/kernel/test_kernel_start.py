"""A Hookscope kernel after its start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from kernel_driver import Kernel


def test_it_starts_without_the_engine_and_introduces_itself() -> None:
    with Kernel(cwd=Path.cwd()) as kernel:
        heavy = "['hookscope.engine', 'numpy', 'ipywidgets', 'anywidget', 'matplotlib', 'triton', 'cupy']"
        assert kernel.run(f"import sys; print([m for m in {heavy} if m in sys.modules])").text == "[]\n"
        info = kernel.query("kernel_info_request", {})["content"]
        assert info["implementation"] == "hookscope"
        assert info["banner"].startswith("Hookscope ")
        assert info["language_info"]["name"] == "python"
        assert "debugger" in info["supported_features"]
        assert kernel.run("%lsmagic").status == "ok"
        assert kernel.run(
            "from IPython import get_ipython\n'cell' in get_ipython().magics_manager.magics['cell']"
        ).of_type("execute_result")[0]["content"]["data"] == {"text/plain": "True"}


def test_a_users_file_in_the_notebooks_folder_cannot_break_the_start(tmp_path: Path) -> None:
    (tmp_path / "traitlets.py").write_text("raise RuntimeError('shadowed')\n")
    (tmp_path / "mine.py").write_text("word = 'found'\n")
    with Kernel(cwd=tmp_path) as kernel:
        assert kernel.run("import mine; print(mine.word)").text == "found\n"


IMPORTED = "import mindspore; print(mindspore.__name__)"


@pytest.mark.parametrize(
    ("setting", "installed", "answer"),
    [
        ("auto", False, "hookscope.engine\n"),
        ("auto", True, "mindspore\n"),
        ("always", True, "hookscope.engine\n"),
        ("never", True, "mindspore\n"),
    ],
)
def test_alias_mindspore_decides_who_answers(tmp_path: Path, setting: str, installed: bool, answer: str) -> None:
    if installed:
        (tmp_path / "mindspore").mkdir()
        (tmp_path / "mindspore" / "__init__.py").touch()
    env = {"PYTHONPATH": str(tmp_path), "HOOKSCOPE_ALIAS_MINDSPORE": setting}
    with Kernel(env=env) as kernel:
        assert kernel.run(IMPORTED).text == answer


def test_alias_mindspore_can_be_configured_as_any_kernel_option() -> None:
    argv = ["-m", "hookscope.kernel", "-f", "{connection_file}", "--HookscopeKernel.alias_mindspore=never"]
    with Kernel(argv=argv) as kernel:
        assert (
            kernel.run(f"try: {IMPORTED}\nexcept ImportError as error: print(error)").text
            == "No module named 'mindspore'\n"
        )


def test_a_plain_kernel_gets_the_magics_and_cannot_pause() -> None:
    with Kernel(argv=["-m", "ipykernel_launcher", "-f", "{connection_file}"]) as kernel:
        assert kernel.run("%load_ext hookscope").status == "ok"
        assert "UsageError: %cell: NET is missing: " in kernel.run("%cell").errors
        result = kernel.run("import hookscope.kernel\nhookscope.kernel.pause()")
        assert result.errors == "hookscope: not pausing, because this is not the Hookscope kernel.\n"


def test_the_extension_can_be_loaded_twice_and_taken_away() -> None:
    with Kernel(argv=["-m", "ipykernel_launcher", "-f", "{connection_file}"]) as kernel:
        kernel.run("import hookscope\nhookscope.load_ipython_extension(get_ipython())")
        kernel.run("%load_ext hookscope")
        kernel.run("import hookscope.engine.debug as debug; had = debug.default_pauser() is not None")
        assert kernel.run("%unload_ext hookscope").status == "ok"
        assert kernel.run("print(had, debug.default_pauser())").text == "True None\n"
        assert "not found" in kernel.run("%params net").errors
        assert "not found" in kernel.run("%%cell net\n1").errors


def test_the_magics_work_in_a_terminal() -> None:
    code = (
        "get_ipython().run_line_magic('load_ext', 'hookscope')\n"
        "import numpy as np; from hookscope.engine import Tensor, nn\n"
        "net = nn.ReLU(); x = Tensor(np.ones(3, np.float32))\n"
        "get_ipython().run_cell_magic('cell', 'net', 'net(x).shape')\n"
        "print(len(_session.captures))"
    )
    argv = [sys.executable, "-m", "IPython", "--simple-prompt", "--colors=NoColor", "-c", code]
    process = subprocess.run(argv, capture_output=True, text=True, timeout=240)
    assert process.stdout.splitlines()[-1] == "2", process.stdout + process.stderr
    assert "(3,)" in process.stdout
