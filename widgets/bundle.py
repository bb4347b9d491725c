"""The panel's ES modules as the one module that anywidget takes, without a build step.

A Jupyter front end loads a widget's JavaScript from a string, where a relative import has nothing to
be relative to. So each file in static/ is a plain ES module (editors and the type checker see ordinary
imports and exports), and `bundle` puts them one after the other, dependencies first, without their
import lines and without the word "export". The files therefore share one scope: a top-level name
may appear only once among them, which `bundle` checks.
"""

from __future__ import annotations

import re
from pathlib import Path

STATIC = Path(__file__).parent / "static"

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(?P<file>[\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function |const |class )", re.MULTILINE)
_TOP_LEVEL = re.compile(r"^(?:async )?(?:function|const|let|class) (?P<name>\w+)", re.MULTILINE)


def bundle(entry: str, folder: Path = STATIC) -> str:
    """Return one module: `entry` with everything it imports, whose default export is `entry`'s own."""
    parts: dict[str, str] = {}
    _collect(entry, folder, parts)
    owners: dict[str, str] = {}
    for file, text in parts.items():
        for match in _TOP_LEVEL.finditer(text):
            name = match["name"]
            if name in owners:
                raise ValueError(f"{name} is defined at the top level of both {owners[name]} and {file}")
            owners[name] = file
    return "\n".join(f"// {file}\n{text}" for file, text in parts.items())


def styles(folder: Path = STATIC) -> str:
    """Return every view's rules as one style sheet, after panel.css, which has the colours and what views share."""
    files = sorted(folder.glob("*.css"), key=lambda file: (file.name != "panel.css", file.name))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def _collect(file: str, folder: Path, parts: dict[str, str]) -> None:
    """Add `file` to `parts` after the files it imports."""
    if file in parts:
        return
    source = (folder / file).read_text(encoding="utf-8")
    for match in _IMPORT.finditer(source):
        _collect(match["file"], folder, parts)
    text = _EXPORT.sub("", _IMPORT.sub("", source))
    leftover = re.search(r"^(?:import\b|export (?!default)).*", text, re.MULTILINE)
    if leftover:
        raise ValueError(f"{file}: cannot bundle the line {leftover[0]!r}")
    parts[file] = text
