"""`hookscope run --check` and its companions, as a user or a CI job runs them."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

NETWORK = """
import sys
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor

class Scaled(nn.Cell):
    def __init__(self, inside):
        super().__init__()
        self.dense, self.head, self.inside = nn.Dense(4, 8), nn.Dense(8, 3), inside

    def construct(self, x):
        return self.head(self.inside(self.dense(x)))

def train(inside, steps=6):
    ms.set_seed(1)
    net = Scaled(inside)
    net.set_train()
    rng, optimizer, loss = np.random.default_rng(0), nn.Adam(net.trainable_params(), 0.01), nn.CrossEntropyLoss()
    step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
    for number in range(steps):
        x, y = rng.normal(size=(8, 4)).astype(np.float32), rng.integers(0, 3, 8).astype(np.int32)
        value, gradients = step(Tensor(x), Tensor(y))
        optimizer(gradients)
        print("loss", value.asnumpy().tobytes().hex(), flush=True)
    for parameter in net.get_parameters():
        print(parameter.name, parameter.asnumpy().tobytes().hex())
"""
HEALTHY = NETWORK + "train(nn.Tanh())\n"
FAULTY = NETWORK + "train(ops.log)\n"
DEAD = NETWORK + "train(nn.SequentialCell(nn.Dense(8, 8, bias_init=-99.0), nn.ReLU()))\n"


def script(folder: Path, text: str) -> str:
    (folder / "script.py").write_text(text)
    return "script.py"


def run(folder: Path, text: str, *options: str, after: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hookscope", "run", *options, script(folder, text), *after],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        stdin=subprocess.DEVNULL,
    )


def schema(repository: Path) -> Any:
    return json.loads((repository / "docs" / "check.schema.json").read_text())


# Text and status


def test_a_healthy_script_exits_0_and_says_what_was_looked_at(tmp_path: Path) -> None:
    process = run(tmp_path, HEALTHY, "--check")
    assert process.returncode == 0, process.stderr
    assert re.search(
        r"\n6 steps, \d+ captures, \d+ conditions: nothing wrong\. Nothing to judge for: [\w,\s]+\.\n$", process.stdout
    )
    assert process.stderr == ""


def test_a_cause_is_told_with_its_line_and_its_advice_and_exits_1(tmp_path: Path) -> None:
    process = run(tmp_path, FAULTY, "--check")
    assert process.returncode == 1
    output = process.stdout[process.stdout.index("1. ") :]
    assert re.match(
        r"1\. nan in \(root\): certain, in each of the 6 steps from 1 to 6\n   log in \(root\)#0 made \d+ NaN of 64",
        output,
    )
    assert "(script.py, line 13: return self.head(self.inside(self.dense(x))))" in " ".join(output.split())
    assert "\n   Its argument is 0 or negative: " in output
    assert output.endswith("\n1 cause in 6 steps\n")
    assert max(map(len, output.splitlines())) <= 100


def test_what_has_no_operator_names_the_line_of_the_users_cell_around_it(tmp_path: Path) -> None:
    process = run(tmp_path, DEAD, "--check")
    assert "\n   so also: " in process.stdout
    assert re.search(
        r"^\d\. dead_relu in inside\.1 \(script\.py, line 12\): likely, in each of", process.stdout, re.MULTILINE
    )


def test_watching_changes_no_bit_of_a_script(tmp_path: Path) -> None:
    random = NETWORK + "train(nn.SequentialCell(nn.BatchNorm1d(8), nn.Dropout(p=0.3)))\n"
    for text in (HEALTHY, FAULTY, random):
        alone, watched = run(tmp_path, text).stdout, run(tmp_path, text, "--check").stdout
        assert len(alone.splitlines()) > 8
        assert watched.startswith(alone)


def test_some_conditions_with_thresholds_and_one_of_ones_own(tmp_path: Path) -> None:
    options = ("--check=wrong_mode,exploding_gradient=1e9", "--check=if slot == 'output' and norm > 0")
    process = run(tmp_path, HEALTHY, *options)
    assert process.returncode == 1
    assert "1. if slot == 'output' and norm > 0 in " in process.stdout


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--check=wrong_mod",), "--check 'wrong_mod': no such condition; the nearest is 'wrong_mode' (all: "),
        (("--stop-on=nann",), "--stop-on 'nann': no such condition; the nearest is 'nan' (all: "),
        (("--check=",), "--check must be names between commas, none of them empty, got ''"),
        (("--check=nan", "--check=,"), "--check must be names between commas, none of them empty, got ','"),
        (("--stop-on", "nan,,inf"), "--stop-on must be names between commas, none of them empty, got 'nan,,inf'"),
        (("--check=nan=3",), "--check 'nan=3': nan has no threshold"),
        (("--break=a:sideways",), "breakpoint 'a': moment must be one of forward_pre, "),
        (("--json",), "--json writes the findings of --check: give that too"),
        (("--check", "--json=no/such/folder"), "[Errno 2] No such file or directory: 'no/such/folder'"),
    ],
)
def test_a_wrong_option_is_one_line_before_the_script_runs(tmp_path: Path, options: Any, error: str) -> None:
    process = run(tmp_path, "print('ran')\n", *options)
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.startswith(f"hookscope run: {error}")
    assert len(process.stderr.splitlines()) == 1


def test_what_follows_the_script_is_the_scripts(tmp_path: Path) -> None:
    arguments = ("--check", "--json", "--", "-b", "x")
    for before in ((), ("--check",), ("--check", "--")):
        process = run(tmp_path, "import sys\nprint(sys.argv[1:])\n", *before, after=arguments)
        assert process.stdout.startswith(f"{list(arguments)}\n"), process.stderr


def test_a_value_may_stand_apart_from_its_option(tmp_path: Path) -> None:
    process = run(tmp_path, HEALTHY, "--break", "dense", "--stop-on", "nan", "--check")
    assert process.returncode == 0, process.stderr


def test_a_script_without_a_network_says_so(tmp_path: Path) -> None:
    process = run(tmp_path, "print('nothing')\n", "--check")
    assert process.returncode == 0
    assert process.stdout.endswith(" conditions: no network ran\n")


# Ends of a script


@pytest.mark.parametrize(
    ("end", "status", "message"),
    [("raise SystemExit", 0, ""), ("raise SystemExit(7)", 7, ""), ("raise SystemExit('the end')", 1, "the end\n")],
)
@pytest.mark.cases(1)
def test_exits_of_the_script_count_where_nothing_is_wrong(tmp_path: Path, end: str, status: int, message: str) -> None:
    process = run(tmp_path, f"{HEALTHY}{end}\n", "--check")
    assert (process.returncode, process.stderr) == (status, message)
    assert "nothing wrong" in process.stdout
    assert run(tmp_path, f"{FAULTY}{end}\n", "--check").returncode == 1


def test_an_error_of_the_script_has_its_traceback_and_the_causes(tmp_path: Path) -> None:
    process = run(tmp_path, FAULTY + "1 / 0\n", "--check")
    assert process.returncode == 1
    assert process.stderr.startswith('Traceback (most recent call last):\n  File "script.py", line 29, in <module>')
    assert process.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert "1. nan in (root)" in process.stdout
    assert run(tmp_path, HEALTHY + "1 / 0\n", "--check").returncode == 1


def test_a_script_that_is_no_python_is_told_as_python_does(tmp_path: Path) -> None:
    process = run(tmp_path, "print(\n", "--check")
    assert process.returncode == 1
    assert "SyntaxError: " in process.stderr and "Traceback" not in process.stderr


def test_ctrl_c_tells_what_was_found_so_far(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "hookscope", "run", "--check", script(tmp_path, NETWORK + "train(ops.log, 10**9)\n")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 130, err
    assert "Interrupted; so far:" in out and "1. nan in (root)" in out
    assert "Traceback" not in err


FORKS = """
import os, sys
if (child := os.fork()) == 0:
    {end}
