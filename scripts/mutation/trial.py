"""Trials of mutants in separate processes, forked from a prepared one: the tree is never changed.

Most mutants are tried *warm*: all modules and tests are loaded, and the fork replaces the code of the function. Changes
to code that runs at import are tried *cold*: the fork imports the engine, with the change in one module.
"""

from __future__ import annotations

import ast
import builtins
import gc
import importlib.abc
import importlib.machinery
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from .changes import Change
from .record import PLUGINS, Map, Project
from .returns import FALSIFIED, Falsifier

Find = Callable[[ast.Module], list[Change]]
GIGABYTES = 8  # of address space, since a mutant may allocate any size


@dataclass(frozen=True)
class Mutant:
    """A numbered change of a file, so that any process can parse the file and change the tree again."""

    path: str
    number: int
    find: Find

    def tree(self, root: Path) -> tuple[ast.Module, Change]:
        tree = ast.parse((root / self.path).read_bytes())
        return tree, self.find(tree)[self.number]

    def texts(self, root: Path) -> tuple[str, str]:
        """Return the changed expression, before and after."""
        _, change = self.tree(root)
        before = ast.unparse(change.node)
        return before, ast.unparse(change.apply())

    def code(self, root: Path, filename: str) -> CodeType:
        tree, change = self.tree(root)
        change.apply()
        return compile(ast.fix_missing_locations(tree), filename, "exec", dont_inherit=True)


@dataclass
class Job:
    """A mutant with the tests that may detect it, in order."""

    mutant: Mutant
    tests: list[str]
    cold: bool
    name: str = ""  # the name in progress messages
    falsifies: bool = False  # whether `__falsified__` counts actual changes


@dataclass
class Verdict:
    """The result of a mutant's trial."""

    outcome: str  # "failed", "no import", "died", "survived", "nothing to change", "not run"
    by: str = ""  # the test that failed
    ran: list[str] = field(default_factory=list)


# --- forks -------------------------------------------------------------------------------------------------------


def forked(
    jobs: Iterable[Any], child: Callable[[Any], dict[str, Any]], workers: int, limit: float
) -> Iterator[tuple[Any, dict[str, Any] | None]]:
    """Call `child` with each job in a fork; yield its result, None if the process died or was killed."""
    pending = iter(jobs)
    running: dict[int, tuple[Any, Path, float]] = {}
    has_more = True
    try:
        while has_more or running:
            while has_more and len(running) < workers:
                job = next(pending, forked)
                if job is forked:
                    has_more = False
                    break
                folder = Path(tempfile.mkdtemp(prefix="mutant-"))
                pid = os.fork()
                if pid == 0:
                    _in_fork(job, child, folder)
                running[pid] = job, folder, time.monotonic() + limit
            for pid, (job, folder, deadline) in list(running.items()):
                if time.monotonic() > deadline:
                    _kill(pid)
                if os.waitpid(pid, os.WNOHANG)[0]:
                    del running[pid]
                    _kill(pid)  # its children
                    path = folder / "result.json"
                    result = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
                    yield job, result
                    shutil.rmtree(folder, ignore_errors=True)
            time.sleep(0.005)
    finally:
        for pid in running:
            _kill(pid)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _in_fork(job: Any, child: Callable[[Any], dict[str, Any]], folder: Path) -> None:
    """Run a job in a fork, write its result, and exit the process."""
    try:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        os.environ.update(TMPDIR=str(folder), PYTEST_DEBUG_TEMPROOT=str(folder))
        tempfile.tempdir = None
        resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
        try:
            result = json.dumps(child(job))
        except Exception:  # not the mutant's, which pytest would have caught
            result = json.dumps({"error": traceback.format_exc()})
        (folder / "part").write_text(result, encoding="utf-8")
        (folder / "part").rename(folder / "result.json")
    finally:
        os._exit(0)


# --- applying changes --------------------------------------------------------------------------------------------


class _ChangedModule(importlib.abc.MetaPathFinder):
    """Finder that imports one changed file, under any name."""

    def __init__(self, mutant: Mutant, root: Path) -> None:
        self.mutant, self.root = mutant, root
        self.file = (root / mutant.path).resolve()
        self.used = False

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None or Path(spec.origin).resolve() != self.file:
            return None
        self.used = True
        spec.loader = _ChangedLoader(name, spec.origin, self.mutant.code(self.root, spec.origin))
        return spec


