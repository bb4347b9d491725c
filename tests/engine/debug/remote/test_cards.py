"""Cards: files that only their user can read, of live processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from hookscope.engine.cpu.ownership import own_folder
from hookscope.engine.debug.remote.cards import Card, cards, read_card, sessions_folder, write_card

CARD = Card("ipc:///nowhere", "a" * 40, "b" * 40, "c" * 40, "train.py", "run", os.getpid(), os.uname().nodename)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return own_folder(tmp_path / "sessions")


def test_a_card_is_read_as_it_was_written_and_is_the_users_alone(folder: Path) -> None:
    path = write_card(folder, CARD)
    assert read_card(path) == CARD
    assert path.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_card_does_not_tell_its_secret_when_it_is_printed() -> None:
    assert CARD.client_secret not in repr(CARD)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o604])
def test_a_card_that_others_can_read_is_refused(folder: Path, mode: int) -> None:
    path = write_card(folder, CARD)
    path.chmod(mode)
    with pytest.raises(PermissionError, match="is open to other users: chmod 600"):
        read_card(path)


def test_a_folder_that_is_open_to_others_is_refused(tmp_path: Path) -> None:
    opened = tmp_path / "open"
    opened.mkdir()
    opened.chmod(0o755)
    with pytest.raises(PermissionError, match="is open to other users: chmod 700"):
        own_folder(opened)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_a_card_or_a_folder_of_another_user_is_refused(folder: Path) -> None:
    path = write_card(folder, CARD)
    os.chown(path, 65534, 65534)
    with pytest.raises(PermissionError, match="belongs to another user"):
        read_card(path)
    os.chown(folder, 65534, 65534)
    with pytest.raises(PermissionError, match="belongs to another user"):
        own_folder(folder)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "{" * 5000, '{"address": 1}', json.dumps({**asdict(CARD), "pid": "7"}), "\0"]
)
def test_a_file_that_holds_no_card_is_one_clear_error(folder: Path, text: str) -> None:
    path = write_card(folder, CARD)
    path.write_text(text)
    with pytest.raises(ValueError, match="is not the card of a process"):
        read_card(path)


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "huge"])
def test_a_file_that_is_not_a_card_is_skipped(folder: Path, kind: str) -> None:
    """A pipe without a writer, for example, must not block a process that lists the cards."""
    write_card(folder, CARD)
    other = folder / "other-0.json"
    if kind == "pipe":
        os.mkfifo(other, 0o600)
    elif kind == "folder":
        other.mkdir(0o700)
    elif kind == "link":
        other.symlink_to(folder / "run-0.json")
    else:
        other.write_bytes(b" " * (1 << 20) + json.dumps(asdict(CARD)).encode())
        other.chmod(0o600)
    assert cards(folder) == [CARD]
    with pytest.raises(OSError, match="other-0.json"):
        read_card(other)


def test_cards_of_processes_that_have_ended_are_removed(folder: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    write_card(folder, CARD)
    gone = write_card(folder, replace(CARD, run="gone", pid=int(ended.stdout)))
    elsewhere = replace(CARD, run="elsewhere", pid=int(ended.stdout), host="another machine")
    write_card(folder, elsewhere)
    assert set(cards(folder)) == {CARD, elsewhere}
    assert not gone.exists()


def test_the_folder_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOKSCOPE_SESSIONS", str(tmp_path / "a"))
    assert sessions_folder() == tmp_path / "a"
    monkeypatch.delenv("HOOKSCOPE_SESSIONS")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "b"))
    assert sessions_folder() == tmp_path / "b" / "hookscope" / "sessions"
