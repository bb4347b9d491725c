"""`python -m hookscope`, as a user runs it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest


def hookscope(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hookscope", *arguments], capture_output=True, text=True, timeout=240, cwd=cwd
    )


def test_run_runs_a_script_as_python_would_with_the_alias(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("word = 'beside'\n")
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, mindspore, beside\n"
        "print(__name__, __file__ == sys.argv[0], sys.argv[1:], mindspore.__name__, beside.word)\n"
    )
    process = hookscope("run", str(script), "--lr", "0.1", "-v")
    assert process.stdout == "__main__ True ['--lr', '0.1', '-v'] hookscope.engine beside\n", process.stderr


def test_run_gives_the_scripts_own_exit_status_and_traceback(tmp_path: Path) -> None:
    (tmp_path / "exits.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "fails.py").write_text("raise ValueError('from the script')\n")
    assert hookscope("run", "exits.py", cwd=tmp_path).returncode == 3
    process = hookscope("run", "fails.py", cwd=tmp_path)
    assert process.returncode == 1
    assert process.stderr.endswith("ValueError: from the script\n")


@pytest.mark.parametrize(
    "text",
    [
        "def inner():\n    1 / 0\ntry:\n    inner()\nexcept ArithmeticError as error:\n    raise KeyError from error\n",
        "print(\n",
        "import sys\nhook = sys.excepthook\nsys.excepthook = lambda *what: hook(*what)\n1 / 0\n",
        "raise KeyboardInterrupt\n",
    ],
)
def test_a_traceback_shows_the_scripts_frames_alone_as_that_of_python(tmp_path: Path, text: str) -> None:
    (tmp_path / "fails.py").write_text(text)
    python = subprocess.run([sys.executable, "fails.py"], capture_output=True, text=True, cwd=tmp_path)
    process = hookscope("run", "fails.py", cwd=tmp_path)
    assert process.stderr == python.stderr.replace(f"{tmp_path}/", "")
    assert process.returncode == python.returncode != 0


def test_run_names_a_script_that_is_not_there(tmp_path: Path) -> None:
    process = hookscope("run", "nothing.py", cwd=tmp_path)
    assert process.returncode == 2
    assert process.stderr == "hookscope run: there is no file 'nothing.py'\n"


def test_install_writes_this_interpreter_and_the_logos(tmp_path: Path) -> None:
    process = hookscope("install", "--prefix", str(tmp_path), "--name", "mine")
    folder = tmp_path / "share" / "jupyter" / "kernels" / "mine"
    assert process.stdout == f"Installed the kernel 'mine' in {folder}\n", process.stderr
    spec = json.loads((folder / "kernel.json").read_text())
    assert spec["argv"] == [sys.executable, "-m", "hookscope.kernel", "-f", "{connection_file}"]
    assert (spec["display_name"], spec["language"]) == ("Hookscope (mine)", "python")
    assert {"logo-svg.svg", "logo-32x32.png", "logo-64x64.png"} <= {file.name for file in folder.iterdir()}


def test_install_names_what_is_wrong(tmp_path: Path) -> None:
    process = hookscope("install", "--prefix", str(tmp_path), "--name", "my kernel")
    assert process.returncode == 1
    assert process.stderr == (
        "hookscope install: a kernel's name has only letters, digits and . _ -, got 'my kernel'\n"
    )
    (tmp_path / "share").write_text("a file where a folder must be")
    process = hookscope("install", "--prefix", str(tmp_path))
    assert process.returncode == 1
    assert process.stderr.startswith("hookscope install: ")
    assert len(process.stderr.splitlines()) == 1


def test_version_is_the_distributions() -> None:
    assert hookscope("--version").stdout == f"hookscope {version('hookscope')}\n"


def test_report_is_a_screen_that_tells_where_tensors_are_put_and_why() -> None:
    output = hookscope("report").stdout
    lines = output.splitlines()
    assert 5 <= len(lines) <= 24 and max(map(len, lines)) <= 100
    assert re.search(r"^new tensors  (CPU|GPU) \(.+\)$", output, re.MULTILINE)
    assert re.search(r"^GPU +.+ \(.+\)$", output, re.MULTILINE)
    assert f"hookscope    {version('hookscope')} in " in output
    assert re.search(r"^operators    \d+ by NumPy|^operators    .*\d+ by CuPy", output, re.MULTILINE)


def test_report_lists_the_operators_when_asked_to() -> None:
    output = hookscope("report", "--operators").stdout
    assert re.search(r"\bsoftmax\b", output) and re.search(r"\bconv2d\b", output)
    assert max(map(len, output.splitlines())) <= 100


@pytest.mark.parametrize("command", [(), ("run",)])
def test_without_arguments_the_help_is_printed(command: tuple[str, ...]) -> None:
    process = hookscope(*command)
    help_process = hookscope(*command, "--help")
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout == help_process.stdout and process.stdout.startswith("usage: hookscope")


def test_a_wrong_command_names_the_right_ones() -> None:
    process = hookscope("start")
    assert process.returncode == 2
    assert "'run', 'install', 'report'" in process.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("run", "--chek", "script.py"),
            "hookscope run: error: there is no option '--chek'; the nearest is '--check'\n",
        ),
        (("run", "--stop=nan", "script.py"), "error: there is no option '--stop'; the nearest is '--stop-on'\n"),
        (("run", "--foo", "script.py"), "error: there is no option '--foo'\n"),
        (("report", "--ops"), "hookscope report: error: there is no option '--ops'\n"),
    ],
)
def test_an_unknown_option_names_one_that_is_alike(arguments: tuple[str, ...], message: str) -> None:
    process = hookscope(*arguments)
    assert process.returncode == 2
    assert process.stderr.endswith(message)
