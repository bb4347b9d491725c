"""`hookscope run --ranks N`, as a user runs it: real ranks of a real MPI, each test with a script of its own."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from tests.browser.lab import wait_until

MPIEXEC = shutil.which("mpiexec", path=os.path.dirname(sys.executable)) or shutil.which("mpiexec")
pytest.importorskip("mpi4py", reason="mpi4py is not installed", exc_type=ImportError)
if MPIEXEC is None:
    pytest.skip("no mpiexec is installed (pip install mpich)", allow_module_level=True)

HEAD = """
import os, signal, subprocess, sys
from mpi4py import MPI
world = MPI.COMM_WORLD
rank = world.rank
"""
WAITS = HEAD + "print('ready'); subprocess.run(['sleep', '600'])\n"


@dataclass
class Job:
    """A run in progress."""

    process: subprocess.Popen[str]
    mark: str

    @property
    def out(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout

    def wait_for(self, *lines: str) -> None:
        missing = set(lines)
        while missing:
            line = self.out.readline()
            assert line, f"it ended before {missing}: {self.process.stderr and self.process.stderr.read()}"
            missing.discard(line.rstrip("\n"))

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=240)
        assert processes(self.mark) == []
        return self.process.returncode, out, err

    def pid_of(self, part: str) -> int:
        (pid_found,) = (
            pid
            for pid, arguments in processes(self.mark)
            if part in " ".join(arguments[:1]) and "proxy" not in arguments[0]
        )
        return pid_found


def processes(mark: str) -> list[tuple[int, list[str]]]:
    """Return the live processes that have the mark in their environment, with their commands."""
    results = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                environment = Path("/proc", name, "environ").read_bytes()
                arguments = Path("/proc", name, "cmdline").read_bytes().decode().split("\0")
            except OSError:  # it ended meanwhile
                continue
            if mark.encode() in environment:
                results.append((int(name), arguments))
    return results


def start(folder: Path, text: str, *options: str, stdin: int = subprocess.DEVNULL, after: tuple[str, ...] = ()) -> Job:
    (folder / "script.py").write_text(text)
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [sys.executable, "-m", "hookscope", "run", *options, "script.py", *after],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="surrogateescape",
        cwd=folder,
        env={**os.environ, "HOOKSCOPE_TEST_MARK": mark},
        start_new_session=True,
        preexec_fn=_hears_hangups,
    )
    return Job(process, mark)


def _hears_hangups() -> None:
    """Restore SIGHUP's default action, since nohup makes the tests and their processes ignore it."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def run(folder: Path, text: str, *options: str, after: tuple[str, ...] = ()) -> tuple[int, str, str]:
    return start(folder, text, *options, after=after).end()


def lines_of(rank: int, text: str) -> list[str]:
    label = f"[{rank}] "
    return [line.removeprefix(label) for line in text.splitlines() if line.startswith(label)]


# Descriptors

CLOSES = """
import os, sys
os.closerange(3, 256)  # as a script does that becomes a daemon
files = [open(f"user{n}.bin", "w+b", buffering=0) for n in range(40)]
for file in files:
    file.write(b"precious")
"""


@pytest.mark.parametrize("end", ["", "sys.exit('a reason')", "raise ValueError('wrong')"])
def test_the_files_of_a_script_that_has_closed_all_descriptors_stay_as_they_are(end: str, tmp_path: Path) -> None:
    """One of them gets the descriptor of the file in which a rank stores its exit status for the launcher."""
    run(tmp_path, f"{CLOSES}{end}", "--ranks", "1")
    assert [path.read_bytes() for path in tmp_path.glob("user*.bin")] == [b"precious"] * 40


# Output


def test_each_rank_is_a_rank_of_mpi_and_its_lines_have_its_label(tmp_path: Path) -> None:
    text = HEAD + "print(rank, world.size, world.allreduce(1), sys.argv)\nprint('to stderr', file=sys.stderr)\n"
    status, out, err = run(tmp_path, text, "--ranks", "3", after=("--lr", "0.1"))
    assert status == 0, err
    assert sorted(out.splitlines()) == [f"[{r}] {r} 3 3 ['script.py', '--lr', '0.1']" for r in range(3)]
    assert sorted(err.splitlines()) == [f"[{r}] to stderr" for r in range(3)]