else:
    print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.parametrize(
    ("end", "status"), [("pass", 0), ("sys.exit(5)", 5), ("train(ops.log)", 0), ("raise ValueError('in the child')", 1)]
)
@pytest.mark.parametrize("where", ["found.json", "-", ""])
def test_a_process_that_the_script_forks_tells_nothing(end: str, status: int, where: str, tmp_path: Path) -> None:
    options = ("--check", f"--json={where}") if where else ("--check",)
    process = run(tmp_path, HEALTHY + FORKS.format(end=end), *options)
    assert process.returncode == 0, process.stderr
    assert f"child {status}\n" in (process.stderr if where == "-" else process.stdout)
    if where:
        output = process.stdout if where == "-" else (tmp_path / where).read_text()
        assert json.loads(output)["causes"] == []
    else:
        assert process.stdout.count("nothing wrong") == 1 and "cause" not in process.stdout


def signaled(folder: Path, text: str, signum: int, *options: str) -> tuple[int, str, str]:
    """Send the script a signal when it has printed "ready"; return its status and output."""
    process = subprocess.Popen(
        [sys.executable, "-m", "hookscope", "run", *options, script(folder, text)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )
    assert process.stdout is not None
    before = ""
    while not before.endswith("ready\n"):
        before += process.stdout.readline()
    process.send_signal(signum)
    out, err = process.communicate(timeout=240)
    return process.returncode, before + out, err


WAITS = "\nimport signal, time\nprint('ready', flush=True)\nwhile True:\n    time.sleep(60)\n"


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP])
def test_what_was_found_is_told_when_a_signal_ends_the_script(
    signum: signal.Signals, tmp_path: Path, repository: Path
) -> None:
    status, out, err = signaled(tmp_path, FAULTY + WAITS, signum, "--check")
    assert (status, err) == (-signum, "")
    assert f"\nEnded by {signum.name}; so far:\n" in out and "1. nan in (root)" in out
    status, _, _ = signaled(tmp_path, FAULTY + WAITS, signum, "--check", "--json=found.json")
    data = json.loads((tmp_path / "found.json").read_text())
    jsonschema.validate(data, schema(repository))
    assert (status, data["error"], len(data["causes"])) == (-signum, signum.name, 1)


