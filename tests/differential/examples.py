"""The examples in MindSpore's own docstrings, run by MindSpore and by Hookscope; a table by module, and what differs.

    python -m tests.differential.examples --mindspore /path/to/python
    python -m tests.differential.examples --mindspore /path/to/python --only mindspore.ops --shown 20
    python -m tests.differential.examples --mindspore /path/to/python --tree /path/to/older/checkout --kept there.json

Docstrings of what is public are taken from the sources of the installed package, which is not imported for it.
`example_server.py` runs them, each package in a process of its own. Compared is, statement by statement, what is
printed (numbers to 1e-4, random ones by their number and type alone) and the class of errors. An example that fails in
MindSpore on this machine, such as those for other devices, says nothing about Hookscope.
"""

from __future__ import annotations

import argparse
import ast
import cmath
import doctest
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from scripts.modules import offered, reasons

ROOT = Path(__file__).resolve().parents[2]
# Further modules that may offer a public name, if no package above its file does.
ELSEWHERE = ("mindspore", *(f"mindspore.mint{room}" for room in ("", ".nn", ".nn.functional", ".linalg")))
NUMBER = re.compile(r"(?:[-+]|(?<!\w))(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?j?(?!\w)|[-+]?\b(?:nan|inf)\b")
RANDOM = re.compile(r"(?<!np\.random\.)seed|multinomial|sampler", re.I)  # the same in two runs, or fixed
ABSENT = re.compile(r"(?:module '.*' has no attribute|cannot import name) '(\w+)' (?:in|from) ")
INSTEAD = " is not covered by hookscope"
OUTCOMES = (
    "same",
    "differs",
    "fails here",
    "says what to use",
    "absent with reason",
    "other error",
    "fails there",
    "both fail",
)


class Example(NamedTuple):
    """One docstring's statements; `raises` has for each whether the docstring shows an error there."""

    module: str
    name: str
    statements: list[str]
    raises: list[bool]


class Outcome(NamedTuple):
    """An example's outcome, and the statement that decided it."""

    kind: str
    text: str = ""


