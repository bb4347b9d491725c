"""Options of the magics, and their one-line errors that name the invalid input and the nearest valid one."""

from __future__ import annotations

import argparse
import builtins
import keyword
import re
import shlex
from collections.abc import Collection, Iterable
from typing import Any, NoReturn

from IPython.core.error import UsageError

_HISTORY = re.compile(r"_+|_i+|_i?\d+")  # IPython's variables of inputs and results


def nearest(name: str, names: Iterable[str]) -> str:
    """Return "; the nearest is 'x'", or the text for no similar name, or for no names at all."""
    from hookscope.engine.base.nearest_name import suggestion

    candidates = list(names)
    return suggestion(name, candidates) if candidates else "; there is none"


def _nearest_option(name: str, options: Iterable[str]) -> str:
    from hookscope.engine.base.nearest_name import nearest_option

    match = nearest_option(name, options)
    return "" if match is None else f"; the nearest is {match!r}"


def one_line(error: object) -> str:
    return " ".join(str(error).split())


class _Parser(argparse.ArgumentParser):
    """argparse without its exit: every error is a one-line UsageError."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog=prog, add_help=False, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {one_line(message)}")

    def option(self, name: str) -> argparse.Action | None:
        return self._option_string_actions.get(name)

    def named_options(self) -> Iterable[tuple[str, argparse.Action]]:
        """Return all names of all options."""
        return self._option_string_actions.items()

    def positional(self, index: int) -> argparse.Action | None:
        """Return the argument that takes the word at this index of those without an option; None if there are fewer."""
        arguments = [action for action in self._actions if not action.option_strings]
        return arguments[index] if index < len(arguments) else None

    def parse_line(self, line: str) -> argparse.Namespace:
        try:
            tokens = shlex.split(line, comments=True)
        except ValueError as error:
            self.error(f"{error} in {line.strip()!r}")
        options, unknown = self.parse_known_args(tokens)
        for word in unknown:
            if word.startswith("-") and len(word) > 1:
                name = word.partition("=")[0]
                self.error(f"there is no option {name!r}{_nearest_option(name, self._option_string_actions)}")
        if unknown:
            self.error(f"unexpected {unknown[0]!r} after {tokens[tokens.index(unknown[0]) - 1]!r}")
        return options


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, got {number}")
    return number


def _size(text: str) -> int:
    from hookscope.engine.debug.record.size_texts import parse_size

    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _variable(text: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"must be the name of a variable, got {text!r}")
    return text


def _conditions(text: str) -> list[str]:
    from hookscope.engine.debug.diagnose.conditions import split_conditions

    try:
        return split_conditions(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _mute(text: str) -> tuple[str, str, str]:
    name, colon, rest = text.partition(":")
    path, _, reason = rest.partition("=")
    if not (name and colon and path):
        raise argparse.ArgumentTypeError(f"must be CONDITION:PATH=REASON, got {text!r}")
    return name.strip(), "" if path.strip() == "." else path.strip(), reason.strip()


def _cell_parser() -> _Parser:
    parser = _Parser("%%cell")
    parser.add_argument("net", nargs="?")
    parser.add_argument("-w", "--watch", action="append", default=[], metavar="PATTERN")
    parser.add_argument("-b", "--break", action="append", default=[], dest="breaks", metavar="BREAKPOINT")
    parser.add_argument("--step", action="store_true")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--train", action="store_const", const=True, dest="mode")
    mode.add_argument("--eval", action="store_const", const=False, dest="mode")
    parser.add_argument("--check", type=_conditions, action="extend", default=[], metavar="CONDITION,...")
    parser.add_argument("--stop-on", type=_conditions, action="extend", default=[], metavar="CONDITION,...")
    parser.add_argument("--mute", type=_mute, action="append", default=[], metavar="CONDITION:PATH=REASON")
    parser.add_argument("--every", type=_count, default=1, metavar="N")
    _add_bounds(parser)
    parser.add_argument("--device", type=str.lower, choices=["cpu", "gpu"])
    parser.add_argument("-o", "--output", type=_variable, metavar="NAME")
    parser.add_argument("--no-panel", action="store_false", dest="panel")
    parser.add_argument("--ranks", action="store_true")
    return parser


def _add_bounds(parser: _Parser) -> None:
    """Add options that bound the captures; None is the session's own default."""
    parser.add_argument("--max-bytes", type=_size, metavar="SIZE")
    parser.add_argument("--max-captures", type=_count, metavar="N")


def bounds(options: argparse.Namespace) -> dict[str, Any]:
    """Return the given bounds as arguments of a session."""
    limits = {"max_bytes": options.max_bytes, "max_captures": options.max_captures}
    return {name: bound for name, bound in limits.items() if bound is not None}


