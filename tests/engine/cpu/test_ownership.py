"""Folders and files that others may change are refused, and what is read is what was checked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookscope.engine.cpu.ownership import NOT_READABLE, NOT_WRITABLE, NotOwnError, own_folder, read_own

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")


def test_a_folder_is_made_for_its_user_alone(tmp_path: Path) -> None:
    assert own_folder(tmp_path / "above" / "made").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("mode", "others", "advice"),
    [
        (0o755, NOT_READABLE, "chmod 700"),
        (0o710, NOT_READABLE, "chmod 700"),
        (0o770, NOT_WRITABLE, "chmod go-w"),
        (0o757, NOT_WRITABLE, "chmod go-w"),
    ],
)
def test_an_open_folder_is_refused_with_what_to_do(tmp_path: Path, mode: int, others: int, advice: str) -> None:
    tmp_path.chmod(mode)
    with pytest.raises(NotOwnError, match=f"by other users: {advice} |to other users: {advice} "):
        own_folder(tmp_path, others)


def test_a_folder_that_others_can_only_read_is_no_danger_to_what_is_in_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert own_folder(tmp_path, NOT_WRITABLE) == tmp_path


@as_root
@pytest.mark.parametrize("what", ["folder", "link"])
def test_what_another_user_made_is_refused(tmp_path: Path, what: str) -> None:
    path = tmp_path / "theirs"
    if what == "link":
        (tmp_path / "own").mkdir(0o700)
        path.symlink_to(tmp_path / "own")
    else:
        path.mkdir(0o700)
    os.chown(path, 65534, 65534, follow_symlinks=False)
    with pytest.raises(NotOwnError, match=f"the {what} .*theirs belongs to another user"):
        own_folder(path)


def test_an_own_link_to_an_own_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(0o700)
    (tmp_path / "here").symlink_to(tmp_path / "there")
    assert own_folder(tmp_path / "here") == tmp_path / "here"


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    path.chmod(0o600)
    assert read_own(path, 5) == b"12345"
    with pytest.raises(OSError, match="has more than 4 bytes"):
        read_own(path, 4)
    path.chmod(0o644)
    assert read_own(path, 5, NOT_WRITABLE) == b"12345"
    with pytest.raises(NotOwnError, match="is open to other users: chmod 600"):
        read_own(path, 5)


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "device"])
def test_what_is_not_a_file_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(path, 0o600)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        (tmp_path / "other").write_bytes(b"")
        path.symlink_to(tmp_path / "other")
    else:
        path = Path("/dev/zero")
    with pytest.raises(OSError, match=f"{path}"):
        read_own(path, 5)
