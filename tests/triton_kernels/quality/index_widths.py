"""A proof, from a kernel's IR, that no place in memory is worked out in an integer that overflows.

Every 32-bit integer on the way to an address or to a mask is given the interval it can be in: the numbers that the plan
passes are known, as is the number of programs; ranges, remainders and minima have exact intervals. A value that leaves
32 bits in any of these steps is reported, and so is one without an interval, such as an index that a loop carries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Interval = tuple[int, int]
WIDTHS = {bits: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)}

_NAME = r"%[\w.$-]+(?:#\d+)?"
_VALUE = re.compile(rf"^\s*({_NAME})(?::\d+)? = (?:\"?)([\w.]+)(?:\"?) ?(.*)$")
_FOR = re.compile(rf"scf\.for ({_NAME}) = ({_NAME}) to ({_NAME}) step ({_NAME})")
_SAME = {"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans", "arith.extsi", "arith.index_cast"}
# Those which are asked for what they give, and whose results are compared to nothing.
_ARITHMETIC = {"arith.addi", "arith.subi", "arith.muli", "arith.trunci"}


@dataclass
class Widths:
    """The reader of one kernel's IR.

    Args:
        text: Triton's IR, before layouts.
        numbers: its integer parameters, by name.
        programs: how many are started.

    Attributes:
        faults: lines whose result may leave its integer, and values of which nothing is known.
        asked: how many places and masks were looked at.
    """

    text: str
    numbers: Mapping[str, int]
    programs: int
    faults: list[str] = field(default_factory=list)
    asked: int = 0
    _lines: dict[str, tuple[str, str]] = field(default_factory=dict)
    _known: dict[str, Interval | None] = field(default_factory=dict)
    _joined: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        roots = self._read()
        for name in roots:
            self.asked += 1
            self.of(name)

    def _read(self) -> list[str]:
        """Read the meaning of each name; return the indices and masks of all reads and writes."""
        roots: list[str] = []
        open_blocks: list[tuple[str, list[str]]] = []  # what yields, and whom it yields to
        for raw in self.text.splitlines():
            line = re.sub(r"\s+loc\(.*$", "", raw)
            if loop := _FOR.search(line):
                self._lines[loop[1]] = ("iv", f"{loop[2]}, {loop[3]}")
                carried = re.findall(rf"({_NAME}) = ({_NAME})", line.partition("iter_args(")[2])
                for name, first in carried:
                    self._joined[name] = [first]
                head = re.match(rf"\s*({_NAME})(?::\d+)? = ", line)
                for at, (name, _) in enumerate(carried):
                    if head:
                        self._joined[head[1] if len(carried) == 1 else f"{head[1]}#{at}"] = self._joined[name]
                open_blocks.append((line, [name for name, _ in carried]))
            elif line.rstrip().endswith("{"):
                head = re.match(rf"\s*({_NAME})(?::(\d+))? = scf\.if", line)
                if head:
                    count = int(head[2] or 1)
                    names = [head[1] if count == 1 else f"{head[1]}#{at}" for at in range(count)]
                    for name in names:
                        self._joined[name] = []
                    open_blocks.append((line, names))
                elif "} else {" not in line:
                    open_blocks.append((line, []))
            elif re.match(r"\s*\}", line):
                if open_blocks and "else" not in line:
                    open_blocks.pop()
            elif re.match(r"\s*scf\.yield ", line) and open_blocks:
                argument = re.findall(_NAME, line)
                for name, value in zip(open_blocks[-1][1], argument, strict=False):
                    self._joined[name].append(value)
            elif value := _VALUE.match(line):
                self._lines[value[1]] = (value[2], value[3])
                if value[2] == "tt.addptr":
                    roots.append(re.findall(_NAME, value[3])[1])
                elif value[2] == "tt.load":
                    roots += re.findall(_NAME, value[3])[1:2]
            elif store := re.match(r"\s*tt\.store (.*)$", line):
                roots += re.findall(_NAME, store[1])[2:3]
        return roots

    def of(self, name: str) -> Interval | None:
        """Return the interval of a value; None for a truth, a float or what has none."""
        if name not in self._known:
            self._known[name] = None  # the answer for values that depend on themselves
            self._known[name] = self._of(name)
        return self._known[name]

    def _of(self, name: str) -> Interval | None:
        if name in self._joined:
            result = [self.of(item) for item in self._joined[name]]
            if not result or any(item is None for item in result):
                return None
            return min(item[0] for item in result if item), max(item[1] for item in result if item)
        if name not in self._lines:
            number = self.numbers.get(name[1:])
            return None if number is None else (number, number)
        operation, rest = self._lines[name]
        operands = re.findall(_NAME, rest.partition(" : ")[0])
        if operation == "iv":
            first, last = self.of(operands[0]), self.of(operands[1])
            return (first[0], max(first[0], last[1] - 1)) if first and last else None
        if operation == "arith.constant":
            number = re.match(r"(?:dense<)?(-?\d+)>? :.*i\d+>?$", rest)
            return (int(number[1]), int(number[1])) if number else None
        if operation == "tt.make_range":
            last, first = re.search(r"end = (\d+)", rest), re.search(r"start = (\d+)", rest)
            return (int(first[1]), int(last[1]) - 1) if first and last else None
        if operation == "tt.get_program_id":
            return 0, self.programs - 1
        if operation in _SAME:
            return self.of(operands[0])
        if operation in ("tt.load", "tt.reduce"):
            bits = _bits(rest)
            return WIDTHS.get(bits) if bits else None
        inputs = [self.of(operand) for operand in operands]
        if operation in ("arith.cmpi", "arith.andi", "arith.ori", "arith.xori") and _bits(rest) in (None, 1):
            return None
        if operation == "arith.cmpi":
            return None
        if operation == "arith.select":
            inputs = inputs[1:]
        intervals = [item for item in inputs if item is not None]
        if not intervals or len(intervals) != len(inputs):
            if operation in _ARITHMETIC and _bits(rest) == 32:
                self.faults.append(f"nothing is known of an operand: {name} = {operation} {rest}")
            return None
        result = _apply(operation, intervals)
        bits = _bits(rest)
        if (
            result is not None
            and bits in WIDTHS
            and not (WIDTHS[bits][0] <= result[0] and result[1] <= WIDTHS[bits][1])
        ):
            self.faults.append(f"from {result[0]} to {result[1]}: {name} = {operation} {rest}")
            return WIDTHS[bits]
        return result


def _bits(rest: str) -> int | None:
    """Return the width of an operation's result."""
    matches = re.findall(r"(?<![\w])(?:tensor<(?:\d+x)*)?i(\d+)>?", rest.rpartition(" : ")[2])
    return int(matches[-1]) if matches else None


