"""Random programs under the debugger, against a model of what must happen.

    python tests/engine/debug/random_programs.py --programs 2000 --seed 7

A program trains a random network: cells with a ``bprop`` (loops, inner functions that share variables, helpers, a
closure that outlives the run), cells with a weight, several outputs, functions that pause by themselves. At each stop
the driver acts at random: edits of variables and of passing values, parameters changed and changed back, hooks and
modes, refused edits, steps, abort, detach; later another network and session replace these.

The model has no debugger. It writes all actions into the source of the same program as plain statements, and those of
the backward pass as plain hooks; outputs, gradients, weights, modes and shared variables must then be the same, bit for
bit. The next stop of a step comes from a plain trace of the program. A failure names the seed.
"""

from __future__ import annotations

import argparse
import linecache
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from program_model import HOOKS, Actions, Event, Key, Life, Model, Moment, bprops_of, next_stop
from program_source import Source, value_of

from hookscope.engine import Tensor
from hookscope.engine.debug import DebugSession, PausePoint

__all__ = ["run"]

STEPS = ("over", "over", "over", "into", "into", "out", "continue", "continue", "operator", "cell")
MOMENTS = ("forward_pre", "forward", "backward_pre", "backward")


class Driver:
    """A pauser that does something random at each stop and notes what it did."""

    def __init__(self, source: Source, life: Life, filename: str, seed: int, rng: random.Random) -> None:
        self.source, self.life, self.filename, self.rng = source, life, filename, rng
        self.done = Actions()
        self.counts: Counter[str] = Counter()
        self.edits: list[object] = []
        self.runs = bprops_of(source, seed)
        self.events: tuple[Event, ...] = ()  # of the bprop that is stepped
        self.index: int | None = None  # the index of the current one; None if unknown
        self.expected: int | str | None = None  # the next stop: an index into the events, or "outside"
        self.gone = self.retired = False
        self.session = self.new_session()

    def retire(self, stay_attached: bool) -> None:
        """End this network, which another one replaces; a session that stays attached must not pause again."""
        self.retired = True
        if not stay_attached:
            self.session.detach()

    def new_session(self) -> DebugSession:
        """Return a session with random breakpoints, under a name that the program uses."""
        members = list(self.source.calls)
        breaks = {f"{self.rng.choice(members)}:{self.rng.choice(MOMENTS)}" for _ in range(self.rng.randint(0, 4))}
        session = DebugSession(self.life.net, step=self.rng.random() < 0.8, breaks=sorted(breaks), pauser=self)
        self.life.names["session"] = session
        self.gone = False
        return session

    def step(self) -> None:
        """Take one step of the training."""
        self.index, self.expected = None, None
        if self.gone and self.rng.random() < 0.5:
            self.session = self.new_session()
        if not self.gone:
            self.session.attach()
        self.life.train()

    def unavailable(self) -> str | None:
        """Return None: the driver always answers."""
        return None

    def wait(self, until: Callable[[], bool]) -> None:
        """Answer a stop."""
        session, point = self.session, self.session.paused
        assert not self.retired and point is not None, "a session of a retired network pauses"
        called = point.reason == "pause() was called"
        assert called or not self.gone, "a detached session pauses"
        self.counts["stops"] += 1
        self._follow(point)
        for _ in range(self.rng.choice((0, 1, 1, 2, 3))):
            self._act(point)
        key = self._key(point)
        if key is not None and not self.gone and self.rng.random() < 0.02:
            self._note(key, "_abort()")
            self.counts["aborts"] += 1
            session.resume("abort")
        elif not called and self.rng.random() < 0.02:
            self.counts["detaches"] += 1
            self.gone = True
            self.expected = None
            session.detach()
        else:
            command = self.rng.choice(STEPS)
            self._expect(point, command)
            session.resume(command)
        assert until()

    # The current stop

    def _follow(self, point: PausePoint) -> None:
        expected, self.expected = self.expected, None
        at_line = point.kind == "bprop" and point.operator is None
        if at_line and point.reason == "the bprop begins":
            assert expected in (None, "outside"), f"stopped at {point.place}, before the expected line"
            (self.events,) = {tuple(run) for run in self.runs if run[0][0] == point.line - 1}
            self.index = 0
        elif isinstance(expected, int):
            assert at_line, f"stopped at {point.place}, not at a line"
            assert point.line - 1 == self.events[expected][0], f"stopped at {point.place}, not at the expected line"
            self.index = expected
        elif expected == "outside":
            assert not (at_line and point.reason == "stepped"), f"stopped at {point.place}, after the end"
            self.index = None
        elif not at_line:
            self.index = None

    def _expect(self, point: PausePoint, command: str) -> None:
        self.expected = None
        if self.index is None or point.kind != "bprop" or command not in ("over", "into", "out"):
            self.index = None
            return
        stop = next_stop(self.events, self.index, command)
        self.expected = "outside" if stop is None else stop

    def _key(self, point: PausePoint) -> Key | Moment | None:
        """Return the key under which the model writes actions at this stop; None if it cannot write them."""
        if point.passing is not None:
            # A backward hook cannot tell which of several calls it belongs to.
            calls = len(self.source.calls.get(point.path, ()))
            if not calls or (calls > 1 and point.moment.startswith("backward")):
                return None
            # The model edits an output after its cell: the cell's gradients then differ from those after a hook's edit.
            behind = (point.path, "forward", self.life.step, 0) in self.done.at_moments
            if point.moment.startswith("backward") and behind:
                return None
            call: Any = self.session.evaluate("call")
            return point.path, point.moment, self.life.step, call
        if point.filename != self.filename or point.operator is not None or not point.line:
            return None
        line = self.source.lines[point.line - 1]
        turn: Any = point.locals.get("turn")
        loop: Any = point.locals.get("i") if line.looped else None
        return (point.line - 1, turn, loop) if line.editable and turn is not None else None

    def _note(self, key: Key | Moment, statement: str) -> None:
        if len(key) == 3:
            self.done.at_lines.setdefault(key, []).append(statement)
        else:
            self.done.at_moments.setdefault(key, []).append(statement)
        self.counts["noted"] += 1

    # Actions

    def _act(self, point: PausePoint) -> None:
        key = self._key(point)
        if key is None:
            self.session.evaluate("step" if point.passing is not None else "1 + 1")
            return
        does = self.rng.choice(("edit",) * 6 + ("refused", "parameter", "undo", "hook", "mode", "breakpoint"))
        if len(key) == 4 and key[1].startswith("backward") and does in ("parameter", "undo", "hook", "mode"):
            does = "edit"  # the other changes would need a hook in the model, and a hook regroups the additions
        self.counts[does] += 1
        if does == "edit":
            (self._edit_variable if len(key) == 3 else self._edit_passing)(point, key)
        elif does == "refused":
            self._refused(point)
        elif does == "breakpoint":
            self._breakpoint()
        else:
            change = {"parameter": self._parameter, "undo": self._undo, "hook": self._hook, "mode": self._mode}[does]()
            if change is not None:
                self._note(key, self.done.statement(change))

    def _set(self, key: Key | Moment, name: str, expression: str, statement: str) -> None:
        """Set a name in one of two ways; ``statement`` is the same in Python, with {} for the value."""
        if self.rng.random() < 0.7:
            value = self.session.edit(name, expression)
            self._note(key, statement.format(expression))
        else:
            value = self.session.evaluate(expression)
            self.session.assign(name, value)
            self._note(key, statement.format(f"const({expression})"))
        assert _bits(self.session.evaluate(name)) == _bits(value), f"{name} does not have the value that was set"

    def _edit_variable(self, point: PausePoint, key: Key) -> None:
        bound = [name for name, value in point.locals.items() if isinstance(value, Tensor)]
        name = self.rng.choice(self.source.lines[key[0]].names)
        try:
            self._set(key, name, value_of(self.rng, *bound), name + " = {}")
        except NameError:
            assert name == "common", f"{name} cannot be set"  # not every bprop has it
            self.counts["refused"] += 1

    def _edit_passing(self, point: PausePoint, key: Moment) -> None:
        rng = self.rng
        inputs, outputs, _ = self.source.cells[self.source.members[key[0]]]
        names = {"forward_pre": "inputs", "forward": "output", "backward_pre": "grad_output", "backward": "grad_input"}
        name, count = names[key[1]], inputs if key[1] in ("forward_pre", "backward") else outputs
        if key[1] == "forward" and outputs == 1:
            self._set(key, name, value_of(rng, "output", "inputs[0]"), name + " = {}")
            return
        slots = [f"{name}[{index}]" for index in range(count)]
        try:
            if rng.random() < 0.5:
                values = "(" + ", ".join(value_of(rng, *slots) for _ in slots) + ",)"
                self._set(key, name, values, name + " = {}")
            else:
                at = rng.randrange(count)
                statement = f"{name} = (*{name}[:{at}], {{}}, *{name}[{at + 1}:])"
                self._set(key, slots[at], value_of(rng, *slots), statement)
        except TypeError:
            # A missing gradient cannot be computed with.
            passes: Any = self.session.evaluate(name)
            assert any(item is None for item in passes)
            self.counts["refused"] += 1

    def _refused(self, point: PausePoint) -> None:
        before = dict(point.locals)
        for name, value in (("nothing", 1.0), ("x y", 1.0), ("", 1.0), ("turn[0]", 1.0), ("inputs[7]", 1.0)):
            with pytest.raises((NameError, IndexError, TypeError), match=r"\A.+\Z"):
                self.session.assign(name, value)
        assert point.locals == before

    def _breakpoint(self) -> None:
        if self.session.breakpoints and self.rng.random() < 0.5:
            self.session.remove_breakpoint(self.rng.choice(self.session.breakpoints))
        else:
            self.session.add_breakpoint(f"{self.rng.choice(list(self.source.calls))}:{self.rng.choice(MOMENTS)}")

    def _parameter(self) -> Callable[[Life], None] | None:
        names = [name for name, _ in self.life.net.parameters_and_names()]
        if not names:
            return None
        name, index, number = self.rng.choice(names), self.rng.randrange(3), self.rng.choice((0.25, -1.5))
        edits = self.session.parameter_edits
        edit = edits.preview(name, "set", index=f"[{index}]", number=number)
        edits.apply(edit)
        self.edits.append(edit)  # its id names it

        def change(life: Life) -> None:
            # Undo restores the very array: a gradient that is under way is with respect to that one.
            life.before[id(edit)] = life.parameter(name)._array
            array = life.parameter(name).asnumpy()
            array[index] = number
            life.parameter(name)._rebind(array)

        return change

    def _undo(self) -> Callable[[Life], None] | None:
        try:
            undone = self.session.parameter_edits.undo()
        except RuntimeError:
            return None
        return lambda life: life.parameter(undone.name)._rebind(life.before[id(undone)])

    def _hook(self) -> Callable[[Life], None]:
        kind, on, owner = self.rng.choice(MOMENTS), self.rng.random() < 0.6, id(self.session)
        if on:
            self.session.attach_hook("tail", kind, HOOKS[kind])
        else:
            self.session.detach_hook("tail", kind)
        return lambda life: life.hook(owner, kind, on)

    def _mode(self) -> Callable[[Life], None]:
        member, mode = self.rng.choice(list(self.source.members)), self.rng.random() < 0.5
        self.session.set_train(member, mode)
        return lambda life: void(getattr(life.net, member).set_train(mode))


