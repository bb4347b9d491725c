"""The part of requirements.lock for some extras, with its hashes, as `pip install --require-hashes -r` reads it.

    python scripts/locked.py build lab > lab.txt

The lock lists the packages that require each package; this leads from pyproject.toml's requirements to all of them. If
one were missing, pip would report it, since in this mode it installs nothing without a hash.
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
    """Return the normalized name at the start of a requirement, or an empty text."""
    match = _NAME.match(text)
    return re.sub(r"[-_.]+", "-", match[0]).lower() if match else ""


def required(project: dict[str, object], extras: list[str]) -> set[str]:
    """Return the packages that pyproject.toml requires, for the package itself and these extras.

    Raises:
        KeyError: there is no such extra.
    """
    texts = list(project["dependencies"])  # type: ignore[call-overload]  # a list of strings, by the standard
    optional: dict[str, list[str]] = project["optional-dependencies"]  # type: ignore[assignment]  # likewise
    remaining, visited = list(extras), set[str]()
    while remaining:
        extra = remaining.pop()
        if extra in visited:
            continue
        visited.add(extra)
        for text in optional[extra]:
            inner = re.match(rf"{project['name']}\[(.*)\]", text)
            remaining.extend(re.findall(r"[\w-]+", inner[1]) if inner else ())
            texts.extend(() if inner else (text,))
    return {name(text) for text in texts}


def entries(lock: str) -> list[tuple[str, set[str], str]]:
    """Return, for each entry of the lock, its package, the packages that require it, and its lines without comments."""
    blocks: list[tuple[str, set[str], list[str]]] = []
    for line in lock.splitlines():
        comment = line.strip().removeprefix("# via").lstrip("# ") if line.lstrip().startswith("#") else None
        if comment is None:
            if line and not line[0].isspace():
                blocks.append((name(line), set(), []))
            blocks[-1][2].append(line)
        elif blocks and comment:
            blocks[-1][1].add(name(comment))
    return [(package, via, "\n".join(lines)) for package, via, lines in blocks]


def select(lock: str, names: set[str]) -> str:
    """Return the entries of these packages, and of the packages that they require."""
    all_entries = entries(lock)
    chosen: set[str] = set()
    additional = names
    while additional:
        chosen |= additional
        additional = {package for package, via, _ in all_entries if via & additional} - chosen
    return "".join(f"{lines}\n" for package, _, lines in all_entries if package in chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extras", nargs="*")
    project = tomllib.loads(PROJECT.read_text())["project"]
    print(select(LOCK.read_text(), required(project, parser.parse_args().extras)), end="")


if __name__ == "__main__":
    main()
