"""Map from tests to the lines that they run, their durations, and the lines that run at import."""

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
    """The files that are changed, and their tests."""

    root: Path
    source: str  # the folder of the package, relative to the root
    package: str  # the package's import name
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()  # excluded folders and files of source and tests

    def _python(self, folder: str) -> list[Path]:
        paths = sorted((self.root / folder).rglob("*.py"))
        return [
            path for path in paths if not any(path.is_relative_to(self.root / excluded) for excluded in self.without)
        ]

    def sources(self) -> list[str]:
        """Return the files that can be changed, relative to the root."""
        return [path.relative_to(self.root).as_posix() for path in self._python(self.source)]

    def module(self, path: str) -> str:
        """Return a file's import name."""
        parts = Path(path).relative_to(self.source).with_suffix("").parts
        return ".".join([self.package, *parts]).removesuffix(".__init__")

    def options(self) -> list[str]:
        """Return pytest's options to collect all tests, reproducibly and without writing into the tree."""
        names = [
            *self.tests,
            *(f"--ignore={excluded}" for excluded in self.without if not excluded.startswith(f"{self.source}/")),
        ]
        return [*names, f"--rootdir={self.root}", "-q", "-s", *PLUGINS]

    def fingerprint(self) -> str:
        """Return a digest of all files that a map depends on."""
        files = [self.root / path for path in self.sources()]
        files += [path for folder in self.tests for path in self._python(folder)]
        digest = hashlib.sha256(repr((self.tests, self.without)).encode())
        for path in files:
            digest.update(f"{path}:{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
        return digest.hexdigest()


# With rewritten asserts, pytest would itself import the engine as a plugin's package, without the change. Plugins that
# no test of the engine needs are excluded, since each trial in a new process would import them.
WITHOUT = ("cacheprovider", "hookscope", "nbval", "xdist")
PLUGINS = (*(f"-pno:{name}" for name in WITHOUT), "--assert=plain", "--hypothesis-seed=0")


@dataclass
class Map:
    """The recorded map. A set of tests is an integer's bits: bit n is test n."""

    tests: list[str]
    seconds: list[float]
    lines: dict[str, dict[int, int]]  # file -> line -> the tests that run it
    at_import: dict[str, set[int]]
    broken: set[str] = field(default_factory=set)  # tests that fail without a mutant

    def running(self, path: str, lines: frozenset[int] | None = None) -> int:
        """Return the tests that run one of the lines, or any line, of a file."""
        bits = 0
        for line, tests in self.lines.get(path, {}).items():
            if lines is None or line in lines:
                bits |= tests
        return bits

    def named_after(self, path: str) -> int:
        """Return the tests in files named after the source file: `test_pooling.py`, `test_pooling_modes.py`."""
        stem = Path(path).parent.name if path.endswith("/__init__.py") else Path(path).stem
        prefix = f"test_{stem.strip('_')}"
        bits = 0
        for index, test in enumerate(self.tests):
            name = Path(test.partition("::")[0]).stem
            if name == prefix or name.startswith(f"{prefix}_"):
                bits |= 1 << index
        return bits

    def in_order(self, *groups: int, budget: float = math.inf, in_turns: bool = True) -> list[str]:
        """Return the tests of each group in turn: one case of each test function, then the next cases.

        In each turn the fast tests come first, so that early tests are both fast and diverse; without `in_turns`, the
        fastest of all come first, so that as many as possible are included. Tests beyond `budget` seconds in total, by
        their recorded durations, are omitted; the first test never is.
        """
        ordered: dict[int, None] = {}
        for group in groups:
            cases: dict[str, list[int]] = defaultdict(list)
            for index in _members(group):
                cases[self.tests[index].partition("[")[0]].append(index)
            turns: list[tuple[int, float, int]] = []
            for members in cases.values():
                members.sort(key=lambda index: (self.seconds[index], index))
                turns.extend((turn * in_turns, self.seconds[index], index) for turn, index in enumerate(members))
            ordered |= dict.fromkeys(index for _, _, index in sorted(turns))
        remaining = budget
        chosen: list[str] = []
        for index in ordered:
            if self.tests[index] not in self.broken and (remaining >= self.seconds[index] or not chosen):
                remaining -= self.seconds[index]
                chosen.append(self.tests[index])
        return chosen

    def save(self, path: Path, fingerprint: str) -> None:
        masks = {
            tests: number
            for number, tests in enumerate(
                {bits for lines_of_file in self.lines.values() for bits in lines_of_file.values()}
            )
        }
        data = {
            "fingerprint": fingerprint,
            "tests": list(zip(self.tests, self.seconds, strict=True)),
            "masks": [f"{bits:x}" for bits in masks],
            "lines": {
                file: {line: masks[bits] for line, bits in lines_of_file.items()}
                for file, lines_of_file in self.lines.items()
            },
            "at_import": {file: sorted(lines) for file, lines in self.at_import.items()},
            "broken": sorted(self.broken),
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data), encoding="utf-8")

    @classmethod
    def load(cls, path: Path, fingerprint: str) -> Map | None:
        """Return the saved map; None if there is none of the current files."""
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
    """Yield the indices of the bits that are set."""
    for index, bit in enumerate(reversed(f"{bits:b}")):
        if bit == "1":
            yield index


class _Recorder:
    """pytest plugin that reports the running test to coverage."""

    def __init__(self, project: Project, coverage: Any) -> None:
        self.project = project
        self.coverage = coverage
        self.seconds: dict[str, float] = {}
        self.broken: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Import all sources before the tests, so that no test runs code of imports."""
        for path in self.project.sources():
            with suppress(ImportError):  # a module for a library that this machine lacks
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
    """Run every test once, in this process, and return the map."""
    import coverage  # of the extra `dev`

    tracer = coverage.Coverage(data_file=None, include=[f"{project.root / project.source}/*"], config_file=False)
    tracer.set_option("run:core", "ctrace")  # the tracer that supports contexts
    recorder = _Recorder(project, tracer)
    tracer.start()
    pytest.main(project.options(), plugins=[recorder])
    tracer.stop()
    data = tracer.get_data()
    lines: dict[str, dict[int, int]] = {}
    at_import: dict[str, set[int]] = {}
    for path in project.sources():
        file_lines = lines[path] = {}
        for line, contexts in data.contexts_by_lineno(str((project.root / path).resolve())).items():
            if IMPORT in contexts:
                at_import.setdefault(path, set()).add(line)
            bits = bytearray(len(recorder.seconds) // 8 + 1)
            for context in contexts:
                if context not in (IMPORT, ELSEWHERE):
                    bits[int(context) >> 3] |= 1 << (int(context) & 7)
            if any(bits):
                file_lines[line] = int.from_bytes(bits, "little")
    return Map(list(recorder.seconds), list(recorder.seconds.values()), lines, at_import, recorder.broken)
