"""Saves of one path: in the order of the calls, in the background too, and a failure there is told."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, train
from hookscope.engine.dataset import NumpySlicesDataset
from hookscope.engine.formats import path_locks

Run = Callable[..., subprocess.CompletedProcess[str]]


def save(path: Path | str, value: float, **options: Any) -> None:
    ms.save_checkpoint({"x": Tensor([value])}, path, **options)


def saved(path: Path | str) -> list[float]:
    values: list[float] = ms.load_checkpoint(path)["x"].tolist()
    return values


class Gate:
    """Gate that blocks the background thread until it is opened, or lets it fail."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        self.error: OSError | None = None

    def fail(self) -> None:
        self.error = OSError(28, "No space left on device")
        self.opened.set()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate, sync = Gate(), os.fsync

    def fsync(descriptor: int) -> None:
        if threading.current_thread().name == "hookscope-save-checkpoint":
            gate.reached.set()
            gate.opened.wait(60)
            if gate.error:
                raise gate.error
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    yield gate
    gate.opened.set()
    while any(thread.name == "hookscope-save-checkpoint" for thread in threading.enumerate()):
        pass


# The order


@pytest.mark.parametrize("second", ["sync", "async"])
def test_the_newer_save_wins_however_slow_the_older_one_is(second: str, tmp_path: Path, gate: Gate) -> None:
    path = tmp_path / "x.ckpt"
    save(path, 1, async_save=True)
    assert gate.reached.wait(60)
    newer = threading.Thread(target=save, args=(path, 2), kwargs={"async_save": second == "async"})
    newer.start()
    newer.join(0.2)  # one that does not wait for its turn would be done by now
    gate.opened.set()
    newer.join()
    assert saved(path) == [2]
    assert os.listdir(tmp_path) == ["x.ckpt"]