def test_a_script_handles_a_signal_as_ever(tmp_path: Path) -> None:
    for handler, end in (("lambda *_: sys.exit(9)", 9), ("signal.SIG_DFL", -signal.SIGTERM)):
        text = f"{HEALTHY}import signal\nsignal.signal(signal.SIGTERM, {handler}){WAITS}"
        assert signaled(tmp_path, text, signal.SIGTERM, "--check")[0] == end


def test_a_second_signal_ends_a_script_that_goes_on_after_the_first(tmp_path: Path) -> None:
    text = (
        HEALTHY + "import os, signal, time\nprint('ready', flush=True)\ntry:\n    time.sleep(60)\n"
        "except BaseException:\n    os.kill(os.getpid(), signal.SIGTERM)\nos._exit(3)\n"
    )
    assert signaled(tmp_path, text, signal.SIGTERM, "--check")[0] == -signal.SIGTERM


def test_a_signal_ends_a_forked_process_as_ever(tmp_path: Path) -> None:
    text = HEALTHY + (
        "import multiprocessing, time\n"
        "for _ in range(50):  # some come before the child has set itself up\n"
        "    child = multiprocessing.get_context('fork').Process(target=time.sleep, args=(60,))\n"
        "    child.start()\n    child.terminate()\n    child.join()\n    print('child', child.exitcode, flush=True)\n"
    )
    process = run(tmp_path, text, "--check")
    assert process.stdout.count(f"child {-signal.SIGTERM}\n") == 50
    assert process.stdout.count("nothing wrong") == 1


# JSON


def test_json_is_alone_on_standard_output(tmp_path: Path, repository: Path) -> None:
    text = f"import os, sys\n{FAULTY}os.write(1, b'raw')\nos.system('echo child')\n"
    process = run(tmp_path, text, "--check", "--json")
    data = json.loads(process.stdout, parse_constant=pytest.fail)
    jsonschema.validate(data, schema(repository))
    assert process.returncode == 1
    assert "loss " in process.stderr and "raw" in process.stderr and "child" in process.stderr
    assert (data["steps"], data["error"], data["script"]) == (6, None, "script.py")
    (cause,) = data["causes"]
    assert (cause["condition"], cause["path"], cause["line"], cause["line_of"]) == ("nan", "", 14, "operator")
    assert cause["operator"] == "log"


