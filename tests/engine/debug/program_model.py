"""The model of random programs: actions at stops as part of the program itself, and the stops that steps lead to."""

from __future__ import annotations

import itertools
import linecache
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from program_source import Line, Source

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, value_and_grad
from hookscope.engine.debug import DebugAbort
from hookscope.engine.tensors.parameter import Parameter

__all__ = ["HOOKS", "Actions", "Event", "Key", "Life", "Model", "Moment", "bprops_of", "next_stop"]

HOOKS: dict[str, Callable[..., Any]] = {
    "forward_pre": lambda cell, inputs: (inputs[0] * 1.5,),
    "forward": lambda cell, inputs, output: output * 0.75,
    "backward_pre": lambda cell, arriving: (arriving[0] * 2.0,),
    "backward": lambda cell, leaving, arriving: (leaving[0] * 0.5,),
}


# Actions at stops


Key = tuple[int, int, int | None]  # a line, the turn of its function, the turn of the loop
Moment = tuple[str, str, int, int]  # path, moment, step, call


@dataclass
class Actions:
    """The actions at the stops, as the model writes them."""

    at_lines: dict[Key, list[str]] = field(default_factory=dict)
    at_moments: dict[Moment, list[str]] = field(default_factory=dict)
    states: list[Callable[[Life], None]] = field(default_factory=list)

    def statement(self, change: Callable[[Life], None]) -> str:
        """Return the statement that makes a change of the network."""
        self.states.append(change)
        return f"_do({len(self.states) - 1})"


def program_text(source: Source, done: Actions) -> str:
    """Return the program with all actions written into it."""
    lines: list[str] = []
    for number, line in enumerate(source.lines):
        space = "    " * line.indent

        def put(space: str = space, number: int = number) -> None:
            for (at, turn, loop), statements in done.at_lines.items():
                if at == number:
                    lines.append(f"{space}if turn == {turn}" + ("" if loop is None else f" and i == {loop}") + ":")
                    lines.extend(f"{space}    {statement}" for statement in statements)

        if line.call is not None:
            put()
            lines.extend(_call(source, number, line, done, space))
        elif line.text == "session.pause()":
            put()
        else:
            put()
            lines.append(space + line.text)
    return "\n".join(lines) + "\n"


def _call(source: Source, number: int, line: Line, done: Actions, space: str) -> list[str]:
    assert line.call is not None
    member, arguments, results = line.call
    lines = [f"{space}inputs = ({', '.join(arguments)},)"]

    def put(expected: str) -> None:
        for (path, moment, step, call), statements in done.at_moments.items():
            if (path, moment) == (member, expected) and source.calls[member][call] == number:
                lines.append(f"{space}if turn == {step}:")
                lines.extend(f"{space}    {statement}" for statement in statements)

    put("forward_pre")
    lines.append(f"{space}output = self.{member}(*inputs)")
    put("forward")
    lines.append(f"{space}{', '.join(results)} = output")
    return lines


# A network and its state


class NoSession:
    """A stand-in for the session in the model."""

    def pause(self) -> None:
        """Continue."""


def _weight(seed: int) -> Parameter:
    return Parameter(Tensor(np.random.default_rng(seed).standard_normal(3).astype(np.float32)))


def _constant(value: Any) -> Any:
    """Return the same numbers as a constant, which no gradient reaches."""
    if isinstance(value, tuple):
        return tuple(map(_constant, value))
    return Tensor(value.asnumpy())


class AbortError(Exception):
    """The model's abort."""