def _corners(function: Callable[[int, int], int], a: Interval, b: Interval) -> Interval:
    results = [function(x, y) for x in a for y in b]
    return min(results), max(results)


def _apply(operation: str, inputs: list[Interval]) -> Interval | None:
    a = inputs[0]
    b = inputs[-1]
    match operation:
        case "arith.addi":
            return a[0] + b[0], a[1] + b[1]
        case "arith.subi":
            return a[0] - b[1], a[1] - b[0]
        case "arith.muli":
            return _corners(lambda x, y: x * y, a, b)
        case "arith.minsi":
            return min(a[0], b[0]), min(a[1], b[1])
        case "arith.maxsi":
            return max(a[0], b[0]), max(a[1], b[1])
        case "arith.select":
            return min(a[0], b[0]), max(a[1], b[1])
        case "arith.divsi" | "arith.divui":
            if b[0] > 0:
                return _corners(lambda x, y: x // y if x >= 0 else -(-x // y), a, b)
            return min(a[0], -abs(a[1])), max(abs(a[0]), abs(a[1]))
        case "arith.remsi" | "arith.remui":
            most = max(abs(b[0]), abs(b[1])) - 1
            return (0 if a[0] >= 0 else -most), min(most, max(a[1], 0)) if a[0] >= 0 else most
        case "arith.shli":
            return _corners(lambda x, y: x << y, a, b) if b[0] >= 0 and b[1] < 64 else None
        case "arith.shrsi" | "arith.shrui":
            return _corners(lambda x, y: x >> y, a, b) if b[0] >= 0 and a[0] >= 0 else None
        case "arith.trunci" | "arith.extui":
            return a
        case "arith.andi":
            return (0, min(a[1], b[1])) if a[0] >= 0 and b[0] >= 0 else None
        case _:
            return None
