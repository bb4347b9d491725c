"""Tests a mutant in a process of its own, forked from one that is ready: the tree is never touched.

Most mutants are tried *warm*: all modules and tests are loaded, and the fork exchanges the code of the function. What
matters while a module is imported is tried *cold*: the fork imports the engine, the one module with the change in it.
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

from .places import Place
from .record import PLUGINS, Map, Project
from .returns import FALSIFIED, Falsifier

Find = Callable[[ast.Module], list[Place]]
GIGABYTES = 8  # of address space: a mutant may want any size


@dataclass(frozen=True)
class Mutant:
    """A place of a file by its number: the tree can be parsed and changed anew in any process."""

    path: str
    number: int
    find: Find

    def tree(self, root: Path) -> tuple[ast.Module, Place]:
        tree = ast.parse((root / self.path).read_bytes())
        return tree, self.find(tree)[self.number]

    def texts(self, root: Path) -> tuple[str, str]:
        """The changed expression, before and after."""
        _, place = self.tree(root)
        before = ast.unparse(place.node)
        return before, ast.unparse(place.change())

    def code(self, root: Path, filename: str) -> CodeType:
        tree, place = self.tree(root)
        place.change()
        return compile(ast.fix_missing_locations(tree), filename, "exec", dont_inherit=True)


@dataclass
class Job:
    """A mutant with the tests that may notice it, in the order in which they are run."""

    mutant: Mutant
    tests: list[str]
    cold: bool
    name: str = ""  # what progress calls it
    falsifies: bool = False  # it says through `__falsified__` whether there was anything to change


@dataclass
class Verdict:
    """What became of a mutant."""

    outcome: str  # "failed", "no import", "died", "survived", "nothing to change", "not run"
    by: str = ""  # the test that failed
    ran: list[str] = field(default_factory=list)


# --- a fork for each ---------------------------------------------------------------------------------------------


def forked(
    jobs: Iterable[Any], child: Callable[[Any], dict[str, Any]], workers: int, limit: float
) -> Iterator[tuple[Any, dict[str, Any] | None]]:
    """Call `child` with each job in a fork; yield what it gave, None where the process died or had to be killed."""
    left = iter(jobs)
    running: dict[int, tuple[Any, Path, float]] = {}
    more = True
    try:
        while more or running:
            while more and len(running) < workers:
                job = next(left, forked)
                if job is forked:
                    more = False
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
                    _kill(pid)  # what it started
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
    """Never returns."""
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


# --- putting the change in ---------------------------------------------------------------------------------------


class _ChangedModule(importlib.abc.MetaPathFinder):
    """Imports one file with the change in it, by whatever name."""

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
    """Every function of the engine that is alive, by its code."""

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
        """Which functions get which code. None: the change is in no function that is alive."""
        filename = self.names.get(mutant.path)
        if filename is None:
            return None
        if mutant.path not in self.unchanged:
            tree = ast.parse((self.root / mutant.path).read_bytes())
            self.unchanged[mutant.path] = compile(tree, filename, "exec", dont_inherit=True)
        found = []
        for old, new in _changed_code(self.unchanged[mutant.path], mutant.code(self.root, filename)):
            for function in self.by_code.get((mutant.path, old), ()):
                if old.co_freevars != new.co_freevars:
                    return None
                found.append((function, new))
        return found or None


def _changed_code(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Pairs of the codes that differ, from the outside to the inside."""
    if before == after:
        return
    yield before, after
    old, new = ([one for one in code.co_consts if isinstance(one, CodeType)] for code in (before, after))
    if [one.co_name for one in old] == [one.co_name for one in new]:
        for pair in zip(old, new, strict=True):
            yield from _changed_code(*pair)


# --- running tests -----------------------------------------------------------------------------------------------


class _Trial:
    """The pytest plugin that runs some of the collected tests, in their order, until one fails."""

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
        self.started = not session.testsfailed  # a module of tests that cannot be imported has failed
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
ENOUGH = 200  # tests after which a function that gave nothing to falsify is taken for one that never does


