"""Which test runs which lines, how long each takes, and which lines run at import: what mutants are tested with."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

IMPORT, ELSEWHERE = "", "elsewhere"


@dataclass(frozen=True)
class Project:
    """What is changed, and what tests it."""

    root: Path
    source: str  # the folder of the package, from the root
    package: str  # the name by which it is imported
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()  # folders and files, of source and tests, that are left out

    def _python(self, folder: str) -> list[Path]:
        found = sorted((self.root / folder).rglob("*.py"))
        return [path for path in found if not any(path.is_relative_to(self.root / one) for one in self.without)]

    def sources(self) -> list[str]:
        """The files that can be changed, from the root."""
        return [path.relative_to(self.root).as_posix() for path in self._python(self.source)]

    def module(self, path: str) -> str:
        """The name by which a file is imported."""
        parts = Path(path).relative_to(self.source).with_suffix("").parts
        return ".".join([self.package, *parts]).removesuffix(".__init__")

    def options(self) -> list[str]:
        """How pytest is called to collect all tests: reproducible, and leaving nothing in the tree."""
        names = [*self.tests, *(f"--ignore={one}" for one in self.without if not one.startswith(f"{self.source}/"))]
        return [*names, f"--rootdir={self.root}", "-q", "-s", *PLUGINS]

    def fingerprint(self) -> str:
        """Changes with any file that a map depends on."""
        files = [self.root / path for path in self.sources()]
        files += [path for folder in self.tests for path in self._python(folder)]
        found = hashlib.sha256(repr((self.tests, self.without)).encode())
        for path in files:
            found.update(f"{path}:{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
        return found.hexdigest()


# Rewriting asserts, pytest would import the engine by itself, as a plugin's package, and without the change.
# Plugins that no test of the engine needs are left out: each trial in a new process would import them.
WITHOUT = ("cacheprovider", "hookscope", "nbval", "xdist")
PLUGINS = (*(f"-pno:{name}" for name in WITHOUT), "--assert=plain", "--hypothesis-seed=0")


@dataclass
class Map:
    """What was recorded. A set of tests is the bits of a number: bit n is test n."""

    tests: list[str]
    seconds: list[float]
    lines: dict[str, dict[int, int]]  # file -> line -> the tests that run it
    at_import: dict[str, set[int]]
    broken: set[str] = field(default_factory=set)  # tests that fail without a mutant

    def running(self, path: str, lines: frozenset[int] | None = None) -> int:
        """The tests that run one of the lines, or any line, of a file."""
        bits = 0
        for line, tests in self.lines.get(path, {}).items():
            if lines is None or line in lines:
                bits |= tests
        return bits

    def named_after(self, path: str) -> int:
        """The tests in files whose name is the source file's: `test_pooling.py`, `test_pooling_modes.py`."""
        stem = Path(path).parent.name if path.endswith("/__init__.py") else Path(path).stem
        wanted = f"test_{stem.strip('_')}"
        bits = 0
        for index, test in enumerate(self.tests):
            name = Path(test.partition("::")[0]).stem
            if name == wanted or name.startswith(f"{wanted}_"):
                bits |= 1 << index
        return bits

    def in_order(self, *groups: int, budget: float = math.inf, in_turns: bool = True) -> list[str]:
        """The tests of each group, those of an earlier group first: one case of each test function, then the next.

        In each turn the fast ones lead, so what comes early is both fast and diverse; not `in_turns`, the fast ones of
        all, so that as many as possible are among them. What took more than `budget`
        seconds altogether when it was recorded is left out, at the end; the first test is not.
        """
        found: dict[int, None] = {}
        for group in groups:
            cases: dict[str, list[int]] = defaultdict(list)
            for index in _members(group):
                cases[self.tests[index].partition("[")[0]].append(index)
            turns: list[tuple[int, float, int]] = []
            for members in cases.values():
                members.sort(key=lambda index: (self.seconds[index], index))
                turns.extend((turn * in_turns, self.seconds[index], index) for turn, index in enumerate(members))
            found |= dict.fromkeys(index for _, _, index in sorted(turns))
        left = budget
        chosen: list[str] = []
        for index in found:
            if self.tests[index] not in self.broken and (left >= self.seconds[index] or not chosen):
                left -= self.seconds[index]
                chosen.append(self.tests[index])
        return chosen

    def save(self, path: Path, fingerprint: str) -> None:
        masks = {
            tests: number for number, tests in enumerate({bits for of in self.lines.values() for bits in of.values()})
        }
        data = {
            "fingerprint": fingerprint,
            "tests": list(zip(self.tests, self.seconds, strict=True)),
            "masks": [f"{bits:x}" for bits in masks],
            "lines": {file: {line: masks[bits] for line, bits in of.items()} for file, of in self.lines.items()},
            "at_import": {file: sorted(lines) for file, lines in self.at_import.items()},
            "broken": sorted(self.broken),
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data), encoding="utf-8")

    @classmethod
    def load(cls, path: Path, fingerprint: str) -> Map | None:
        """The saved map; None where there is none of these files as they are now."""
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if data.get("fingerprint") != fingerprint:
            return None
        masks = [int(bits, 16) for bits in data["masks"]]
        return cls(
            [test for test, _ in data["tests"]],
            [seconds for _, seconds in data["tests"]],
            {file: {int(line): masks[mask] for line, mask in of.items()} for file, of in data["lines"].items()},
            {file: set(lines) for file, lines in data["at_import"].items()},
            set(data["broken"]),
        )


def _members(bits: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    for index, bit in enumerate(reversed(f"{bits:b}")):
        if bit == "1":
            yield index


class _Recorder:
    """The pytest plugin that tells coverage which test runs."""

    def __init__(self, project: Project, coverage: Any) -> None:
        self.project = project
        self.coverage = coverage
        self.seconds: dict[str, float] = {}
        self.broken: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """What tests import later is imported now, so that no test runs what runs at import."""
        for path in self.project.sources():
            with suppress(ImportError):  # a module for what this machine has not
                importlib.import_module(self.project.module(path))
        self.coverage.switch_context(ELSEWHERE)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.coverage.switch_context(str(len(self.seconds)))
        self.seconds[item.nodeid] = 0.0
        result = yield
        self.coverage.switch_context(ELSEWHERE)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed or report.skipped:
            self.broken.add(report.nodeid)


def record(project: Project) -> Map:
    """Run every test once, in this process."""
    import coverage  # of the extra `dev`

    tracer = coverage.Coverage(data_file=None, include=[f"{project.root / project.source}/*"], config_file=False)
    tracer.set_option("run:core", "ctrace")  # the one that knows contexts
    recorder = _Recorder(project, tracer)
    tracer.start()
    pytest.main(project.options(), plugins=[recorder])
    tracer.stop()
    data = tracer.get_data()
    lines: dict[str, dict[int, int]] = {}
    at_import: dict[str, set[int]] = {}
    for path in project.sources():
        found = lines[path] = {}
        for line, contexts in data.contexts_by_lineno(str((project.root / path).resolve())).items():
            if IMPORT in contexts:
                at_import.setdefault(path, set()).add(line)
            bits = bytearray(len(recorder.seconds) // 8 + 1)
            for context in contexts:
                if context not in (IMPORT, ELSEWHERE):
                    bits[int(context) >> 3] |= 1 << (int(context) & 7)
            if any(bits):
                found[line] = int.from_bytes(bits, "little")
    return Map(list(recorder.seconds), list(recorder.seconds.values()), lines, at_import, recorder.broken)
