"""Command line: `python -m hookscope run | install | report`."""

from __future__ import annotations

import argparse
import os
import platform
import runpy
import sys
import textwrap
from collections.abc import Sequence
from types import TracebackType

from hookscope import __version__
from hookscope.kernel.checked_script import add_options, run_checked, with_values
from hookscope.kernel.ranks.options import plan_of
from hookscope.kernel.ranks.script_end import end_of_rank, status_of_exit, traceback_of_script

_WIDTH = 100  # columns of a screen


class _CommandParser(argparse.ArgumentParser):
    """A parser of one command, which names the nearest of its own options for an unknown one."""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]  # as argparse
        options, unknown = super().parse_known_args(args, namespace)
        if unknown and unknown[0].startswith("-"):
            from hookscope.engine.base.nearest_name import nearest_option

            name = unknown[0].partition("=")[0]
            match = nearest_option(name, self._option_string_actions)
            self.error(f"there is no option {name!r}" + ("" if match is None else f"; the nearest is {match!r}"))
        return options, unknown


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hookscope", description="A Jupyter kernel and neural network debugger.")
    parser.add_argument("--version", action="version", version=f"hookscope {__version__}")
    parser.set_defaults(function=lambda options: parser.print_help())
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_CommandParser)

    run = commands.add_parser(
        "run",
        help="run a script written for MindSpore",
        usage="hookscope run [options] [script] ...",
        description="Run a script in which `import mindspore` gives Hookscope's engine; with --check say what is wrong "
        "with its networks and their training. Options come before the script: what follows it is the script's.",
        allow_abbrev=False,
    )
    add_options(run)
    run.add_argument("script", nargs="?", help="the Python file")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="what the script finds in sys.argv")
    run.set_defaults(function=lambda options: run.print_help() if options.script is None else _run(options))

    install = commands.add_parser(
        "install", help="tell Jupyter about the kernel", description="Install the kernelspec for this interpreter."
    )
    destination = install.add_mutually_exclusive_group()
    destination.add_argument("--user", action="store_true", help="for this user")
    destination.add_argument("--prefix", help="under PREFIX/share/jupyter/kernels")
    destination.add_argument(
        "--sys-prefix", action="store_const", const=sys.prefix, dest="prefix", help="for this environment"
    )
    install.add_argument("--name", default="hookscope", help="the kernel's name (default: hookscope)")
    install.set_defaults(function=_install)

    report = commands.add_parser(
        "report",
        help="say what this machine uses, and why",
        description="Say which device and which kernels are in use on this machine, and why.",
    )
    report.add_argument("--operators", action="store_true", help="list where each operator runs")
    report.set_defaults(function=_report)
    return parser


def _run(options: argparse.Namespace) -> None:
    from hookscope.kernel.alias import install_as_mindspore

    try:
        plan = plan_of(options)
        if plan is not None:
            from hookscope.kernel.ranks.launch import run_ranks

            sys.exit(run_ranks(plan, options))
    except ValueError as error:
        print(f"hookscope run: {error}", file=sys.stderr)
        sys.exit(2)
    if not os.path.isfile(options.script):
        print(f"hookscope run: there is no file {options.script!r}", file=sys.stderr)
        sys.exit(2)
    rank = end_of_rank()
    install_as_mindspore()
    # Set up sys.argv and sys.path like `python script.py`.
    sys.argv = [options.script, *options.arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(options.script))
    served = options.serve is not None or options.serve_address is not None
    if any((options.check, options.stop_on, options.breaks, options.json is not None, served)):
        sys.exit(run_checked(options, rank))
    try:
        runpy.run_path(options.script, run_name="__main__")
    except BaseException as error:
        status = status_of_exit(error.code) if isinstance(error, SystemExit) else 1
        if rank is None or status == 0:
            _leave_out_what_led_to(options.script)
            raise
        rank.tell(error, options.script)
        rank.leave(130 if isinstance(error, KeyboardInterrupt) else status)


def _leave_out_what_led_to(script: str) -> None:
    """Make Python's traceback begin in the script, as that of `python script.py` does."""
    show = sys.excepthook

    def show_from_script(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        error.__traceback__ = traceback_of_script(trace, script)
        show(kind, error, error.__traceback__)

    sys.excepthook = show_from_script


def _install(options: argparse.Namespace) -> None:
    from hookscope.kernel.install import install_kernelspec

    try:
        folder = install_kernelspec(options.name, options.prefix, options.user)
    except (OSError, ValueError) as error:
        hint = "; --user or --sys-prefix needs no such right" if isinstance(error, PermissionError) else ""
        sys.exit(f"hookscope install: {error}{hint}")
    print(f"Installed the kernel {options.name!r} in {folder}")


def _report(options: argparse.Namespace) -> None:
    import hookscope
    from hookscope.engine.cpu.threads import cores

    report = hookscope.device_report()
    facts = [
        ("hookscope", f"{__version__} in {os.path.dirname(os.path.abspath(__file__))}"),
        ("Python", f"{platform.python_version()} ({sys.executable})"),
        ("machine", f"{platform.system()} {platform.machine()}, {cores()} cores"),
    ]
    lines = [f"{name:<11}  {text}" for name, text in facts] + str(report).splitlines()
    for location, names in report.operators().items() if options.operators else ():
        lines.append(f"{location}: {', '.join(names)}")
    for line in lines:
        print("\n".join(textwrap.wrap(line, _WIDTH, subsequent_indent=" " * 13)))


def main(arguments: Sequence[str] | None = None) -> None:
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(with_values(arguments) if arguments[:1] == ["run"] else arguments)
    options.function(options)


if __name__ == "__main__":
    main()
