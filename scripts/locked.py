"""The part of requirements.lock that some extras need, with its hashes, as `pip install --require-hashes -r` reads it.

    python scripts/locked.py build lab > lab.txt

The lock says of each package which ones asked for it; from what pyproject.toml names, that leads to all of them. Should
one be missing, pip says so: in this mode it installs nothing that has no hash.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK, PROJECT = ROOT / "requirements.lock", ROOT / "pyproject.toml"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def name(text: str) -> str:
    """Return the normalized name that a requirement begins with, or an empty text."""
    found = _NAME.match(text)
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def wanted(project: dict[str, object], extras: list[str]) -> set[str]:
    """The packages that pyproject.toml names, for the package itself and these extras.

    Raises:
        KeyError: there is no such extra.
    """
    texts = list(project["dependencies"])  # type: ignore[call-overload]  # a list of strings, by the standard
    optional: dict[str, list[str]] = project["optional-dependencies"]  # type: ignore[assignment]  # likewise
    left, seen = list(extras), set[str]()
    while left:
        extra = left.pop()
        if extra in seen:
            continue
        seen.add(extra)
        for text in optional[extra]:
            inner = re.match(rf"{project['name']}\[(.*)\]", text)
            left.extend(re.findall(r"[\w-]+", inner[1]) if inner else ())
            texts.extend(() if inner else (text,))
    return {name(text) for text in texts}


def entries(lock: str) -> list[tuple[str, set[str], str]]:
    """Of each entry of the lock its package, the packages that asked for it, and its lines without the comments."""
    found: list[tuple[str, set[str], list[str]]] = []
    for line in lock.splitlines():
        comment = line.strip().removeprefix("# via").lstrip("# ") if line.lstrip().startswith("#") else None
        if comment is None:
            if line and not line[0].isspace():
                found.append((name(line), set(), []))
            found[-1][2].append(line)
        elif found and comment:
            found[-1][1].add(name(comment))
    return [(package, via, "\n".join(lines)) for package, via, lines in found]


def select(lock: str, names: set[str]) -> str:
    """The entries of these packages, and of those that they ask for."""
    all_of_it = entries(lock)
    chosen: set[str] = set()
    more = names
    while more:
        chosen |= more
        more = {package for package, via, _ in all_of_it if via & more} - chosen
    return "".join(f"{lines}\n" for package, _, lines in all_of_it if package in chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extras", nargs="*")
    project = tomllib.loads(PROJECT.read_text())["project"]
    print(select(LOCK.read_text(), wanted(project, parser.parse_args().extras)), end="")


if __name__ == "__main__":
    main()
