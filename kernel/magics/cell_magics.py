"""The magics: `%%cell`, `%cell`, `%params`, `%hooks`, `%train`, `%bprop`.

They contain no logic of their own: each opens a session, a panel or a table. The engine is imported on first use of a
magic.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand

from ..panels import NEWEST, panels_of
from . import cell_body
from . import options as option_parsers
from .cell_body import show
from .last_call import LastCall, last_call
from .options import check_output, find_cell, one_line
from .rank_magics import ranks_of, served_runs

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.engine.nn import Cell


@magics_class
class HookscopeMagics(Magics):
    """The magics that `%load_ext hookscope` registers."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._panels = panels_of(shell)

    @no_var_expand
    @line_cell_magic
    def cell(self, line: str, cell: str | None = None) -> None:
        """Run a cell under the debugger, or open a network's panel.

        %%cell [NET] [options]    run the body; NET is a Cell, made before or by the body. Without
                                  it, every root Cell that the body calls is watched.
        %cell NET [--max-...]     open the panel of NET; it follows what later cells do. NET may also be the
                                  variable of a session, which then has one more panel.
        %cell --post-mortem [SESSION]   look at the error that ended the newest run under the debugger, or
                                  that of the session in this variable: its functions and their values.
        %cell [NET] --forget      forget what was clicked in the panels of NET, or in all of them.
        %cell --list              the sessions that there are, and their variables; what --attach can look at.
        %cell --attach [RUN]      the panel of a script that hookscope run --serve runs: the newest, or RUN.

        -w, --watch PATTERN[:forward|backward|all]   what to capture (default: every leaf cell, all)
        -b, --break 'PATH[:MOMENT] [if EXPRESSION]'  where to pause; exception: at errors that leave the network
        --step                    pause at the first line of every bprop
        --train | --eval          NET's mode while the body runs; then each cell's mode as before
                                  (without them a mode that is set by the body or in the panel stays)
        --check CONDITION,...     look for these, for example nan or all; _session.findings() tells
        --stop-on CONDITION,...   look for these and pause; the last may be 'if EXPRESSION'
        --mute CONDITION:PATH=REASON   this is meant in that cell ('.' is NET itself): no finding, no pause
        --every N                 capture every Nth step
        --max-bytes SIZE          how much memory captured values may take (256MiB); of older ones the
                                  figures stay
        --max-captures N          how many captures are kept, with or without their values (20000)
        --device cpu|gpu          where new tensors are put while the body runs
        -o, --output NAME         the variable that gets the DebugSession (default: _session_1, or the next
                                  number that is free; the newest of these is _session too)
        --no-panel                show no panel
        --ranks                   run the body on all ranks that %ranks started; NET is a variable there

        Hooks that are attached in the panel while the body runs end with it. An aborted run leaves
        NET's modes as they were. A panel is live until its own cell runs again or is deleted. The
        next run of the cell keeps what was clicked in it, except where the line says otherwise.
        """
        if cell is None:
            self._open_panel(line)
            return
        options = option_parsers.CELL.parse_line(line)
        if options.ranks:
            ranks_of(self.shell).run_under_debugger(line, options, cell)
            return
        body = cell_body.Body(self.shell, cell)
        if body.is_valid:
            self._run_under_debugger(options, body)
        else:
            body.run()
        if body.error is not None:
            cell_body.fail_cell(self.shell, body.error)

    def _open_panel(self, line: str) -> None:
        options = option_parsers.OPEN.parse_line(line)
        option_parsers.check_alone(options)
        if options.list:
            print(self._panels.table())
            if served := served_runs():
                print(f"\n{served}")
            return
        if options.forget:
            print(self._panels.forget_choices(options.net))
            return
        if options.attach is not None:
            ranks_of(self.shell).attach(options.attach or options.net)
            return
        if options.post_mortem:
            session = self._failed_session(options.net or NEWEST)
            session.post_mortem()
            self._panels.open(session)
            return
        if options.net is None:
            raise UsageError("%cell: NET is missing: a Cell, or the variable of a session; %cell --list names these")
        from hookscope.engine.debug import DebugSession

        variable = self.shell.user_ns.get(options.net)
        if isinstance(variable, DebugSession):
            self._panels.open(variable)
            return
        net = find_cell(options.net, self.shell.user_ns, "%cell")
        session = DebugSession(net, name=options.net, **option_parsers.bounds(options))
        session.attach()
        self._panels.add_session(session, explicit=option_parsers.bounds(options))
        self._panels.open(session)

    def _failed_session(self, name: str) -> DebugSession:
        from hookscope.engine.debug import DebugSession

        session = self.shell.user_ns.get(name)
        if not isinstance(session, DebugSession):
            problem = "no cell has run under the debugger" if session is None else f"{name!r} is not a DebugSession"
            raise UsageError(f"%cell --post-mortem: {problem}; %cell --list names the sessions")
        if session.failure is None:
            raise UsageError(f"%cell --post-mortem: the newest run of {name} has not ended with an error")
        return session

    def _run_under_debugger(self, options: argparse.Namespace, body: cell_body.Body) -> None:
        name, namespace = options.net, self.shell.user_ns
        check_output(options.output or NEWEST, self.shell, body.names)
        defined_by_body = name is not None and name.partition(".")[0] in body.names
        net = None if name is None or defined_by_body else find_cell(name, namespace, "%%cell")
        if net is None and options.mode is not None:
            raise UsageError("%%cell: --train and --eval need a NET that exists before the body runs")
        session = _session(net, options)
        with ExitStack() as stack:
            if options.device is not None:
                stack.enter_context(cell_body.device(options.device))
            if net is not None:
                stack.enter_context(cell_body.restored_modes(net, body, options.mode))
            self._panels.add_session(session, options.output, option_parsers.explicit_names(options))
            stack.enter_context(cell_body.detached_at_end(session))
            stack.enter_context(self._panels.around(session, with_panel=options.panel))
            session.attach()
            body.run()
            session.record_failure(body.error)
        if body.error is None and defined_by_body:
            find_cell(name, namespace, "%%cell")

    @line_magic
    def params(self, line: str) -> None:
        """%params NET: the parameters of NET as a table."""
        net = find_cell(option_parsers.PARAMS.parse_line(line).net, self.shell.user_ns, "%params")
        from hookscope.widgets import ParameterTable

        show(ParameterTable(net))

    @line_magic
    def hooks(self, line: str) -> None:
        """%hooks NET: every hook registered in NET as a table."""
        net = find_cell(option_parsers.HOOKS.parse_line(line).net, self.shell.user_ns, "%hooks")
        from hookscope.engine.debug import DebugSession
        from hookscope.widgets import HookTable

        show(HookTable(DebugSession(net)))

    @no_var_expand
    @line_magic
    def train(self, line: str) -> None:
        """%train NET on|off [PATTERN]: set the mode of NET, or of the cells in it that PATTERN matches."""
        options = option_parsers.TRAIN.parse_line(line)
        net = find_cell(options.net, self.shell.user_ns, "%train")
        from hookscope.engine.debug.watch.pattern import check_matches, matches

        cells: dict[str, Cell] = dict(net.cells_and_names())
        try:
            check_matches(options.pattern, list(cells), "%train: pattern")
        except ValueError as error:
            raise UsageError(one_line(error)) from None
        for path, cell in cells.items():
            if matches(options.pattern, path):
                cell.set_train(options.mode == "on")
        training = sum(cell.training for cell in cells.values())
        print(f"{options.net}: {training} of {len(cells)} cells in training mode")

    @line_magic
    def bprop(self, line: str) -> Any:
        """%bprop NET.path: step through a cell's own bprop with the inputs and the gradient captured last.

        The cell runs forward once more to get there. The value is what the bprop returned.
        """
        name = option_parsers.BPROP.parse_line(line).net
        cell = find_cell(name, self.shell.user_ns, "%bprop")
        if not cell.has_custom_bprop:
            raise UsageError(f"%bprop: {name} has no bprop of its own; its gradient is automatic")
        call = self._last_captured(name, cell)
        from hookscope.engine import vjp
        from hookscope.engine.debug import DebugSession

        def forward(*tensors: Any) -> Any:
            positional = len(call.inputs)
            return cell(*tensors[:positional], **dict(zip(call.keywords, tensors[positional:], strict=True)))

        session = DebugSession(cell, step=True, name=name)
        self._panels.add_session(session)
        with cell_body.detached_at_end(session), self._panels.around(session), session:
            _, pull_back = vjp(forward, *call.inputs, *call.keywords.values())
            return pull_back(*call.gradients)

    def _last_captured(self, name: str, cell: Cell) -> LastCall:
        """Return the cell's newest call that was captured forward and backward, from the first session that has one."""
        from hookscope.engine.debug import DebugSession

        namespace = self.shell.user_ns
        candidates = [namespace.get("_session"), *reversed(list(namespace.values()))]
        try:
            call = last_call([candidate for candidate in candidates if isinstance(candidate, DebugSession)], cell)
        except ValueError as error:
            raise UsageError(f"%bprop: {name}: {one_line(error)}; step it with %%cell --step instead") from None
        if call is None:
            head, _, path = name.partition(".")
            raise UsageError(
                f"%bprop: no session has captured {name} forward and backward; run it first under %%cell {head}"
                + (f" --watch '{path}'" if path else "")
            )
        if call.defaults:
            print(f"%bprop: {name}: {', '.join(call.defaults)} not captured (no tensor), left at the default")
        return call


def _session(net: Cell | None, options: argparse.Namespace) -> DebugSession:
    from hookscope.engine.debug import DebugSession

    try:
        session = DebugSession(
            net,
            watch=options.watch,
            breaks=options.breaks,
            step=options.step,
            conditions=options.check,
            stop_on=options.stop_on,
            every=options.every,
            **option_parsers.bounds(options),
            name=options.net or "session",
        )
        for condition, path, reason in options.mute:
            session.mute(condition, path, reason)
        return session
    except ValueError as error:
        raise UsageError(f"%%cell: {one_line(error)}") from None
