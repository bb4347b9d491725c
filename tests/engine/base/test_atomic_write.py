"""The one way to write a file: whole or not at all, whatever stands at the path, and nothing beside it stays."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import nn
from hookscope.engine.base.atomic_write import write_file, write_text
from hookscope.engine.debug import DebugSession
from hookscope.widgets import export_html

LEFT = ".hookscope-0123456789abcdef.tmp"


def checkpoint(path: Path) -> None:
    ms.save_checkpoint({"x": ms.Tensor(np.zeros(2**16, np.float32))}, path)


def safetensors(path: Path) -> None:
    ms.save_checkpoint({"x": ms.Tensor(np.zeros(2**16, np.float32))}, path, format="safetensors")


def page(path: Path) -> None:
    export_html(DebugSession(nn.Dense(2, 1)), path)


WRITERS = {"x.ckpt": checkpoint, "x.safetensors": safetensors, "x.html": page}
each_writer = pytest.mark.parametrize(("name", "write"), WRITERS.items(), ids=WRITERS)


# Concurrent writers and readers


@each_writer
def test_a_link_stays_and_the_file_behind_it_is_replaced(
    name: str, write: Callable[[Path], None], tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    behind, link = tmp_path / "real" / name, tmp_path / name
    behind.write_text("old")
    link.symlink_to(behind)
    write(link)
    assert link.is_symlink() and behind.read_bytes() != b"old"
    behind.unlink()
    write(link)  # now it leads to nothing: the file appears where it points
    assert link.is_symlink() and behind.is_file() and not behind.is_symlink()
    assert os.listdir(tmp_path / "real") == [name]


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a link of another user's")
def test_a_strangers_link_in_a_folder_for_all_is_followed_only_if_the_system_does(tmp_path: Path) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "for all"
    victim.write_text("mine")
    folder.mkdir()
    folder.chmod(0o1777)
    (folder / "page.html").symlink_to(victim)
    os.lchown(folder / "page.html", 65534, 65534)
    if Path("/proc/sys/fs/protected_symlinks").read_text().strip() != "1":
        pytest.skip("this system follows such links")
    with pytest.raises(PermissionError):
        write_text(folder / "page.html", "theirs", "test")
    assert victim.read_text() == "mine" and os.listdir(folder) == ["page.html"]


@each_writer
def test_what_is_no_file_is_refused_and_stays(name: str, write: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    with pytest.raises(OSError, match="a device, pipe or socket cannot be replaced by a file") as caught:
        write(path)
    assert caught.value.filename == str(path) and stat.S_ISFIFO(path.stat().st_mode)
    path.unlink()
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(tmp_path)
        server.bind(name)
        with pytest.raises(OSError, match="cannot be replaced"):
            write(path)
    path.rename(tmp_path / "behind")
    path.symlink_to(tmp_path / "behind")  # as one might to /dev/null
    with pytest.raises(OSError, match="cannot be replaced"):
        write(path)
    path.unlink()
    path.symlink_to(path)
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        write(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(IsADirectoryError, match="is not the name of a file"):
        write(path)
    assert sorted(os.listdir(tmp_path)) == ["behind", name]


@pytest.fixture(autouse=True)
def back_where_it_was() -> Iterator[None]:
    before = os.getcwd()
    yield
    os.chdir(before)


@each_writer
def test_a_folder_that_is_not_there_is_one_clear_error(
    name: str, write: Callable[[Path], None], tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError, match=r"the folder '.*/no' does not exist; make it first"):
        write(tmp_path / "no" / name)
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        write(tmp_path / "file" / name)
    with pytest.raises(ValueError, match="it has a null character"):
        write(Path(f"{tmp_path}/a\0b/{name}"))
    path = tmp_path / "gone"
    path.mkdir()
    os.chdir(path)
    path.rmdir()
    with pytest.raises(FileNotFoundError, match="the working directory does not exist any more"):
        write(Path(name))


UNPRIVILEGED = """
import os, sys
folder, module, name = sys.argv[1:]
sys.path.insert(0, module)
from test_atomic_write import WRITERS
WRITERS[name](folder + "/before." + name)  # who may write nowhere may perhaps import nothing
os.chmod(folder, 0o555)
if os.geteuid() == 0:
    os.setgroups([])
    os.setuid(65534)
try:
    WRITERS[name](folder + "/" + name)
except OSError as error:
    print(type(error).__name__, error, sep=": ")