def test_one_file_by_two_names_is_one_path(tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.ckpt").symlink_to("x.ckpt")
    save("link.ckpt", 1, async_save=True)
    newer = threading.Thread(target=save, args=(tmp_path / "x.ckpt", 2))
    newer.start()
    newer.join(0.2)
    gate.opened.set()
    newer.join()
    assert saved("link.ckpt") == saved("x.ckpt") == [2]


def test_a_file_goes_where_the_path_led_when_it_was_called_for(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    save("x.ckpt", 1, async_save=True)
    monkeypatch.chdir(tmp_path / "other")
    gate.opened.set()
    assert saved("../x.ckpt") == [1] and os.listdir("../other") == []


def test_sixteen_threads_at_one_path_and_nothing_raises(tmp_path: Path) -> None:
    path, errors, start = tmp_path / "x.ckpt", [], threading.Barrier(16)

    def run(number: int) -> None:
        try:
            start.wait()
            for _ in range(5):
                save(path, number, async_save=number % 2 == 0)
                assert saved(path)[0] in range(16)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and os.listdir(tmp_path) == ["x.ckpt"]


def test_a_save_in_a_signals_handler_wins_over_the_one_it_interrupts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sync = tmp_path / "x.ckpt", os.fsync
    calls: list[int] = []

    def fsync(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGUSR1)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    before = signal.signal(signal.SIGUSR1, lambda *_: save(path, 2))
    try:
        save(path, 1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert saved(path) == [2] and os.listdir(tmp_path) == ["x.ckpt"]
    save(path, 3)
    assert saved(path) == [3]


def test_a_signals_handler_that_saves_while_a_save_gets_in_line_waits_for_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Line(dict[str, Any]):
        signaled = False

        def get(self, *arguments: Any) -> Any:
            if not self.signaled:
                self.signaled = True
                signal.raise_signal(signal.SIGUSR1)
            return super().get(*arguments)

    monkeypatch.setattr(path_locks, "_newest", Line())
    before = signal.signal(signal.SIGUSR1, lambda *_: save(tmp_path / "x.ckpt", 2))
    try:
        save(tmp_path / "x.ckpt", 1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert saved(tmp_path / "x.ckpt") in ([1], [2]) and os.listdir(tmp_path) == ["x.ckpt"]


def test_an_interrupt_while_it_waits_loses_its_place_and_nobody_elses(tmp_path: Path, gate: Gate) -> None:
    path = tmp_path / "x.ckpt"
    save(path, 1, async_save=True)
    assert gate.reached.wait(60)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            save(path, 2)
    finally:
        signal.signal(signal.SIGALRM, before)
    newer = threading.Thread(target=save, args=(path, 3))
    newer.start()
    newer.join(0.2)
    assert newer.is_alive(), "it did not wait for the first, which is still being written"
    gate.opened.set()
    newer.join()
    assert saved(path) == [3]


# Failures


def failed(path: Path, gate: Gate) -> str:
    """Let a save in the background fail; return the exception that the next call raises."""
    save(path, 1)
    save(path, 2, async_save=True)
    gate.fail()
    return rf"^\[Errno 28\] an earlier asynchronous save failed: No space left on device: '{path}'$"


def test_a_failure_is_told_by_the_next_load_once(tmp_path: Path, gate: Gate) -> None:
    path = tmp_path / "x.ckpt"
    text = failed(path, gate)
    net = nn.Dense(1, 1)
    with pytest.raises(OSError, match=text):
        ms.load_checkpoint(path, net)
    assert saved(path) == [1] and os.listdir(tmp_path) == ["x.ckpt"]


@pytest.mark.parametrize("how", [False, True])
def test_a_failure_is_told_by_the_next_save_once(how: bool, tmp_path: Path, gate: Gate) -> None:
    path = tmp_path / "x.ckpt"
    text = failed(path, gate)
    with pytest.raises(OSError, match=text):
        save(path, 3, async_save=how)
    gate.error = None
    assert saved(path) == [1]
    save(path, 3, async_save=how)
    assert saved(path) == [3]


def test_a_failure_is_told_at_once_and_by_the_status(
    tmp_path: Path, gate: Gate, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.ckpt"
    text = failed(path, gate)
    with pytest.raises(OSError, match=text):
        all(iter(ms.async_ckpt_thread_status, False))
    assert ms.async_ckpt_thread_status() is False
    message = capsys.readouterr().err
    assert message == (
        f"hookscope: the asynchronous save of '{path}' failed: [Errno 28] No space left on device: '{path}'\n"
    )


def test_nothing_is_kept_of_a_save_that_has_ended(tmp_path: Path, gate: Gate) -> None:
    text = failed(tmp_path / "x.ckpt", gate)
    with pytest.raises(OSError, match=text):
        saved(tmp_path / "x.ckpt")
    gate.error = None
    for way in (False, True):
        save(tmp_path / "y.ckpt", 1, async_save=way)
        save(tmp_path / f"{way}.ckpt", 1, async_save=way)
    while any(thread.name == "hookscope-save-checkpoint" for thread in threading.enumerate()):
        pass
    assert [path for path in path_locks._newest if path.startswith(str(tmp_path))] == []


def test_another_path_is_not_told(tmp_path: Path, gate: Gate) -> None:
    text = failed(tmp_path / "x.ckpt", gate)
    save(tmp_path / "y.ckpt", 5)
    assert saved(tmp_path / "y.ckpt") == [5]
    with pytest.raises(OSError, match=text):
        saved(tmp_path / "x.ckpt")


def test_a_folder_deleted_meanwhile_is_told(tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    save("x.ckpt", 1, async_save=True)
    assert gate.reached.wait(60)
    shutil.rmtree(folder)
    gate.opened.set()
    with pytest.raises(FileNotFoundError, match="an earlier asynchronous save failed: No such file or directory"):
        ms.load_checkpoint(folder / "x.ckpt")


def test_what_cannot_be_saved_is_refused_by_the_call(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "x.ckpt", tmp_path / "x.ckpt" / "y"):
        (tmp_path / "x.ckpt").touch()
        with pytest.raises(OSError, match=r"does not exist; make it first|Not a directory"):
            save(path, 1, async_save=True)
    with pytest.raises(TypeError, match="'note' is a str, which a safetensors file cannot hold"):
        save(tmp_path / "x", 1, async_save=True, format="safetensors", append_dict={"note": "text"})
    assert not ms.async_ckpt_thread_status()


@pytest.mark.parametrize("steps", [1, 2])
def test_training_ends_when_a_checkpoint_in_the_background_could_not_be_written(
    steps: int, tmp_path: Path, gate: Gate
) -> None:
    gate.fail()
    net = nn.Dense(1, 1)
    model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params()))
    rows = np.ones((steps, 1), np.float32)
    data = NumpySlicesDataset({"x": rows, "y": rows}).batch(1)
    config = train.CheckpointConfig(save_checkpoint_steps=1, async_save=True)
    with pytest.raises(OSError, match="an earlier asynchronous save failed: No space left on device"):
        model.train(1, data, callbacks=train.ModelCheckpoint("m", str(tmp_path), config))


# The end of the program, and other processes

AT_EXIT = """
import atexit, sys, threading
import hookscope.engine as ms
def save(value):
    ms.save_checkpoint({"x": ms.ops.full((2**20,), value)}, sys.argv[1], async_save=True)
if sys.argv[2] == "main":
    save(2.0)
elif sys.argv[2] == "daemon":
    begun = threading.Thread(target=save, args=(2.0,), daemon=True)
    begun.start()
    begun.join()
else:
    atexit.register(save, 2.0)
"""


@pytest.mark.parametrize("where", ["main", "daemon", "atexit"])
def test_a_program_ends_when_its_files_are_written(where: str, tmp_path: Path, run_python: Run) -> None:
    path = tmp_path / "x.ckpt"
    run_python(AT_EXIT, str(path), where)
    assert set(saved(path)) == {2.0} and os.listdir(tmp_path) == ["x.ckpt"]


def test_a_program_says_at_its_end_what_it_could_not_write(tmp_path: Path, run_python: Run) -> None:
    limited = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    process = run_python(limited + AT_EXIT, str(tmp_path / "x.ckpt"), "main")
    path = tmp_path / "x.ckpt"
    assert (
        process.stderr == f"hookscope: the asynchronous save of '{path}' failed: [Errno 27] File too large: '{path}'\n"
    )
    assert os.listdir(tmp_path) == []


FORKED = """
import os, sys, threading, warnings
import hookscope.engine as ms
warnings.simplefilter("ignore")
path, go_on, sync = sys.argv[1], threading.Event(), os.fsync
def fsync(descriptor):
    if threading.current_thread() is not threading.main_thread():
        go_on.wait()
    sync(descriptor)
os.fsync = fsync
def save(value, **options):
    ms.save_checkpoint({"x": ms.Tensor([value])}, path, **options)
save(1.0)
save(2.0, async_save=True)
child = os.fork()
if child == 0:
    before = ms.load_checkpoint(path)["x"].tolist()  # the parent's writer is none of the child's
    save(3.0)
    os._exit(before != [1.0] or ms.load_checkpoint(path)["x"].tolist() != [3.0])
assert os.waitpid(child, 0)[1] == 0
go_on.set()
assert ms.load_checkpoint(path)["x"].tolist() == [2.0]
"""


def test_a_fork_during_a_save_waits_for_nobody(tmp_path: Path, run_python: Run) -> None:
    run_python(FORKED, str(tmp_path / "x.ckpt"))
    assert os.listdir(tmp_path) == ["x.ckpt"]


def test_a_save_from_a_thread_that_dies_with_the_program_is_written_by_one_that_does_not(
    tmp_path: Path, gate: Gate
) -> None:
    results: list[bool] = []

    def call() -> None:
        save(tmp_path / "x.ckpt", 1.0, async_save=True)
        results.extend(thread.daemon for thread in threading.enumerate() if thread.name == "hookscope-save-checkpoint")

    caller = threading.Thread(target=call, daemon=True)
    caller.start()
    caller.join(60)
    assert results == [False]