class Life:
    """A network made from a source, and its training."""

    def __init__(self, text: str, functions: list[str], filename: str, seed: int) -> None:
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        rng = np.random.default_rng(seed)
        self.x = Tensor(rng.standard_normal(3).astype(np.float32))
        self.names: dict[str, Any] = {
            "nn": nn,
            "ms": ms,
            "weight": _weight,
            "turns": {function: itertools.count(1) for function in functions},
            "session": NoSession(),
            "const": _constant,
            "_do": self._do,
            "_abort": self._abort,
            "FACTOR": Tensor(rng.standard_normal(3).astype(np.float32)),
        }
        exec(compile(text, filename, "exec"), self.names)
        self.net: Any = self.names["Net"]()
        self.handles: dict[tuple[int, str], Any] = {}
        self.states: list[Callable[[Life], None]] = []
        self.seen: list[Any] = []
        self.before: dict[int, Any] = {}
        self.step = 0

    def _do(self, number: int) -> None:
        self.states[number](self)

    def _abort(self) -> None:
        raise AbortError

    def hook(self, owner: int, kind: str, on: bool) -> None:
        """Attach the hook of a kind to the last cell, or remove it; each owner has one of a kind."""
        if (owner, kind) in self.handles:
            self.handles.pop((owner, kind)).remove()
        if on:
            self.handles[owner, kind] = getattr(self.net.tail, f"register_{kind}_hook")(HOOKS[kind])

    def parameter(self, name: str) -> Parameter:
        """Return one of the network's parameters."""
        result: Parameter = dict(self.net.parameters_and_names())[name]
        return result

    def state(self) -> list[Any]:
        """Return all state that a step may change, as comparable data."""
        arrays = [p.asnumpy().tobytes() for p in self.net.get_parameters()]
        modes = [cell.training for _, cell in self.net.cells_and_names()]
        hooks = {kind: len(entries) for kind, entries in self.net.tail._hooks.items()}
        return [arrays, modes, hooks, self.names["look"]().asnumpy().tobytes()]

    def train(self) -> None:
        """Take one step; return its result, or that it was aborted."""
        self.step += 1
        weights = list(self.net.get_parameters())
        try:
            output, result = value_and_grad(lambda x: self.net(x).sum(), 0, weights or None)(self.x)
        except (DebugAbort, AbortError):
            self.seen.append("aborted")
        else:
            gradients = [result[0], *result[1]] if weights else [result]
            for weight, gradient in zip(weights, gradients[1:], strict=True):
                weight.set_data(weight - gradient * 0.1)
            self.seen += [item.asnumpy().tobytes() for item in (output, *gradients)]
        self.seen.append(self.state())


class Model(Life):
    """A life in which all actions are part of the program."""

    def __init__(self, source: Source, done: Actions, filename: str, seed: int) -> None:
        super().__init__(program_text(source, done), source.functions, filename, seed)
        self.states = done.states
        self.done = done

    def _back(self, name: str, statements: list[str]) -> Callable[..., Any]:
        def hook(cell: Any, gradients: Any, arrived: Any = None) -> Any:
            names = {**self.names, name: gradients}
            for statement in statements:
                exec(statement, names)
            return names[name]

        return hook

    def train(self) -> None:
        """Take one step; changes of an aborted one are undone."""
        arrays = [(p, p.asnumpy()) for p in self.net.get_parameters()]
        modes = [(cell, cell.training) for _, cell in self.net.cells_and_names()]
        hooks, factor = set(self.handles), self.names["look"]()
        handles = []
        # Only in their own steps: a hook regroups the additions of the gradients, even if it changes nothing.
        for (path, moment, step, _), statements in self.done.at_moments.items():
            if step == self.step + 1 and moment.startswith("backward"):
                name = "grad_output" if moment == "backward_pre" else "grad_input"
                register = getattr(getattr(self.net, path), f"register_{moment}_hook")
                handles.append(register(self._back(name, statements)))
        super().train()
        for handle in handles:
            handle.remove()
        if self.seen[-2] == "aborted":
            for parameter, array in arrays:
                parameter.set_data(Tensor(array))
            for cell, mode in modes:
                cell.training = mode
            for owner, kind in {*self.handles, *hooks}:
                self.hook(owner, kind, (owner, kind) in hooks)
            self.names["put"](factor)
            self.seen[-1] = self.state()


# The stop that a step must lead to


Event = tuple[int, tuple[int, ...]]  # the line, and the frames from the bprop inwards


def bprops_of(source: Source, seed: int) -> list[list[Event]]:
    """Return the lines that each bprop of one step passes, from a plain trace of the program."""
    filename = f"/programs/trace{seed}.py"
    life = Life(source.text(), source.functions, filename, seed)
    runs: list[list[Event]] = []
    frames: list[int] = []  # the running calls, by number
    calls = itertools.count()

    def called(frame: Any, event: str, arg: Any) -> Any:
        nonlocal calls
        if frame.f_code.co_filename != filename:
            return None
        if frame.f_code.co_name == "bprop":
            runs.append([])
            calls = itertools.count()
        elif not frames:
            return None
        frames.append(next(calls))
        return traced

    def traced(frame: Any, event: str, arg: Any) -> Any:
        if event == "line":
            runs[-1].append((frame.f_lineno - 1, tuple(frames)))
        elif event == "return":
            frames.pop()
        return traced

    before = sys.gettrace()
    sys.settrace(called)
    try:
        life.train()
    finally:
        sys.settrace(before)
    return runs


def next_stop(events: Sequence[Event], index: int, command: str) -> int | None:
    """Return the index among a bprop's lines at which a command must stop next; None if it leaves the bprop."""
    chain = events[index][1]
    for position in range(index + 1, len(events)):
        frames = events[position][1]
        inside = frames == chain[: len(frames)] and (command != "out" or len(frames) < len(chain))
        if command == "into" or inside:
            return position
    return None