class _ChangedLoader(SourceFileLoader):
    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self.code = code

    def get_code(self, fullname: str) -> CodeType:
        return self.code


class Functions:
    """Every live function of the engine, by its code."""

    def __init__(self, project: Project) -> None:
        self.root = project.root
        self.files = {(project.root / path).resolve(): path for path in project.sources()}
        self.unchanged: dict[str, CodeType] = {}
        self.by_code: dict[tuple[str, CodeType], list[FunctionType]] = {}
        self.names: dict[str, str] = {}  # file -> the name under which it is compiled
        paths: dict[str, str | None] = {}
        for function in gc.get_objects():
            if isinstance(function, FunctionType):
                filename = function.__code__.co_filename
                if filename not in paths:
                    paths[filename] = self.files.get(Path(filename).resolve()) if filename.endswith(".py") else None
                path = paths[filename]
                if path is not None:
                    self.names[path] = filename
                    self.by_code.setdefault((path, function.__code__), []).append(function)

    def patches(self, mutant: Mutant) -> list[tuple[FunctionType, CodeType]] | None:
        """Return the functions to patch with their new code; None if the change is in no live function."""
        filename = self.names.get(mutant.path)
        if filename is None:
            return None
        if mutant.path not in self.unchanged:
            tree = ast.parse((self.root / mutant.path).read_bytes())
            self.unchanged[mutant.path] = compile(tree, filename, "exec", dont_inherit=True)
        pairs = []
        for old, new in _changed_code(self.unchanged[mutant.path], mutant.code(self.root, filename)):
            for function in self.by_code.get((mutant.path, old), ()):
                if old.co_freevars != new.co_freevars:
                    return None
                pairs.append((function, new))
        return pairs or None