def test_one_rank_is_started_likewise(tmp_path: Path) -> None:
    assert run(tmp_path, HEAD + "print(world.size)\n", "--ranks=1") == (0, "[0] 1\n", "")


def test_the_script_finds_the_alias(tmp_path: Path) -> None:
    status, out, _ = run(tmp_path, "import mindspore\nprint(mindspore.__name__, __name__)\n", "--ranks", "2")
    assert (status, sorted(out.splitlines())) == (0, [f"[{r}] hookscope.engine __main__" for r in range(2)])


def test_no_line_has_text_of_two_ranks(tmp_path: Path) -> None:
    text = HEAD + "for n in range(300): os.write(1, f'{rank}'.encode() * 7); os.write(1, f'{rank} {n}\\n'.encode())\n"
    status, out, _ = run(tmp_path, text, "--ranks", "3")
    assert status == 0
    assert len(out.splitlines()) == 900
    for rank in range(3):
        assert lines_of(rank, out) == [f"{rank}" * 8 + f" {n}" for n in range(300)]


def test_output_of_c_code_and_of_subprocesses_is_labelled(tmp_path: Path) -> None:
    text = (
        HEAD
        + "import ctypes\nctypes.CDLL(None).puts(b'from C')\nsubprocess.run(['sh', '-c', 'echo shell; echo e >&2'])\n"
    )
    status, out, err = run(tmp_path, text, "--ranks", "2")
    assert status == 0
    assert [sorted(lines_of(rank, out)) for rank in range(2)] == [["from C", "shell"]] * 2
    assert [lines_of(rank, err) for rank in range(2)] == [["e"]] * 2


def test_what_has_no_newline_or_is_no_utf8_or_was_written_over_is_shown_as_text(tmp_path: Path) -> None:
    text = HEAD + (
        "write = sys.stdout.buffer.write\nwrite(b'\\xff\\xfe ok\\n')\n"
        "for n in range(3): write(b'\\r%d of 2' % n)\nwrite(b'\\r       \\r')\nwrite(b'\\ndos\\r\\n\\nlast')\n"
    )
    status, out, _ = run(tmp_path, text, "--ranks", "2")
    assert status == 0
    for rank in range(2):
        assert lines_of(rank, out) == ["\ufffd\ufffd ok", "2 of 2", "dos", "", "last"]


def test_long_lines_are_whole(tmp_path: Path) -> None:
    status, out, _ = run(tmp_path, HEAD + "for _ in range(3): print(str(rank) * (1 << 20))\n", "--ranks", "2")
    assert status == 0
    for rank in range(2):
        assert lines_of(rank, out) == [str(rank) * (1 << 20)] * 3


def test_a_rank_may_close_its_output(tmp_path: Path) -> None:
    text = HEAD + "print('before')\nif rank == 0: sys.stdout.close()\nworld.Barrier()\nif rank: print('after')\n"
    status, out, _ = run(tmp_path, text, "--ranks", "2")
    assert (status, lines_of(0, out), lines_of(1, out)) == (0, ["before"], ["before", "after"])


def test_a_process_that_a_rank_left_behind_holds_up_nothing_and_is_ended(tmp_path: Path) -> None:
    text = HEAD + "subprocess.Popen(['setsid', 'sleep', '600'])\nprint('done')\n"
    status, out, err = run(tmp_path, text, "--ranks", "2")
    assert (status, sorted(out.splitlines()), err) == (0, ["[0] done", "[1] done"], "")


def test_rank_0_alone_reads_standard_input(tmp_path: Path) -> None:
    job = start(tmp_path, HEAD + "print(repr(sys.stdin.read()))\n", "--ranks", "2", stdin=subprocess.PIPE)
    out, _ = job.process.communicate("typed\n", timeout=240)
    assert sorted(out.splitlines()) == ["[0] 'typed\\n'", "[1] ''"]