def docstrings(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the public functions, classes and methods of a file, with their docstrings."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = prefix + node.name
            if node.name[0] != "_" or node.name == "__init__":
                yield name, ast.get_docstring(node) or ""
                if isinstance(node, ast.ClassDef):
                    yield from docstrings(node.body, f"{name}.")
        elif isinstance(node, ast.If | ast.Try):
            yield from docstrings(node.body, prefix)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            arguments = [argument.value for argument in node.value.args if isinstance(argument, ast.Constant)]
            if isinstance(node.value.func, ast.Name) and node.value.func.id == "attach_docstr":
                yield f"Tensor.{arguments[0]}", str(arguments[1])


def examples(package: Path, only: str) -> list[Example]:
    """Return the examples of every public name, each once."""
    public = offered()
    results: dict[tuple[str, str, str], Example] = {}
    for path in sorted(package.rglob("*.py")):
        parts = ("mindspore", *path.relative_to(package).with_suffix("").parts)
        if any(part[0] == "_" for part in parts[:-1]) or "ops_generate" in parts:
            continue
        above = [".".join(parts[:length]) for length in range(2, 4) if parts[1] != "common"]
        if parts[-1] == "functional_overload":
            above.insert(0, "mindspore.mint")
        for name, text in docstrings(ast.parse(path.read_text(encoding="utf-8")).body):
            first = name.partition(".")[0]
            module = next((variant for variant in (*above, *ELSEWHERE) if first in public.get(variant, ())), None)
            if module is None or ">>>" not in text or not f"{module}.{name}".startswith(only):
                continue
            if "auto_generate" in text:  # shows a part of MindSpore's own
                continue
            try:
                parsed = doctest.DocTestParser().get_examples(text)
            except ValueError:  # not one that doctest takes
                continue
            sources = [item.source for item in parsed]
            example = Example(module, name, sources, [item.exc_msg is not None for item in parsed])
            results.setdefault((module, name, "".join(sources)), example)
    return list(results.values())


class Package:
    """`example_server.py` in a Python.

    Args:
        python: its path.
        name: "mindspore" or "hookscope".
        tree: the checkout of hookscope that it imports.
    """

    def __init__(self, python: str, name: str, tree: Path = ROOT) -> None:
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "HOOKSCOPE_DEVICE": "cpu"}
        environment.pop("PYTHONPATH", None)
        if name == "hookscope":
            environment["PYTHONPATH"] = str(tree)
        self._folder = tempfile.TemporaryDirectory()  # MindSpore leaves files where it runs
        self._process = subprocess.Popen(
            [str(Path(python).absolute()), "-P", str(Path(__file__).with_name("example_server.py")), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
            cwd=self._folder.name,
        )
        if self._answer() != "ready":
            raise SystemExit(f"{python} does not run {name}")

    def run(self, example: Example, seed: int) -> list[dict[str, str]]:
        """Return each statement's printed text, and the class and text of its error."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"statements": example.statements, "seed": seed}) + "\n")
        self._process.stdin.flush()
        return list(self._answer())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else None


def same_numbers(item: str, other: str, largest: float) -> bool:
    """Return whether two printed numbers are equal integers, or close fractions beside the text's largest number."""
    if item == other:
        return True
    if item.lstrip("+-").isdigit() or other.lstrip("+-").isdigit():
        return False
    x, y = complex(item), complex(other)
    if cmath.isnan(x) or cmath.isnan(y):
        return cmath.isnan(x) and cmath.isnan(y)
    few = len(re.sub(r"[eE].*|\D", "", item).lstrip("0")) <= 4  # float16, or rounded to be shown
    return x == y or abs(x - y) <= max((1.2e-3 if few else 1e-4) * abs(x), 1e-6 * largest)


def without_numbers(text: str) -> str:
    """Return the printed text, with # for each number and without spaces and addresses."""
    return re.sub(r"\s+", "", NUMBER.sub("#", re.sub(r"0x[0-9a-f]+", "", text)))


def same_printed(reference: str, answer: str, numbers: bool) -> bool:
    """Return whether two texts say the same."""
    if reference == answer:
        return True
    if without_numbers(reference) != without_numbers(answer):
        return False
    if not numbers:
        return True
    expected = NUMBER.findall(reference)
    sizes = [abs(complex(item)) for item in expected]
    largest = max([1.0, *(size for size in sizes if math.isfinite(size))])
    return all(same_numbers(*pair, largest) for pair in zip(expected, NUMBER.findall(answer), strict=True))


def compare(example: Example, reference: list[dict[str, str]], answer: list[dict[str, str]], varies: Any) -> Outcome:
    """Compare statements up to the first difference; ``varies`` marks statements with random numbers."""
    for i, (item, other) in enumerate(zip(reference, answer, strict=False)):
        output = f"{example.statements[i].strip()}\n"
        if other["error"] and INSTEAD in other["text"]:
            return Outcome("says what to use", output + other["text"])
        if (name := ABSENT.match(other["text"])) and any(fnmatchcase(name[1], row.pattern) for row in reasons()):
            return Outcome("absent with reason", output + other["text"])
        if item["error"] and other["error"]:
            if item["error"] != other["error"]:
                texts = [f"{each['error']}: {each['text']}" for each in (item, other)]
                return Outcome("other error", output + "\n".join(texts))
            if not example.raises[i]:
                return Outcome("both fail", f"{output}{item['error']}: {item['text']}")
        elif item["error"]:
            return Outcome("fails there", f"{output}{item['error']}: {item['text']}")
        elif other["error"]:
            return Outcome("fails here", f"{output}{other['error']}: {other['text']}")
        if not same_printed(item["printed"], other["printed"], numbers=False) or not (
            same_printed(item["printed"], other["printed"], numbers=True) or varies(i)
        ):
            return Outcome("differs", f"{output}--- MindSpore\n{item['printed']}--- Hookscope\n{other['printed']}")
    return Outcome("same")


def table(outcomes: dict[str, Counter[str]]) -> str:
    """Return a table of the outcomes of each module's examples."""
    rows = [("", *OUTCOMES, "all")]
    total: Counter[str] = sum(outcomes.values(), Counter())
    for module, counts in [*sorted(outcomes.items()), ("all", total)]:
        rows.append((module, *(str(counts[kind] or "") for kind in OUTCOMES), str(counts.total())))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mindspore", required=True, help="the Python that has MindSpore")
    parser.add_argument("--only", default="", help="names that begin so, such as mindspore.ops")
    parser.add_argument("--shown", type=int, default=1000, help="how many of those that differ are printed")
    parser.add_argument("--kinds", nargs="+", default=["differs", "fails here", "other error"], choices=OUTCOMES)
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout that is tried")
    parser.add_argument("--kept", type=Path, help="a file that keeps MindSpore's answers for the next time")
    options = parser.parse_args()
    where = "import importlib.util as u; print(u.find_spec('mindspore').submodule_search_locations[0])"
    package = Path(subprocess.check_output([options.mindspore, "-P", "-c", where], text=True).strip())
    mindspore, hookscope = Package(options.mindspore, "mindspore"), Package(sys.executable, "hookscope", options.tree)
    kept = json.loads(options.kept.read_text()) if options.kept and options.kept.exists() else {}

    def reference(example: Example, seed: int) -> Any:
        key = f"{seed}\n{''.join(example.statements)}"
        if key not in kept:
            kept[key] = mindspore.run(example, seed)
        return kept[key]

    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    count = runs = 0
    with ThreadPoolExecutor(2) as both:
        for example in examples(package, options.only):
            answer = both.submit(hookscope.run, example, 1)
            first = reference(example, 1)

            def varies(i: int, example: Example = example, first: Any = first) -> bool:
                second = reference(example, 2)[i]["printed"]
                return not same_printed(first[i]["printed"], second, numbers=True) or bool(
                    RANDOM.search("".join(example.statements))
                )

            outcome = compare(example, first, answer.result(), varies)
            outcomes[example.module][outcome.kind] += 1
            runs += not any(item["error"] and not raises for item, raises in zip(first, example.raises, strict=False))
            if outcome.kind in options.kinds:
                count += 1
                if count <= options.shown:
                    print(f"== {outcome.kind}: {example.module}.{example.name}\n{outcome.text.rstrip()}\n", flush=True)
    mindspore.close()
    hookscope.close()
    if options.kept:
        options.kept.write_text(json.dumps(kept))
    same = sum(counts["same"] for counts in outcomes.values())
    print(f"{table(outcomes)}\n\nMindSpore runs {runs} of them to their end, of which {same} say the same here.")
    return bool(count)


if __name__ == "__main__":
    sys.exit(main())