def test_consequences_and_cells_are_in_the_json(tmp_path: Path, repository: Path) -> None:
    data = json.loads(run(tmp_path, DEAD, "--check", "--json").stdout)
    jsonschema.validate(data, schema(repository))
    (cause,) = data["causes"]
    assert (cause["condition"], cause["path"], cause["line"], cause["line_of"]) == ("dead_relu", "inside.1", 12, "cell")
    assert {item["condition"] for item in cause["consequences"]} == {"all_zero", "no_gradient"}


CLOSES = """
import os
os.closerange(3, 256)  # as a script does that becomes a daemon
files = [open(f"user{n}.bin", "w+b", buffering=0) for n in range(40)]
for file in files:
    file.write(b"precious")
"""


@pytest.mark.parametrize("where", ["found.json", "-"])
def test_the_json_goes_into_no_file_of_a_script_that_has_closed_all_descriptors(where: str, tmp_path: Path) -> None:
    process = run(tmp_path, HEALTHY + CLOSES, "--check", f"--json={where}")
    assert [path.read_bytes() for path in tmp_path.glob("user*.bin")] == [b"precious"] * 40
    if where == "-":
        assert "the script has closed the standard output that was kept" in process.stderr
    else:
        assert json.loads((tmp_path / where).read_text())["causes"] == []


@pytest.mark.parametrize("closed", ["os.close(2)", "sys.stderr.close()", "sys.stderr = None"])
def test_a_script_without_a_stream_for_errors_runs_to_its_end(closed: str, tmp_path: Path) -> None:
    """A pause that cannot be answered prints a line, which is lost."""
    text = f"import os, sys\n{closed}\n{HEALTHY}open('end', 'w').close()\n"
    run(tmp_path, text, "--break", ".:forward", "--check")
    assert (tmp_path / "end").exists()


def test_json_in_a_file_leaves_standard_output_to_the_script(tmp_path: Path, repository: Path) -> None:
    process = run(tmp_path, HEALTHY + "raise ValueError('it\\x1b[31m')\n", "--check", "--json=found.json")
    written = (tmp_path / "found.json").read_text()
    data = json.loads(written)
    jsonschema.validate(data, schema(repository))
    assert process.stdout == run(tmp_path, HEALTHY).stdout
    assert data["causes"] == [] and data["error"] == "ValueError: it\x1b[31m"
    assert written.isascii() and "\x1b" not in written


def test_names_do_nothing_to_a_terminal(tmp_path: Path) -> None:
    cell = """
class Named(nn.Cell):
    def __init__(self):
        super().__init__()
        self.insert_child_to_cell("a\\x1b[31m", nn.Dense(8, 8, bias_init=-99.0))
        self.insert_child_to_cell("b\\x1b", nn.ReLU())

    def construct(self, x):
        for cell in self.cells():
            x = cell(x)
        return x

train(Named())
"""
    process = run(tmp_path, NETWORK + cell, "--check")
    assert process.returncode == 1 and "b\\x1b" in process.stdout
    assert "\x1b" not in process.stdout[process.stdout.index("1. ") :]


# Pauses


def test_a_pause_that_cannot_be_answered_is_one_line_and_the_script_goes_on(tmp_path: Path) -> None:
    process = run(tmp_path, HEALTHY, "--break=dense")
    assert process.returncode == 0
    assert process.stdout == run(tmp_path, HEALTHY).stdout
    assert process.stderr.count("\n") == 1 and "standard input is not a terminal" in process.stderr


@pytest.mark.parametrize(
    ("text", "options", "function"),
    [(HEALTHY, ("--break=dense if step == 2",), "breakpoint dense"), (FAULTY, ("--stop-on=nan",), "log in (root)#0")],
)
def test_at_a_terminal_it_pauses_at_the_prompt(tmp_path: Path, text: str, options: Any, function: str) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "hookscope", "run", *options, script(tmp_path, text)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=tmp_path,
    )
    os.close(theirs)
    output = b""
    while b"(hookscope) " not in output:
        output += os.read(ours, 1 << 16)
    assert function in output.decode()
    os.write(ours, b"abort\n")
    while True:
        try:
            output += os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    assert process.wait(60) == 1
    assert "DebugAbort" in output.decode()
