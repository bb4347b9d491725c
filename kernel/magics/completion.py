"""Completion of the lines of the magics: options, networks, cell paths, conditions, moments.

No code of the user runs: variables are read from the notebook's dictionary, and cells from the dictionaries of their
parents.
"""

from __future__ import annotations

import argparse
import logging
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from ..ipykernel_adapter import custom_matchers
from . import options

__all__ = ["Completions", "complete", "register", "unregister"]

_LOG = logging.getLogger("hookscope.debug")
_IDENTIFIER = "hookscope.magics"
_FIRST = 1000.0  # before IPython's own matchers, whose greatest priority is 100
_MAGIC = re.compile(r"\s*(?:[^\W\d][\w.]*\s*=\s*)?(?P<magic>%%?[^\W\d]\w*)\s(?P<line>.*)", re.DOTALL)
_CURSOR = "\0"  # stands for the cursor in the text that shlex splits
_PARSERS = {
    "%%cell": options.CELL,
    "%cell": options.OPEN,
    "%params": options.PARAMS,
    "%hooks": options.HOOKS,
    "%train": options.TRAIN,
    "%bprop": options.BPROP,
    "%ranks": options.RANKS,
    "%%ranks": options.RANKS_CELL,
}


class Completions(NamedTuple):
    """The text before the cursor that is replaced, and the texts that may replace it."""

    fragment: str
    texts: list[str]


class _Candidates(NamedTuple):
    """The end of a word that is completed, and the texts that may stand there."""

    fragment: str
    texts: Iterable[str]


_NOTHING = Completions("", [])
_NO_CANDIDATES = _Candidates("", [])


def register(shell: Any) -> None:
    """Let Tab complete the lines of the magics in this shell."""

    @context_matcher(priority=_FIRST, identifier=_IDENTIFIER)  # type: ignore[untyped-decorator]  # by IPython
    def matcher(context: CompletionContext) -> SimpleMatcherResult:
        try:
            fragment, texts = complete(context.full_text, context.cursor_line, context.cursor_position, shell.user_ns)
        except Exception:  # IPython would print the traceback between the user's cells
            _LOG.debug("completion of a magic's line failed", exc_info=True)
            fragment, texts = _NOTHING
        completions = [SimpleCompletion(text) for text in texts[: context.limit]]
        return {"completions": completions, "matched_fragment": fragment, "suppress": True, "ordered": True}

    unregister(shell)
    custom_matchers(shell).append(matcher)


def unregister(shell: Any) -> None:
    """Undo ``register``."""
    matchers = custom_matchers(shell)
    matchers[:] = [matcher for matcher in matchers if getattr(matcher, "matcher_identifier", "") != _IDENTIFIER]


def complete(text: str, line: int, column: int, namespace: Mapping[str, Any]) -> Completions:
    """Return the completions at a place in a notebook cell; none outside the lines of our magics.

    Args:
        text: the cell.
        line, column: the place of the cursor, from 0.
        namespace: the notebook's namespace.
    """
    lines = text.split("\n")
    match = _MAGIC.fullmatch(lines[line][:column])
    if match is None or match["magic"] not in _PARSERS:
        return _NOTHING
    if match["magic"].startswith("%%") and any(before.strip() for before in lines[:line]):
        return _NOTHING  # a cell magic begins its cell
    split = _split(match["line"])
    if split is None:
        return _NOTHING
    earlier, typed, quote = split
    magic_line = _Line(match["magic"], namespace)
    for word in earlier:
        magic_line.add(word)
    fragment, candidates = _at_cursor(magic_line, typed)
    if not match["line"].endswith(fragment):
        return _NOTHING  # written with a backslash or with several quotations
    alike = (text for text in candidates if text.startswith(fragment) and _keeps_its_text(text, quote))
    return Completions(fragment, list(dict.fromkeys(alike)))


def _split(line: str) -> tuple[list[str], str, str] | None:
    """Return the words before the cursor, the part of a word at it, and the open quotation mark; None in a comment."""
    for quote in ("", "'", '"'):
        try:
            *earlier, last = shlex.split(f"{line}{_CURSOR}{quote}", comments=True) or [""]
        except ValueError:  # no closing quotation
            continue
        return (earlier, last.removesuffix(_CURSOR), quote) if last.endswith(_CURSOR) else None
    return None