def _changed_code(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield pairs of differing code objects, outer before inner."""
    if before == after:
        return
    yield before, after
    old, new = ([constant for constant in code.co_consts if isinstance(constant, CodeType)] for code in (before, after))
    if [constant.co_name for constant in old] == [constant.co_name for constant in new]:
        for pair in zip(old, new, strict=True):
            yield from _changed_code(*pair)


# --- running tests -----------------------------------------------------------------------------------------------


class _Trial:
    """pytest plugin that runs some of the collected tests, in order, until one fails."""

    def __init__(self, tests: list[str], seconds: dict[str, float], falsifier: Falsifier | None = None) -> None:
        self.tests, self.seconds, self.falsifier = tests, seconds, falsifier
        self.failed: list[str] = []
        self.ran: list[str] = []
        self.started = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.run(session, {item.nodeid: item for item in session.items})
        return True

    def run(self, session: pytest.Session, items: dict[str, pytest.Item], to_the_end: bool = False) -> None:
        os.chdir(tempfile.gettempdir())
        chosen = [items[test] for test in self.tests if test in items]
        self.started = not session.testsfailed  # a test module that cannot be imported has failed
        for item, following in pairwise([*chosen, None]):
            if not self.started or item is None:
                break
            limit = 10 + 20 * self.seconds[item.nodeid]  # the machine may be busy
            item.add_marker(pytest.mark.timeout(limit), append=False)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            self.ran.append(item.nodeid)
            if self.failed and not to_the_end:
                break
            if self.falsifier is not None and not self.falsifier.changed and len(self.ran) == ENOUGH:
                break

    def result(self) -> dict[str, Any]:
        if not self.started:
            return {"outcome": "no import"}
        if self.failed:
            return {"outcome": "failed", "by": self.failed[0], "ran": self.ran}
        if self.falsifier is not None and not self.falsifier.changed:
            return {"outcome": "nothing to change", "ran": self.ran}
        return {"outcome": "survived", "ran": self.ran}


UNNOTICED = ("survived", "nothing to change", "not run")
FILES_FIRST = 4
ENOUGH = 200  # after this many tests without a change, a function is assumed to return nothing that can be falsified


@dataclass
class Trials:
    """Trials of mutants."""

    project: Project
    map: Map
    workers: int = 1
    limit: float = 600.0  # seconds until a process that ignores signals is killed
    say: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True)

    def __post_init__(self) -> None:
        self._seconds = dict(zip(self.map.tests, self.map.seconds, strict=True))

    def _trial(self, job: Job) -> _Trial:
        falsifier = Falsifier()
        setattr(builtins, FALSIFIED, falsifier)
        return _Trial(job.tests, self._seconds, falsifier if job.falsifies else None)

    def run(self, jobs: list[Job]) -> dict[Mutant, Verdict]:
        """Try all mutants."""
        verdicts = {job.mutant: Verdict("not run") for job in jobs if not job.tests}
        runnable = [job for job in jobs if job.tests]
        finished = 0
        for cold in (False, True):
            batch = [job for job in runnable if job.cold is cold]
            for job, result in (self._cold if cold else self._warm)(batch) if batch else ():
                if result is not None and "error" in result:
                    sys.exit(f"{job.name}: the mutation tester itself failed:\n{result['error']}")
                if result == {"outcome": "must be cold"}:
                    job.cold = True
                    continue
                verdicts[job.mutant] = Verdict(**(result or {"outcome": "died"}))
                finished += 1
                if verdicts[job.mutant].outcome in ("survived", "not run"):
                    self.say(f"{finished} of {len(runnable)}; {verdicts[job.mutant].outcome}: {job.name}")
                elif finished % 20 == 0:
                    self.say(f"{finished} of {len(runnable)}")
        return verdicts

    def _cold(self, jobs: list[Job]) -> Iterator[tuple[Job, dict[str, Any] | None]]:
        """Try mutants in two turns: most are detected in the first few test files, and collecting a file takes time."""
        import numpy  # noqa: F401  (loaded once for all forks)

        first = [replace(job, tests=_in_files(job.tests, FILES_FIRST)) for job in jobs]
        jobs_by_mutant = {job.mutant: job for job in jobs}
        first_results: dict[Mutant, dict[str, Any]] = {}
        remaining = []
        for job, result in self._collected_anew(first):
            tried = set(job.tests)
            further_tests = [test for test in jobs_by_mutant[job.mutant].tests if test not in tried]
            if further_tests and result is not None and result.get("outcome") in UNNOTICED:
                first_results[job.mutant] = result
                remaining.append(replace(job, tests=further_tests))
            else:
                yield jobs_by_mutant[job.mutant], result
        for job, result in self._collected_anew(remaining):
            if result is not None and "error" not in result:
                first_result = first_results[job.mutant]
                result["ran"] = [*first_result.get("ran", []), *result.get("ran", [])]
                if result["outcome"] in UNNOTICED:  # the combined result of both turns
                    result["outcome"] = min(first_result["outcome"], result["outcome"], key=UNNOTICED.index)
            yield jobs_by_mutant[job.mutant], result

    def _collected_anew(self, jobs: list[Job]) -> Iterator[tuple[Job, dict[str, Any] | None]]:
        def child(job: Job) -> dict[str, Any]:
            _own_compiled_code(self.project.root / job.mutant.path)
            changed = _ChangedModule(job.mutant, self.project.root)
            sys.meta_path.insert(0, changed)
            trial = self._trial(job)
            files = dict.fromkeys(test.partition("::")[0] for test in job.tests)
            with suppress(
                Exception
            ):  # a plugin of pytest may be the first to import the engine, which then fails before the tests start
                pytest.main([*files, f"--rootdir={self.project.root}", "-q", "-s", *PLUGINS], plugins=[trial])
            return trial.result() if changed.used else {"outcome": "not run"}

        return forked(jobs, child, self.workers, self.limit)

    def _warm(self, jobs: list[Job]) -> Iterator[tuple[Job, dict[str, Any] | None]]:
        return _from_server(self.project, lambda session: self._forks(session, jobs), jobs)

    def _forks(self, session: pytest.Session, jobs: list[Job]) -> Iterator[tuple[int, dict[str, Any] | None]]:
        functions = Functions(self.project)
        patches: dict[int, list[tuple[FunctionType, CodeType]]] = {}
        for number, job in enumerate(jobs):
            pairs = functions.patches(job.mutant)
            if pairs is None:
                yield number, {"outcome": "must be cold"}
            else:
                patches[number] = pairs
        items = {item.nodeid: item for item in session.items}  # built here, since a fork copies memory that it writes
        gc.collect()
        gc.freeze()

        def child(number: int) -> dict[str, Any]:
            job = jobs[number]
            _own_compiled_code(self.project.root / job.mutant.path)
            for function, code in patches[number]:
                function.__code__ = code
            trial = self._trial(job)
            session.config.pluginmanager.register(trial)
            trial.run(session, items)
            return trial.result()

        yield from forked(patches, child, self.workers, self.limit)

    def control(self) -> set[str]:
        """Return the tests that fail without a mutant, in the same order and environment."""

        def child(session: pytest.Session) -> dict[str, Any]:
            all_tests = self.map.in_order((1 << len(self.map.tests)) - 1)
            trial = _Trial(all_tests, dict(zip(self.map.tests, self.map.seconds, strict=True)))
            session.config.pluginmanager.register(trial)
            trial.run(session, {item.nodeid: item for item in session.items}, to_the_end=True)
            return {"failed": trial.failed, "ran": len(trial.ran)}

        def only(session: pytest.Session) -> Iterator[tuple[int, dict[str, Any] | None]]:
            for _, result in forked([session], child, 1, 3600):
                yield 0, result

        ((_, result),) = _from_server(self.project, only, [None])
        if result is None or not result["ran"]:
            sys.exit("The tests cannot be run without a mutant; see the log beside the map.")
        return set(result["failed"])


class _Server:
    """pytest plugin that passes the collected tests to a function instead of running them."""

    def __init__(self, serve: Callable[[pytest.Session], None], project: Project) -> None:
        self.serve, self.project = serve, project

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        for path in self.project.sources():
            with suppress(ImportError):
                importlib.import_module(self.project.module(path))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.serve(session)
        return True


def _from_server(
    project: Project, serve: Callable[[pytest.Session], Iterator[tuple[int, Any]]], jobs: list[Any]
) -> Iterator[tuple[Any, Any]]:
    """Fork, collect all tests in the child, and yield the results of `serve` there, with the job for each number."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)

        def answer(session: pytest.Session) -> None:
            with os.fdopen(write_end, "w", encoding="utf-8") as file:
                for number, result in serve(session):
                    file.write(json.dumps([number, result]) + "\n")
                    file.flush()

        try:
            _log(project)
            pytest.main(project.options(), plugins=[_Server(answer, project)])
        finally:
            os._exit(0)
    os.close(write_end)
    pending = len(jobs)
    with os.fdopen(read_end, encoding="utf-8") as file:
        for line in file:
            number, result = json.loads(line)
            pending -= 1
            yield jobs[number], result
    os.waitpid(pid, 0)
    if pending:
        sys.exit(f"pytest ended early; see {cache(project) / 'pytest.log'}.")


def _log(project: Project) -> None:
    """Redirect pytest's output to a file."""
    file = os.open(cache(project) / "pytest.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)


def cache(project: Project) -> Path:
    """Return the folder of the map and compiled files, which git ignores."""
    return project.root / "build" / "mutants"


def _in_files(tests: list[str], count: int) -> list[str]:
    """Return the tests in the first `count` test files."""
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))[:count]
    return [test for test in tests if test.partition("::")[0] in files]


