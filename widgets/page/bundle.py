"""Bundler that joins plain ES modules into the one module that anywidget takes, without a build step.

A Jupyter front end loads a widget's JavaScript from a string, so a relative import has no base to resolve against. Each
file is therefore a plain ES module (editors and the type checker see ordinary imports and exports), and `bundle`
concatenates them, dependencies first, each as a function that returns its exports. A module keeps its scope: two
modules may use the same name for different things. Comment lines are removed, since the bundle travels with every
panel.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable

_IMPORT = re.compile(r'^import \{(?P<names>[^}]*)\} from "(?P<file>\.{1,2}/[\w./-]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (?P<name>\w+))", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*\*(?:(?!\*/).)*\*/[ \t]*)\n", re.MULTILINE | re.DOTALL)
_DEFAULT = re.compile(r"^export default (?P<value>.*);$", re.MULTILINE)


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """Return one module: `entry` with everything that it imports. Its default export is that of `entry`.

    Args:
        entry: the name of a module, a path with "/".
        read: returns the text of a module by its name.

    Raises:
        ValueError: a module imports or exports in a way that cannot be joined, or imports itself through other modules.
    """
    parts: dict[str, str] = {}
    _collect(entry, read, parts, ())
    modules = "\n".join(parts.values())
    return f"const modules = {{}};\n{modules}\nexport default modules[{json.dumps(entry)}].default;\n"


def _collect(name: str, read: Callable[[str], str], parts: dict[str, str], around: tuple[str, ...]) -> None:
    """Add a module to `parts` after the modules that it imports."""
    if name in around:
        raise ValueError(f"modules import each other: {' -> '.join((*around, name))}")
    if name in parts:
        return
    source = _COMMENT.sub("", read(name))
    for match in _IMPORT.finditer(source):
        _collect(_resolved(match["file"], name), read, parts, (*around, name))
    exported = [match["name"] for match in _EXPORT.finditer(source)]
    exported += [f"default: {match['value']}" for match in _DEFAULT.finditer(source)]
    text = _IMPORT.sub(lambda match: _without_import(match, name), source)
    text = _DEFAULT.sub("", _EXPORT.sub("", text))
    remainder = re.search(r"^(?:import\b|export\b).*", text, re.MULTILINE)
    if remainder:
        raise ValueError(f"{name}: cannot bundle the line {remainder[0]!r}")
    exports = f"return {{ {', '.join(exported)} }};"
    parts[name] = f"modules[{json.dumps(name)}] = (() => {{\n{text.rstrip()}\n{exports}\n}})();"


def _without_import(match: re.Match[str], name: str) -> str:
    """Rewrite an import as a destructuring of another module's function result."""
    names = re.sub(r"(\w+) as (\w+)", r"\1: \2", " ".join(match["names"].split()))
    return f"const {{ {names} }} = modules[{json.dumps(_resolved(match['file'], name))}];\n"


def _resolved(file: str, importer: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), file))
