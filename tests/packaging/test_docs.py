"""Links and commands in the documents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|<img[^>]*\ssrc=\"([^\"]+)\"")
MAKE = re.compile(r"`make (?:[A-Z]+=\S+ )*([a-z]+)`|^make ([a-z]+)", re.MULTILINE)


def documents(repository: Path) -> list[Path]:
    return [*repository.glob("*.md"), *repository.glob("docs/**/*.md")]


def test_every_relative_link_leads_to_a_file(repository: Path) -> None:
    missing = []
    for document in documents(repository):
        for groups in LINK.findall(document.read_text(encoding="utf-8")):
            target = "".join(groups).partition("#")[0]
            if target and "://" not in target and not (document.parent / target).exists():
                missing.append(f"{document.relative_to(repository)}: {target}")
    assert missing == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_make_command_named_is_a_target(name: str, repository: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (repository / "Makefile").read_text(), re.MULTILINE))
    named = {"".join(groups) for groups in MAKE.findall((repository / name).read_text(encoding="utf-8"))}
    assert named, f"{name} does not name a make command"
    assert named - targets == set()