def void(value: object) -> None:
    """Take the result of a call made for its effect."""


def _bits(value: Any) -> Any:
    return tuple(map(_bits, value)) if isinstance(value, tuple) else value.asnumpy().tobytes()


# Programs


def one_program(name: str, rng: random.Random) -> Counter[str]:
    """Train one or two networks, one after the other, each under a session; compare them with the model."""
    counts: Counter[str] = Counter()
    drivers: list[Driver] = []
    try:
        for life_number in range(rng.choice((1, 1, 2))):
            source, seed = Source(rng), rng.randrange(1 << 30)
            filename = f"/programs/{name}.{life_number}.py"
            life = Life(source.text(), source.functions, filename, seed)
            driver = Driver(source, life, filename, seed, rng)
            drivers.append(driver)
            for _ in range(rng.randint(1, 3)):
                driver.step()
            model = Model(source, driver.done, filename + ".model", seed)
            for _ in range(life.step):
                model.train()
            assert model.seen == life.seen, "the run differs from the model"
            driver.retire(stay_attached=rng.random() < 0.5)
            counts += driver.counts
            counts["steps"] += life.step
    finally:
        for driver in drivers:
            driver.retire(stay_attached=False)
    counts["programs"] += 1
    return counts


def run(programs: int, seed: int, first: int = 0) -> Counter[str]:
    """Run programs; return how often each action was taken.

    Raises:
        AssertionError: a program differs from the model; the message names it.
    """
    counts: Counter[str] = Counter()
    for number in range(first, first + programs):
        try:
            counts += one_program(f"{seed}.{number}", random.Random(f"{seed} {number}"))
        except Exception as error:
            raise AssertionError(f"program {number} of seed {seed}: {type(error).__name__}: {error}") from error
        for key in [key for key in linecache.cache if key.startswith("/programs/")]:
            del linecache.cache[key]
    return counts


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="begin with this one, to see a failure again")
    options = parser.parse_args()
    print(dict(run(options.programs, options.seed, options.first)))


if __name__ == "__main__":
    main()