@dataclass
class Trials:
    """Tries mutants."""

    project: Project
    map: Map
    workers: int = 1
    limit: float = 600.0  # seconds until a process is killed that hangs where no signal reaches it
    say: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True)

    def __post_init__(self) -> None:
        self._seconds = dict(zip(self.map.tests, self.map.seconds, strict=True))

    def _trial(self, job: Job) -> _Trial:
        falsifier = Falsifier()
        setattr(builtins, FALSIFIED, falsifier)
        return _Trial(job.tests, self._seconds, falsifier if job.falsifies else None)

    def run(self, jobs: list[Job]) -> dict[Mutant, Verdict]:
        """Try all of them."""
        verdicts = {job.mutant: Verdict("not run") for job in jobs if not job.tests}
        left = [job for job in jobs if job.tests]
        done = 0
        for cold in (False, True):
            batch = [job for job in left if job.cold is cold]
            for job, result in (self._cold if cold else self._warm)(batch) if batch else ():
                if result is not None and "error" in result:
                    sys.exit(f"{job.name}: the mutation tester itself failed:\n{result['error']}")
                if result == {"outcome": "must be cold"}:
                    job.cold = True
                    continue
                verdicts[job.mutant] = Verdict(**(result or {"outcome": "died"}))
                done += 1
                if verdicts[job.mutant].outcome in ("survived", "not run"):
                    self.say(f"{done} of {len(left)}; {verdicts[job.mutant].outcome}: {job.name}")
                elif done % 20 == 0:
                    self.say(f"{done} of {len(left)}")
        return verdicts

    def _cold(self, jobs: list[Job]) -> Iterator[tuple[Job, dict[str, Any] | None]]:
        """In two turns: most are noticed in the first few files of tests, and each file takes time to collect."""
        import numpy  # noqa: F401  (loaded once for all forks)

        first = [replace(job, tests=_in_files(job.tests, FILES_FIRST)) for job in jobs]
        known = {job.mutant: job for job in jobs}
        earlier: dict[Mutant, dict[str, Any]] = {}
        left = []
        for job, result in self._collected_anew(first):
            done = set(job.tests)
            more = [test for test in known[job.mutant].tests if test not in done]
            if more and result is not None and result.get("outcome") in UNNOTICED:
                earlier[job.mutant] = result
                left.append(replace(job, tests=more))
            else:
                yield known[job.mutant], result
        for job, result in self._collected_anew(left):
            if result is not None and "error" not in result:
                before = earlier[job.mutant]
                result["ran"] = [*before.get("ran", []), *result.get("ran", [])]
                if result["outcome"] in UNNOTICED:  # what the two turns together say
                    result["outcome"] = min(before["outcome"], result["outcome"], key=UNNOTICED.index)
            yield known[job.mutant], result

    def _collected_anew(self, jobs: list[Job]) -> Iterator[tuple[Job, dict[str, Any] | None]]:
        def child(job: Job) -> dict[str, Any]:
            _own_compiled_code(self.project.root / job.mutant.path)
            changed = _ChangedModule(job.mutant, self.project.root)
            sys.meta_path.insert(0, changed)
            trial = self._trial(job)
            files = dict.fromkeys(test.partition("::")[0] for test in job.tests)
            with suppress(
                Exception
            ):  # a plugin of pytest may be the first to import the engine: it has not started then
                pytest.main([*files, f"--rootdir={self.project.root}", "-q", "-s", *PLUGINS], plugins=[trial])
            return trial.result() if changed.used else {"outcome": "not run"}

        return forked(jobs, child, self.workers, self.limit)

    def _warm(self, jobs: list[Job]) -> Iterator[tuple[Job, dict[str, Any] | None]]:
        return _from_server(self.project, lambda session: self._forks(session, jobs), jobs)

    def _forks(self, session: pytest.Session, jobs: list[Job]) -> Iterator[tuple[int, dict[str, Any] | None]]:
        functions = Functions(self.project)
        patches: dict[int, list[tuple[FunctionType, CodeType]]] = {}
        for number, job in enumerate(jobs):
            found = functions.patches(job.mutant)
            if found is None:
                yield number, {"outcome": "must be cold"}
            else:
                patches[number] = found
        items = {item.nodeid: item for item in session.items}  # a fork copies what it touches: not there
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
        """The tests that fail in the order, and in the surroundings, in which mutants are tried."""

        def child(session: pytest.Session) -> dict[str, Any]:
            everything = self.map.in_order((1 << len(self.map.tests)) - 1)
            trial = _Trial(everything, dict(zip(self.map.tests, self.map.seconds, strict=True)))
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
    """The pytest plugin that hands the collected tests to a function instead of running them."""

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
    """Fork, collect all tests there, and yield what `serve` yields there, with the job for its number."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)

        def answer(session: pytest.Session) -> None:
            with os.fdopen(writing, "w", encoding="utf-8") as file:
                for number, result in serve(session):
                    file.write(json.dumps([number, result]) + "\n")
                    file.flush()

        try:
            _log(project)
            pytest.main(project.options(), plugins=[_Server(answer, project)])
        finally:
            os._exit(0)
    os.close(writing)
    left = len(jobs)
    with os.fdopen(reading, encoding="utf-8") as file:
        for line in file:
            number, result = json.loads(line)
            left -= 1
            yield jobs[number], result
    os.waitpid(pid, 0)
    if left:
        sys.exit(f"pytest ended early; see {cache(project) / 'pytest.log'}.")


def _log(project: Project) -> None:
    """What pytest prints goes to a file."""
    file = os.open(cache(project) / "pytest.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)


def cache(project: Project) -> Path:
    """Where the map and compiled files are: a folder that git ignores."""
    return project.root / "build" / "mutants"


def _in_files(tests: list[str], count: int) -> list[str]:
    """The tests in the files of the first ones, so many files."""
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))[:count]
    return [test for test in tests if test.partition("::")[0] in files]


def _own_compiled_code(file: Path) -> None:
    """A changed file of kernels is compiled by who changes it: machine code is known by the file on disk."""
    if file.parent.name == "compiled":
        os.environ["NUMBA_CACHE_DIR"] = os.devnull
        compiling = import_module("hookscope.engine.cpu.compiling")
        compiling.BUILT = Path(os.devnull)  # type: ignore[attr-defined]
        compiling._modules.clear()
        compiling._parent_folder.cache_clear()


def recorded(project: Project, record: Callable[[Project], Map], fingerprint: str, say: Callable[[str], None]) -> Map:
    """The map of the files as they are: the saved one, or a new one, from a process of its own."""
    path = cache(project) / ("map.json" if project.without else "map-of-all.json")
    found = Map.load(path, fingerprint)
    if found is not None:
        return found
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
    found = Map.load(path, fingerprint)
    if found is None or not found.tests:
        sys.exit(f"No test was recorded; see {path.parent / 'pytest.log'}.")
    say("Running them once more, in the order in which mutants are tried ...")
    found.broken |= Trials(project, found).control()
    found.save(path, fingerprint)
    return found


def surroundings(project: Project) -> None:
    """What must be so before anything is imported."""
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(cache(project) / "hypothesis")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(cache(project) / "python")
    os.environ["NUMBA_CACHE_DIR"] = str(cache(project) / "numba")
    sys.dont_write_bytecode = False  # outside the tree it does no harm, and collecting the tests is much faster
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # forks of a process with threads would hang
    os.chdir(project.root)
    sys.path.insert(0, str(project.root))