def _keeps_its_text(text: str, quote: str) -> bool:
    try:
        return shlex.split(f"{quote}{text}{quote}", comments=True) == [text]
    except ValueError:
        return False


@dataclass
class _Line:
    """The words of a magic's line before the cursor.

    Attributes:
        magic: its name.
        namespace: the notebook's namespace.
        options: the options so far.
        positional: the words so far that belong to no option.
        pending: the option whose value comes next.
    """

    magic: str
    namespace: Mapping[str, Any]
    options: list[argparse.Action] = field(default_factory=list)
    positional: list[str] = field(default_factory=list)
    pending: argparse.Action | None = None

    def add(self, word: str) -> None:
        if self.pending is not None and _takes(self.pending, word):
            self.pending = None
            return
        self.pending = None
        name, equals, _ = word.partition("=")
        if not word.startswith("-"):
            self.positional.append(word)
        elif (action := _PARSERS[self.magic].option(name)) is not None:
            self.options.append(action)
            self.pending = None if equals or action.nargs == 0 else action

    @property
    def paths(self) -> list[str]:
        """The paths of the cells in the network that the line names."""
        head, _, path = (self.positional or [""])[0].partition(".")
        net = dict(_cells_and_names(self.namespace.get(head))).get(path)
        return [name for name, _ in _cells_and_names(net)]

    def has(self, name: str) -> bool:
        """Return whether an option so far sets this attribute of the parsed options."""
        return any(action.dest == name for action in self.options)


def _takes(action: argparse.Action, word: str) -> bool:
    return action.nargs is None or not word.startswith("-")


def _at_cursor(line: _Line, typed: str) -> _Candidates:
    parser = _PARSERS[line.magic]
    name, equals, value = typed.partition("=")
    if line.pending is not None and _takes(line.pending, typed):
        return _value(line, line.pending, typed)
    if not typed.startswith("-"):
        fragment, texts = _value(line, parser.positional(len(line.positional)), typed)
        return _Candidates(fragment, texts if typed else [*texts, *_options(line, "--")])
    if equals:
        return _value(line, parser.option(name), value)
    return _Candidates(typed, _options(line, typed))


def _options(line: _Line, typed: str) -> list[str]:
    """Return the options that may follow: one with a list of values any number of times, others once."""
    return [
        name
        for name, action in _PARSERS[line.magic].named_options()
        if name.startswith(typed) and (isinstance(action.default, list) or not line.has(action.dest))
    ]


def _value(line: _Line, action: argparse.Action | None, typed: str) -> _Candidates:
    if action is None:
        return _NO_CANDIDATES
    if action.choices is not None:
        return _Candidates(typed, [str(choice) for choice in action.choices])
    complete_value = _VALUES.get(action.dest)
    return _NO_CANDIDATES if complete_value is None else complete_value(line, typed)


# The values of options and arguments, each by what the parser calls it


def _network(line: _Line, typed: str) -> _Candidates:
    head, dot, path = typed.partition(".")
    if dot:
        paths = [name for name, _ in _cells_and_names(line.namespace.get(head))]
        return _Candidates(typed, (f"{head}.{name}" for name in _next_level(path, paths)))
    return _Candidates(typed, _variables(line.namespace, _CELL, *([_SESSION] if line.magic == "%cell" else [])))


def _session(line: _Line, typed: str) -> _Candidates:
    return _Candidates(typed, _variables(line.namespace, _SESSION))


def _pattern(line: _Line, typed: str) -> _Candidates:
    return _Candidates(typed, _next_level(typed, line.paths))


def _watch(line: _Line, typed: str) -> _Candidates:
    from hookscope.engine.debug.watch.pattern import DIRECTIONS

    pattern, colon, direction = typed.partition(":")
    return _Candidates(direction, DIRECTIONS) if colon else _pattern(line, pattern)


def _breakpoint(line: _Line, typed: str) -> _Candidates:
    from hookscope.engine.debug.stop.breakpoints.breakpoint import MOMENTS
    from hookscope.engine.debug.stop.breakpoints.expression import NAMES
    from hookscope.engine.tensors.operator import OPERATORS

    if re.match(r"\S+\s+if\s", typed):
        return _name(NAMES, typed)
    location, space, condition = typed.partition(" ")
    if space:
        return _Candidates(condition, ["if ", "log "])
    path, colon, moment = location.partition(":")
    is_operator = path.startswith("ops.")
    if colon:
        return _Candidates(moment, ("forward", "backward") if is_operator else MOMENTS)
    if is_operator:
        return _Candidates(path, (f"ops.{name}" for name in sorted(OPERATORS)))
    return _Candidates(path, [*_next_level(path, line.paths), "ops.", "exception"])