def _own_compiled_code(file: Path) -> None:
    """Disable cached machine code for a changed file of kernels, since it is identified by the file on disk."""
    if "compiled" in file.parts:
        os.environ["NUMBA_CACHE_DIR"] = os.devnull
        compiling = import_module("hookscope.engine.cpu.compiling")
        compiling.BUILT = Path(os.devnull)  # type: ignore[attr-defined]
        compiling._modules.clear()
        compiling._parent_folder.cache_clear()


def recorded(project: Project, record: Callable[[Project], Map], fingerprint: str, say: Callable[[str], None]) -> Map:
    """Return the map of the current files: the saved one, or a new one, recorded in a separate process."""
    path = cache(project) / ("map.json" if project.without else "map-of-all.json")
    test_map = Map.load(path, fingerprint)
    if test_map is not None:
        return test_map
    say("Recording which test runs which lines ...")
    path.parent.mkdir(parents=True, exist_ok=True)
    pid = os.fork()
    if pid == 0:
        try:
            _log(project)
            record(project).save(path, fingerprint)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    test_map = Map.load(path, fingerprint)
    if test_map is None or not test_map.tests:
        sys.exit(f"No test was recorded; see {path.parent / 'pytest.log'}.")
    say("Running them once more, in the order in which mutants are tried ...")
    test_map.broken |= Trials(project, test_map).control()
    test_map.save(path, fingerprint)
    return test_map


def surroundings(project: Project) -> None:
    """Set up the environment, before anything is imported."""
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(cache(project) / "hypothesis")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(cache(project) / "python")
    os.environ["NUMBA_CACHE_DIR"] = str(cache(project) / "numba")
    sys.dont_write_bytecode = False  # outside the tree, and collecting the tests is much faster
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # forks of a process with threads would hang
    os.chdir(project.root)
    sys.path.insert(0, str(project.root))