def test_on_a_terminal_a_prompt_of_rank_0_is_shown_before_its_line_ends(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    (tmp_path / "script.py").write_text(HEAD + "if rank == 0: print('got', input('name? '))\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "hookscope", "run", "--ranks", "2", "script.py"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=tmp_path,
    )
    os.close(theirs)
    output = b""
    while not output.endswith(b"name? "):
        output += os.read(ours, 1000)
    assert output == b"[0] name? "
    os.write(ours, b"Ada\n")
    while b"got Ada\r\n" not in output:
        output += os.read(ours, 1000)
    assert process.wait(timeout=240) == 0
    os.close(ours)


def test_ranks_share_the_cores_unless_the_user_says_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    text = f"import os\nprint(*[os.environ.get(name) for name in {names}])\n"
    _, out, _ = run(tmp_path, text, "--ranks", "2")
    share = max(1, len(os.sched_getaffinity(0)) // 2)
    assert lines_of(1, out) == [f"{share} {share} {share}"]
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    _, out, _ = run(tmp_path, text, "--ranks", "2")
    assert lines_of(1, out) == ["5 None None"]


def test_ranks_find_their_numbers_where_msrun_puts_them(tmp_path: Path) -> None:
    text = "import os\nprint(*[os.environ[name] for name in ('RANK_ID', 'RANK_SIZE', 'DEVICE_ID')])\n"
    _, out, _ = run(tmp_path, text, "--ranks", "3")
    assert [lines_of(rank, out) for rank in range(3)] == [["0 3 0"], ["1 3 1"], ["2 3 2"]]


# The failure of one rank ends all


BARRIER = "world.Barrier()\n"


def test_an_exception_is_shown_once_and_ends_ranks_that_wait_in_a_collective(tmp_path: Path) -> None:
    text = HEAD + "def fails():\n    raise ValueError('no good')\nif rank == 1: fails()\n" + BARRIER
    status, out, err = run(tmp_path, text, "--ranks", "3")
    assert (status, out) == (1, "")
    assert [re.sub(r"line \d+", "line N", line) for line in err.splitlines() if "^" not in line] == [
        "[1] Traceback (most recent call last):",
        '[1]   File "script.py", line N, in <module>',
        "[1]     if rank == 1: fails()",
        '[1]   File "script.py", line N, in fails',
        "[1]     raise ValueError('no good')",
        "[1] ValueError: no good",
        "hookscope run: rank 1 raised ValueError (exit status 1); ranks 0, 2 were ended",
    ]


@pytest.mark.parametrize(
    ("end", "status", "message"),
    [
        ("sys.exit(3)", 3, "rank 1 ended with exit status 3; rank 0 was ended"),
        ("os._exit(4)", 4, "rank 1 ended with exit status 4; rank 0 was ended"),
        (
            "os.kill(os.getpid(), signal.SIGKILL)",
            137,
            "rank 1 was killed by SIGKILL (exit status 137); rank 0 was ended",
        ),
        (
            "os.kill(os.getpid(), signal.SIGSEGV)",
            139,
            "rank 1 was killed by SIGSEGV (exit status 139); rank 0 was ended",
        ),
    ],
)
def test_the_exit_status_is_that_of_the_rank_that_failed(tmp_path: Path, end: str, status: int, message: str) -> None:
    text = HEAD + f"subprocess.Popen(['sleep', '600'])\nif rank == 1: {end}\n" + BARRIER
    assert run(tmp_path, text, "--ranks", "2") == (status, "", f"hookscope run: {message}\n")


def test_the_message_of_an_exit_is_shown(tmp_path: Path) -> None:
    status, _, err = run(tmp_path, HEAD + "if rank == 0: sys.exit('no data')\n" + BARRIER, "--ranks", "2")
    assert (status, err) == (1, "[0] no data\nhookscope run: rank 0 ended with exit status 1; rank 1 was ended\n")


def test_the_same_exception_of_all_ranks_has_one_traceback(tmp_path: Path) -> None:
    # They raise before any is terminated: each holds the others' end up until it has raised.
    text = HEAD + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nworld.Barrier()\nraise KeyError('lr')\n"
    status, _, err = run(tmp_path, text, "--ranks", "2")
    assert status == 1
    assert err.count("Traceback") == 1 and err.count("KeyError: 'lr'\n") == 1


def test_a_script_that_does_not_compile_is_told_as_python_tells_it(tmp_path: Path) -> None:
    status, _, err = run(tmp_path, "def f(:\n", "--ranks", "2")
    assert status == 1
    assert re.match(r'\[(\d)\]   File "script.py", line 1\n\[\1\]     def f\(:\n\[\1\]  +\^\n\[\1\] SyntaxError: ', err)


def test_a_rank_that_minds_no_signal_does_not_hold_up_the_end(tmp_path: Path) -> None:
    text = HEAD + (
        "for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)\n"
        "world.Barrier()\nif rank == 1: raise OSError('full')\nsignal.pause()\n"
    )
    status, _, err = run(tmp_path, text, "--ranks", "2")
    assert (status, err.splitlines()[-1]) == (
        1,
        "hookscope run: rank 1 raised OSError (exit status 1); rank 0 was ended",
    )


def test_what_the_failing_rank_had_buffered_is_written(tmp_path: Path) -> None:
    text = HEAD + (
        "import ctypes\nfile = open(f'{rank}.csv', 'w')\nfile.write('loss')\n"
        "if rank == 1:\n    ctypes.CDLL(None).printf(b'from C')\n    raise ValueError\n" + BARRIER
    )
    _, out, _ = run(tmp_path, text, "--ranks", "2")
    assert lines_of(1, out) == ["from C"]
    assert (tmp_path / "1.csv").read_text() == "loss"


def test_mpi_abort_ends_all_with_its_status(tmp_path: Path) -> None:
    text = HEAD + "subprocess.Popen(['sleep', '600'])\nif rank == 1: world.Abort(5)\n" + BARRIER
    status, _, err = run(tmp_path, text, "--ranks", "3")
    assert status == 5
    assert err.splitlines()[-1].startswith("hookscope run: ")


def test_a_hook_of_the_scripts_that_aborts_mpi_loses_no_traceback(tmp_path: Path) -> None:
    text = HEAD + (
        "def hook(kind, error, traceback):\n    print('mine:', error, file=sys.stderr)\n    world.Abort(4)\n"
        "sys.excepthook = hook\nif rank == 1: raise ValueError('no good')\n" + BARRIER
    )
    status, _, err = run(tmp_path, text, "--ranks", "2")
    assert status == 4
    assert "[1] mine: no good\n" in err and "rank 1 raised ValueError" in err


# Signals and sudden ends


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[Job]:
    job = start(tmp_path, WAITS, "--ranks", "2")
    job.wait_for("[0] ready", "[1] ready")
    wait_until("both `sleep`s", lambda: sum(command[0] == "sleep" for _, command in processes(job.mark)) == 2)
    yield job
    job.process.kill()
    job.process.communicate()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_launcher_ends_all(waiting: Job, signum: signal.Signals) -> None:
    waiting.process.send_signal(signum)
    status, _, err = waiting.end()
    assert (status, err) == (128 + signum, f"hookscope run: ended by {signum.name}; ranks 0, 1 were ended\n")


def test_a_script_may_end_by_itself_on_ctrl_c(tmp_path: Path) -> None:
    text = HEAD + "try:\n    print('ready')\n    signal.pause()\nexcept KeyboardInterrupt:\n    print('saved')\n"
    job = start(tmp_path, text, "--ranks", "2")
    job.wait_for("[0] ready", "[1] ready")
    job.process.send_signal(signal.SIGINT)
    status, out, err = job.end()
    assert (status, sorted(out.splitlines()), err) == (0, ["[0] saved", "[1] saved"], "")


def test_ctrl_c_twice_does_not_wait(tmp_path: Path) -> None:
    text = (
        HEAD + "signal.signal(signal.SIGINT, lambda *_: print('minded'))\nprint('ready')\nwhile True: signal.pause()\n"
    )
    job = start(tmp_path, text, "--ranks", "2")
    job.wait_for("[0] ready", "[1] ready")
    job.process.send_signal(signal.SIGINT)
    job.wait_for("[0] minded", "[1] minded")
    job.process.send_signal(signal.SIGINT)
    assert job.end()[0] == 130


def test_ranks_end_when_mpiexec_is_killed(waiting: Job) -> None:
    os.kill(waiting.pid_of("mpiexec"), signal.SIGKILL)
    status, _, err = waiting.end()
    assert (status, err) == (137, "hookscope run: mpiexec was killed by SIGKILL; ranks 0, 1 were ended\n")


def test_nothing_is_left_of_a_launcher_that_was_killed(waiting: Job) -> None:
    others = [os.pidfd_open(pid) for pid, _ in processes(waiting.mark) if pid != waiting.process.pid]
    assert len(others) >= 7  # mpiexec, its proxy, and of each rank the guard, Python and `sleep`
    waiting.process.kill()
    for descriptor in others:
        assert select.select([descriptor], [], [], 60)[0]
        os.close(descriptor)
    assert processes(waiting.mark) == []


def test_a_closed_output_ends_all(tmp_path: Path) -> None:
    job = start(tmp_path, HEAD + "while True: print('y' * 1000)\n", "--ranks", "2")
    job.wait_for("[0] " + "y" * 1000)
    job.out.close()
    assert job.process.stderr is not None
    with job.process.stderr:
        assert (job.process.stderr.read(), job.process.wait(timeout=240)) == ("", 128 + signal.SIGPIPE)
    assert processes(job.mark) == []


# Started by another mpiexec


@pytest.mark.parametrize("uses_mpi", [True, False])
def test_under_another_mpiexec_an_exception_ends_the_job(tmp_path: Path, uses_mpi: bool) -> None:
    (tmp_path / "script.py").write_text(
        (HEAD if uses_mpi else "import os, signal\nrank = int(os.environ['PMI_RANK'])\n")
        + "if rank == 1: raise ValueError('no good')\n"
        + (BARRIER if uses_mpi else "")
    )
    assert MPIEXEC is not None
    process = subprocess.run(
        [MPIEXEC, "-n", "2", sys.executable, "-m", "hookscope", "run", "script.py"],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
    )
    assert process.returncode == 1
    assert process.stderr.count("ValueError: no good\n") == 1 and "runpy" not in process.stderr


# Checks


FAULTY = """
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor
net = nn.SequentialCell(nn.Dense(4, 3, weight_init="ones", bias_init="zeros"))
ops.log(net(Tensor(-np.ones((2, 4), np.float32))))
class Log(nn.Cell):
    def construct(self, x): return ops.log(x)
Log()(net(Tensor(-np.ones((2, 4), np.float32))))
print('ran')
"""


def test_each_rank_reports_what_its_check_found(tmp_path: Path) -> None:
    status, out, err = run(tmp_path, FAULTY, "--ranks", "2", "--check")
    assert status == 1 and "hookscope run:" not in err
    for rank in range(2):
        assert "ran" in lines_of(rank, out) and any(line.startswith("1. ") for line in lines_of(rank, out))


def test_each_rank_has_a_file_of_its_causes(tmp_path: Path) -> None:
    status, _, err = run(tmp_path, FAULTY, "--check", "--json=found.json", "--ranks", "2")
    assert status == 1, err
    assert sorted(path.name for path in tmp_path.glob("*.json")) == ["found.0.json", "found.1.json"]
    assert json.loads((tmp_path / "found.1.json").read_text())["causes"]


def test_json_on_standard_output_is_for_one_rank(tmp_path: Path) -> None:
    status, out, _ = run(tmp_path, FAULTY, "--check", "--json", "--ranks", "1")
    assert status == 1 and json.loads(out)["causes"]
    assert run(tmp_path, FAULTY, "--check", "--json", "--ranks", "2") == (
        2,
        "",
        "hookscope run: --json writes on standard output for one rank, not for 2: give --json=FILE\n",
    )


# msrun's options


def test_the_command_line_of_msrun_starts_its_workers_and_writes_their_logs(tmp_path: Path) -> None:
    text = HEAD + "print('out', rank)\nprint('err', rank, file=sys.stderr)\n"
    status, out, err = run(
        tmp_path,
        text,
        "--worker_num=2",
        "--local_worker_num",
        "2",
        "--master_addr=127.0.0.1",
        "--master_port=8118",
        "--log_dir=logs/run",
        "--join=True",
        "--cluster_time_out=300",
        "--tail_worker_log",
        "1",
    )
    assert (status, out, err) == (0, "[1] out 1\n", "[1] err 1\n")
    for rank in range(2):
        text = (tmp_path / "logs" / "run" / f"worker_{rank}.log").read_text()
        assert sorted(text.splitlines()) == [f"err {rank}", f"out {rank}"]


def test_the_log_of_a_rank_that_failed_has_its_traceback(tmp_path: Path) -> None:
    text = HEAD + "if rank == 1: raise ValueError('no good')\n" + BARRIER
    status, _, err = run(tmp_path, text, "--ranks", "2", "--log_dir=.", "--tail_worker_log=2")
    assert status == 1 and "[1] ValueError: no good\n" in err
    assert (tmp_path / "worker_1.log").read_text().endswith("ValueError: no good\n")


# Scripts that cannot be started


def test_a_script_that_is_not_there_is_told_once(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "hookscope", "run", "--ranks", "2", "nothing.py"],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=tmp_path,
    )
    assert (process.returncode, process.stderr) == (2, "hookscope run: there is no file 'nothing.py'\n")


def test_an_mpiexec_that_fails_is_told_with_what_it_wrote(tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "mpiexec"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'no slots' >&2\nexit 7\n")
    fake.chmod(0o755)
    code = (
        "import sys, hookscope.kernel.ranks.launch as launch\n"
        f"launch._mpiexec = lambda: {str(fake)!r}\n"
        "from hookscope.__main__ import main\nmain(['run', '--ranks', '2', 'script.py'])\n"
    )
    (tmp_path / "script.py").write_text("")
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, cwd=tmp_path)
    assert (process.returncode, process.stderr) == (
        7,
        "no slots\nhookscope run: mpiexec ended with exit status 7 before it had started ranks 0, 1\n",
    )


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("launch.shutil.which = lambda *_, **__: None", "mpiexec, which is neither in"),
        ("launch.importlib.util.find_spec = lambda name: None", "many ranks need mpi4py, which"),
    ],
)
def test_what_is_missing_is_named_with_how_to_install_it(tmp_path: Path, missing: str, message: str) -> None:
    (tmp_path / "script.py").write_text("")
    code = (
        f"import hookscope.kernel.ranks.launch as launch\n{missing}\n"
        "from hookscope.__main__ import main\nmain(['run', '--ranks', '2', 'script.py'])\n"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, cwd=tmp_path)
    assert process.returncode == 2
    assert message in process.stderr and "pip install 'hookscope[parallel]' mpich" in process.stderr
    assert len(process.stderr.splitlines()) == 1


def test_the_launcher_imports_neither_mpi_nor_the_engine(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(HEAD)
    code = (
        "import sys\nfrom hookscope.__main__ import main\n"
        "try: main(['run', '--ranks', '1', 'script.py'])\n"
        "except SystemExit as ended: assert not ended.code\n"
        "print([name for name in sys.modules if name.startswith(('mpi4py', 'hookscope.engine', 'numpy'))])\n"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, cwd=tmp_path)
    assert (process.stdout, process.stderr) == ("[]\n", "")