def _conditions(line: _Line, typed: str) -> _Candidates:
    from hookscope.engine.debug.diagnose.conditions import condition_names
    from hookscope.engine.debug.diagnose.conditions.user import OWN_NAMES

    if re.search(r"(^|,)\s*if\s", typed):
        return _name(OWN_NAMES, typed)
    *earlier, fragment = re.split(r"[,\s]+", typed)
    names = sorted(condition_names(), key=lambda name: name != "all")
    if line.has("ranks"):
        from hookscope.engine.debug.compare.ranks import RANK_CONDITIONS

        names += RANK_CONDITIONS
    return _Candidates(fragment, [name for name in [*names, "if "] if name not in earlier])


def _mute(line: _Line, typed: str) -> _Candidates:
    from hookscope.engine.debug.diagnose.conditions import CONDITIONS

    name, colon, path = typed.partition(":")
    if not colon:
        return _Candidates(name, CONDITIONS)
    return _NO_CANDIDATES if "=" in path else _pattern(line, path)


def _run(line: _Line, typed: str) -> _Candidates:
    from hookscope.engine.debug.remote.cards import cards

    return _Candidates(typed, (card.run for card in reversed(cards())))


def _number_or_stop(line: _Line, typed: str) -> _Candidates:
    return _Candidates(typed, ["stop"])


_VALUES: dict[str, Callable[[_Line, str], _Candidates]] = {
    "net": _network,
    "watch": _watch,
    "breaks": _breakpoint,
    "check": _conditions,
    "stop_on": _conditions,
    "mute": _mute,
    "output": _session,
    "attach": _run,
    "pattern": _pattern,
    "what": _number_or_stop,
}


def _name(names: Iterable[str], expression: str) -> _Candidates:
    """Complete a name at the end of an expression; attributes are not known."""
    match = re.search(r"(?<![\w.])(?:[^\W\d]\w*)?$", expression)
    return _NO_CANDIDATES if match is None else _Candidates(match[0], names)


def _next_level(typed: str, paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths, or patterns of paths, that complete the last part of ``typed``."""
    head, dot, _ = typed.rpartition(".")
    if dot and not head:  # "." is the network itself
        return
    for path in paths:
        parent, _, name = path.rpartition(".")
        if name and (fnmatchcase(parent, head) if dot else not parent):
            yield f"{head}{dot}{name}"


# The notebook's objects. None of their code is called: isinstance would ask a value for its __class__, which may be a
# property of the user's, and a network may override cells_and_names and attribute access.

_CELL = ("hookscope.engine.nn.cell", "Cell")
_SESSION = ("hookscope.engine.debug.session", "DebugSession")


def _is_a(value: object, kind: tuple[str, str]) -> bool:
    """Return whether a value is of a class of the engine; if its module is not imported, there are none."""
    module, name = kind
    loaded = sys.modules.get(module)
    return loaded is not None and issubclass(type(value), vars(loaded)[name])


def _variables(namespace: Mapping[str, Any], *kinds: tuple[str, str]) -> list[str]:
    """Return the variables whose values are of these classes; those with an underscore are the last."""
    names = [name for name, value in list(namespace.items()) if any(_is_a(value, kind) for kind in kinds)]
    return sorted(names, key=lambda name: (name.startswith("_"), name))


def _cells_and_names(net: object) -> Iterator[tuple[str, object]]:
    """Yield what ``net.cells_and_names()`` yields; nothing if it is not a Cell."""
    visited: set[int] = set()
    stack = [("", net)]
    while stack:
        path, cell = stack.pop()
        if id(cell) in visited or not _is_a(cell, _CELL):
            continue
        visited.add(id(cell))
        yield path, cell
        children = list(dict.items(object.__getattribute__(cell, "__dict__").get("_cells", {})))
        stack += [(f"{path}.{name}" if path else name, child) for name, child in reversed(children)]