"""


@each_writer
def test_a_folder_without_rights_is_named_with_the_file(name: str, write: Callable[[Path], None]) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are its user's alone
        program = [sys.executable, "-c", UNPRIVILEGED, folder, str(Path(__file__).parent), name]
        process = subprocess.run(program, capture_output=True, text=True, check=False)
        os.chmod(folder, 0o755)
        assert process.stdout == f"PermissionError: [Errno 13] Permission denied: '{folder}/{name}'\n", process.stderr
        assert os.listdir(folder) == [f"before.{name}"]


@each_writer
def test_the_longest_name_can_be_written_and_a_longer_one_is_refused_at_once(
    name: str, write: Callable[[Path], None], tmp_path: Path
) -> None:
    suffix = Path(name).suffix
    longest = tmp_path / ("n" * (255 - len(suffix)) + suffix)
    write(longest)
    assert os.listdir(tmp_path) == [longest.name]
    with pytest.raises(OSError, match="File name too long"):
        write(tmp_path / ("n" + longest.name))
    not_utf8 = os.fsdecode(b"\xff\xfe" + suffix.encode())
    write(tmp_path / not_utf8)
    assert sorted(os.listdir(tmp_path)) == sorted([longest.name, not_utf8])


# Permissions


def test_a_file_keeps_its_permissions_and_a_new_one_gets_the_umasks(tmp_path: Path) -> None:
    path = tmp_path / "x"
    before = os.umask(0o027)
    try:
        write_text(path, "new", "test")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        for mode in (0o604, 0o400):
            path.chmod(mode)
            write_text(path, "again", "test")
            assert stat.S_IMODE(path.stat().st_mode) == mode
    finally:
        os.umask(before)


def test_a_private_file_is_private_while_it_is_written(tmp_path: Path) -> None:
    path, modes = tmp_path / "x", []
    path.touch(0o600)
    for mode in (None, 0o400):
        write_file(path, lambda file: modes.append(os.fstat(file.fileno()).st_mode & 0o777), "test", mode=mode)
    assert modes == [0o600, 0o600]


def test_hard_links_keep_the_old_content(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "old", "test")
    os.link(tmp_path / "a", tmp_path / "b")
    write_text(tmp_path / "a", "new", "test")
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("new", "old")


# Failures


@each_writer
def test_a_file_that_may_not_grow_is_told_as_what_it_is(
    name: str, write: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(path))
    assert path.read_text() == "old" and os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("moment", ["write", "fsync", "fchmod", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), OSError("?")])
def test_whatever_comes_in_between_comes_out_and_nothing_stays(
    moment: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_text("old")

    def fail(*_: Any) -> None:
        raise error

    def write(file: BinaryIO) -> None:
        file.write(b"new")
        if moment == "write":
            fail()

    if moment != "write":
        monkeypatch.setattr(os, moment, fail)
    with pytest.raises(type(error)) as caught:
        write_file(path, write, "test")
    if isinstance(error, OSError) and error.errno:
        assert str(caught.value) == f"[Errno 28] No space left on device: '{path}'"
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["x"]


def test_an_interrupt_after_the_rename_is_no_other_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = os.replace

    def late(source: str, target: str) -> None:
        replace(source, target)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(os, "replace", late)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "x", "new", "test")
    assert (tmp_path / "x").read_text() == "new" and os.listdir(tmp_path) == ["x"]


def test_a_folder_that_cannot_be_flushed_or_listed_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def unreadable(path: Any, *arguments: Any, **keywords: Any) -> int:
        if path == str(tmp_path):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, *arguments, **keywords)

    monkeypatch.setattr(os, "open", unreadable)
    monkeypatch.setattr(os, "listdir", lambda folder: unreadable(folder, os.O_RDONLY))
    write_text(tmp_path / "x", "new", "test")
    assert (tmp_path / "x").read_text() == "new"


# Remains of killed writers


def test_what_a_killed_writer_left_is_removed_by_the_next_write(tmp_path: Path) -> None:
    (tmp_path / LEFT).write_text("half")
    (tmp_path / LEFT).chmod(0o400)  # it was killed just before the rename
    write_text(tmp_path / "x", "new", "test")
    assert os.listdir(tmp_path) == ["x"]


def test_what_a_live_writer_writes_stays(tmp_path: Path) -> None:
    records: list[str] = []

    def write(file: BinaryIO) -> None:
        write_text(tmp_path / "other", "new", "test")  # it sweeps the folder
        records.extend(set(os.listdir(tmp_path)) - {"other"})
        file.write(b"new")

    write_file(tmp_path / "x", write, "test")
    assert len(records) == 1 and re.fullmatch(r"\.hookscope-[0-9a-f]{16}\.tmp", records[0])
    assert (tmp_path / "x").read_text() == "new"


def test_a_writer_whose_file_is_swept_before_its_lock_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, swept = fcntl.flock, []

    def late(descriptor: int, how: int) -> None:
        if how & fcntl.LOCK_EX and len(swept) < 2:
            (hidden,) = tmp_path.glob(".hookscope-*")
            swept.append(hidden)
            if len(swept) == 1:
                hidden.unlink()
            else:
                raise BlockingIOError(errno.EAGAIN, "a sweeper holds it")
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    write_text(tmp_path / "x", "new", "test")
    assert (tmp_path / "x").read_text() == "new" and os.listdir(tmp_path) == ["x"] and len(swept) == 2


def test_without_locks_files_are_written_and_nothing_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(descriptor: int, how: int) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", none)
    (tmp_path / LEFT).write_text("half")
    write_text(tmp_path / "x", "new", "test")
    assert sorted(os.listdir(tmp_path)) == [LEFT, "x"]


def test_only_what_a_writer_left_is_swept(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    victim = tmp_path / "outside" / "victim"
    victim.write_text("somebody's")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / LEFT).symlink_to(victim)
    os.mkfifo(folder / LEFT.replace("0", "f"))
    for name in (".hookscope-notes.tmp", LEFT + "x", LEFT[1:]):
        (folder / name).write_text("mine")
    before = sorted(os.listdir(folder))
    write_text(folder / "x", "new", "test")
    assert sorted(os.listdir(folder)) == sorted([*before, "x"])
    assert victim.read_text() == "somebody's"


def test_the_hidden_name_cannot_be_foreseen(tmp_path: Path) -> None:
    names = set()
    for _ in range(20):
        write_file(tmp_path / "x", lambda _: names.update(set(os.listdir(tmp_path)) - {"x"}), "test")
    assert len(names) == 20


def test_the_content_is_on_the_disk_before_it_takes_the_name_and_the_name_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[str] = []
    sync, replace = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        status = os.fstat(descriptor)
        folder = stat.S_ISDIR(status.st_mode)
        assert not folder or status.st_ino == tmp_path.stat().st_ino
        log.append("folder" if folder else f"{status.st_size} bytes")
        sync(descriptor)

    def replaced(source: str, target: str) -> None:
        log.append("replace")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replaced)
    write_text(tmp_path / "x.txt", "four", "test")
    assert log == ["4 bytes", "replace", "folder"]
