"""Mutation testing of the engine: single faults that no test detects, tried with the tests that run the line.

    python -m scripts.mutants sample --seed 1 --count 500    small faults, drawn from all possible ones
    python -m scripts.mutants results                        functions whose result could be false unnoticed

Neither changes the tree. The first run records which test runs which lines, in build/mutants, and so does a run after a
change of the engine or its tests. A test that works in another process (subprocess) cannot detect a fault there.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .mutation.changes import Change, small_faults
from .mutation.record import Map, Project, record
from .mutation.returns import RETURNS, functions
from .mutation.trial import Find, Job, Mutant, Trials, Verdict, recorded, surroundings

CAUGHT = ("failed", "no import", "died")
Candidate = tuple[Mutant, Change]


def all_changes(project: Project, find: Find) -> list[Candidate]:
    mutants: list[Candidate] = []
    for path in project.sources():
        changes = find(ast.parse((project.root / path).read_bytes()))
        mutants.extend((Mutant(path, number, find), change) for number, change in enumerate(changes))
    return mutants


def job(mutant: Mutant, change: Change, index: Map, budget: float) -> Job:
    """Return the tests that run the code, in order; for code at import also those named after the file, and others."""
    at_import = change.at_import or (
        not change.in_table and bool(change.lines & index.at_import.get(mutant.path, set()))
    )
    witnesses = index.running(mutant.path, change.lines)
    if at_import:  # half of the time for related tests; a declaration is detected by tests that run no line of its file
        related = index.named_after(mutant.path), index.running(mutant.path)
        tests = index.in_order(witnesses, *related, budget=budget / 2)
        remaining = index.in_order((1 << len(index.tests)) - 1, budget=budget / 2, in_turns=False)
        tests = list(dict.fromkeys(tests + remaining))
    else:
        tests = index.in_order(witnesses, budget=budget)
    name = f"{mutant.path}:{change.line} {change.function}"
    return Job(mutant, tests, at_import, name, change.kind == RETURNS)


def _tests(names: list[str]) -> str:
    """Return how many tests ran, and the functions of the first ones."""
    unique = list(dict.fromkeys(name.partition("[")[0] for name in names))
    rest = f", and {len(unique) - 8} more" if len(unique) > 8 else ""
    return f"{len(names)} tests ran: {', '.join(unique[:8])}{rest}" if names else "no test runs it"


def report_sample(project: Project, candidates: list[Candidate], verdicts: dict[Mutant, Verdict], listed: bool) -> None:
    """Print the surviving mutants, then how many of each kind were caught."""
    all_of, caught = Counter[str](), Counter[str]()
    for mutant, change in candidates:
        verdict = verdicts[mutant]
        all_of[change.kind] += 1
        caught[change.kind] += verdict.outcome in CAUGHT
        before, after = (" ".join(text.split()) for text in mutant.texts(project.root))
        line = f"{mutant.path}:{change.line}: {change.kind}: {before}  ->  {after}"
        if listed:
            print(f"{verdict.outcome:<10}{line}{f'  by {verdict.by}' if verdict.by else ''}")
        elif verdict.outcome not in CAUGHT:
            print(f"{line}\n    {_tests(verdict.ran)}")
    for kind in sorted(all_of):
        print(f"{kind:<12}{caught[kind]:>5} of {all_of[kind]:>5} caught")
    total = sum(caught.values())
    print(f"{'all':<12}{total:>5} of {len(candidates):>5} caught, {total / len(candidates):.1%}")


def report_results(candidates: list[Candidate], verdicts: dict[Mutant, Verdict]) -> None:
    """Print the functions without a test that detects the fault, by file, and separately those without a result."""
    headings = {
        "survived": "Functions without a compared result",
        "emptied": "Functions that return nothing, and whose absence no test notices",
        "not run": "Functions that no test runs",
        "nothing to change": "Functions whose result has nothing to falsify: cells, other objects, None",
    }
    rows: dict[str, list[str]] = {outcome: [] for outcome in headings}
    for mutant, change in candidates:
        outcome = verdicts[mutant].outcome
        if outcome not in CAUGHT:
            outcome = "emptied" if outcome == "survived" and change.kind != RETURNS else outcome
            rows[outcome].append(
                f"{mutant.path}:{change.line}: {change.function}  ({len(verdicts[mutant].ran)} tests ran)"
            )
    for outcome, heading in headings.items():
        print(f"\n{heading}: {len(rows[outcome])}")
        print("".join(f"    {row}\n" for row in rows[outcome]), end="")
    print(f"\n{len(candidates)} functions")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.mutants", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("sample", "results"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=500, help="mutants of a sample")
    parser.add_argument("--only", default="", help="only files whose path has this in it")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--budget", type=float, default=60, help="seconds of tests for each mutant, as recorded")
    parser.add_argument("--all", action="store_true", help="list the caught mutants of a sample too")
    parser.add_argument("--with-debug", action="store_true", help="the debugger and its tests too")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--source", default="engine", help="the folder of the package")
    parser.add_argument("--package", default="hookscope.engine", help="the name by which it is imported")
    parser.add_argument("--tests", default="tests/engine")
    options = parser.parse_args(arguments)
    debug = [] if options.with_debug else [f"{options.source}/debug", f"{options.tests}/debug"]
    project = Project(options.root.resolve(), options.source, options.package, (options.tests,), tuple(debug))
    surroundings(project)
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - started:6.0f} s] {text}", file=sys.stderr, flush=True)

    test_map = recorded(project, record, project.fingerprint(), say)
    if test_map.broken:
        left_out = f"{len(test_map.broken)} of {len(test_map.tests)} tests"
        say(f"Left out, since they fail or are skipped without a mutant: {left_out}")
    sample = options.what == "sample"
    candidates = [
        entry for entry in all_changes(project, small_faults if sample else functions) if options.only in entry[0].path
    ]
    if sample:
        chosen = random.Random(options.seed).sample(range(len(candidates)), min(options.count, len(candidates)))
        say(f"{len(chosen)} of {len(candidates)} possible mutants, seed {options.seed}")
        candidates = [candidates[number] for number in sorted(chosen)]
    jobs = [job(mutant, change, test_map, options.budget) for mutant, change in candidates]
    verdicts = Trials(project, test_map, options.workers, say=say).run(jobs)
    say(f"Done: {len(candidates)} mutants; {Counter(verdict.outcome for verdict in verdicts.values())}")
    if sample:
        report_sample(project, candidates, verdicts, options.all)
    else:
        report_results(candidates, verdicts)


if __name__ == "__main__":
    main()