def explicit_names(options: argparse.Namespace) -> set[str]:
    """Return the names of the conditions and limits that the line of a `%%cell` gives one by one, unlike "all"."""
    from hookscope.engine.debug.diagnose.conditions import parse_conditions

    chosen = [text for text in (*options.check, *options.stop_on) if text != "all"]
    return {condition.name for condition in parse_conditions(chosen)} | bounds(options).keys()


def _net_parser(prog: str) -> _Parser:
    parser = _Parser(prog)
    parser.add_argument("net", metavar="NET")
    return parser


def _open_parser() -> _Parser:
    parser = _Parser("%cell")
    parser.add_argument("net", nargs="?", metavar="NET")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--attach", nargs="?", const="", metavar="RUN")
    parser.add_argument("--post-mortem", action="store_true")
    parser.add_argument("--forget", action="store_true")
    _add_bounds(parser)
    return parser


def _ranks_parser() -> _Parser:
    parser = _Parser("%ranks")
    parser.add_argument("what", nargs="?", type=_number_or_stop, metavar="N|stop")
    return parser


def _number_or_stop(text: str) -> int | str:
    return text if text == "stop" else _count(text)


def _ranks_cell_parser() -> _Parser:
    parser = _Parser("%%ranks")
    parser.add_argument("--on", type=_numbers, metavar="RANK,...")
    return parser


def _numbers(text: str) -> list[int]:
    if not re.fullmatch(r"[0-9]+(,[0-9]+)*", text):
        raise argparse.ArgumentTypeError(f"must be numbers of ranks, such as 0,2, got {text!r}")
    return sorted({int(number) for number in text.split(",")})


def _train_parser() -> _Parser:
    parser = _net_parser("%train")
    parser.add_argument("mode", choices=["on", "off"])
    parser.add_argument("pattern", nargs="?", default=".", metavar="PATTERN")  # "." is NET itself
    return parser


CELL = _cell_parser()
OPEN = _open_parser()
PARAMS = _net_parser("%params")
HOOKS = _net_parser("%hooks")
TRAIN = _train_parser()
BPROP = _net_parser("%bprop")
RANKS = _ranks_parser()
RANKS_CELL = _ranks_cell_parser()


def check_alone(options: argparse.Namespace) -> None:
    """Reject options that `--list`, `--attach`, `--post-mortem` and `--forget` of `%cell` would ignore."""
    surplus = [f"--{name.replace('_', '-')}" for name in bounds(options)]
    if options.post_mortem or options.forget:
        alone = "--post-mortem" if options.post_mortem else "--forget"
        surplus += ["--list"] * options.list + ["--attach"] * (options.attach is not None)
        surplus += ["--forget"] * (options.forget and options.post_mortem)
        if surplus:
            raise UsageError(f"%cell: unexpected {surplus[0]!r} beside {alone}")
        return
    if options.net is not None and options.attach != "":
        surplus = [options.net, *surplus]
    if options.list:
        surplus += [] if options.attach is None else ["--attach"]
        alone = "--list"
    else:
        alone = f"--attach {options.attach!r}" if options.attach else "--attach"
    if surplus and (options.list or options.attach is not None):
        raise UsageError(f"%cell: unexpected {surplus[0]!r} beside {alone}")


def check_output(name: str, shell: Any, bound: Collection[str]) -> None:
    """Refuse to rebind a variable that is not a session's, since a network would be lost silently."""
    from hookscope.engine.debug import DebugSession

    existing = shell.user_ns.get(name)
    if name in shell.user_ns_hidden or _HISTORY.fullmatch(name):
        description = "IPython's own"
    elif hasattr(builtins, name):
        description = "Python's own"
    elif name in bound:
        description = "set by the body"
    elif existing is None or isinstance(existing, DebugSession):
        return
    else:
        description = f"a {type(existing).__name__}"
    raise UsageError(f"%%cell: --output {name!r} is {description}; choose a new name, or that of a DebugSession")


def find_cell(name: str, namespace: dict[str, Any], magic: str) -> Any:
    """Return the Cell that `net` or `net.block.relu` names; raise a UsageError with the nearest if there is none."""
    from hookscope.engine.nn import Cell

    head, _, path = name.partition(".")
    net = namespace.get(head)
    if not isinstance(net, Cell):
        cells = [key for key, value in namespace.items() if isinstance(value, Cell) and key[0] != "_"]
        problem = f"is of type {type(net).__name__}, not a Cell" if head in namespace else "is not defined"
        hint = (
            nearest(head, cells) or f"; a Cell is {', '.join(cells[:5])}" if cells else "; no variable here is a Cell"
        )
        raise UsageError(f"{magic}: {head!r} {problem}{hint}")
    if not path:
        return net
    paths: dict[str, Any] = dict(net.cells_and_names())
    if path not in paths:
        raise UsageError(f"{magic}: {head} has no cell {path!r}{nearest(path, filter(None, paths))}")
    return paths[path]
