"""The code samples of MindSpore's pages about cells, taken from the text of the pages as they were published.

The pages are not part of this project: they are read from ``FOLDER``, where that is there. A page is text, with or
without the prompts of a notebook (``[3]:``), with samples between its paragraphs, and below each what it prints.
"""

from __future__ import annotations

import ast
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(os.environ.get("HOOKSCOPE_PAGES", Path(__file__).resolve().parents[3] / "shared" / "seeds"))

_CODE = re.compile(
    r"""(import|from)\s\w | (class|def)\s\w+.*:$ | @\w | \# | (for|if)\s.*:$ | super\( | return\b
    | [A-Za-z_][\w.]*(\[[^]]*\])?(,\s*\w+)*\s=\s | [a-z_][\w.]*\(.*\)$ | \)$ | nn\..*,?$""",
    re.VERBOSE | re.ASCII,
)
_PRINTED = re.compile(
    r"""[A-Za-z]+\s?\( | [\[(<] | [a-z_ ]+:(\s|$) | -{4,} | train$ | predict$ | (weight|bias)\s | \{ | Cell\sname:""",
    re.VERBOSE | re.ASCII,
)
_NOISE = re.compile(r"\[\d+\]:$|\[(ERROR|WARNING)\] |运行结果:$")


class Sample(NamedTuple):
    """A sample: its code, and what the page shows below it ("" for nothing)."""

    code: str
    prints: str


def samples(text: str) -> list[Sample]:
    """Return the samples of a page, in order.

    Args:
        text: the page.
    """
    results: list[Sample] = []

    def keep(code: list[str], prints: list[str]) -> None:
        text = "\n".join(_indented(code) if _is_flat(code) else code)
        try:
            ast.parse(text)
        except SyntaxError:  # a formula
            return
        results.append(Sample(text, "\n".join(prints)))

    code: list[str] = []
    prints: list[str] = []
    blank = False
    for line in [*text.split("\n"), "The end of the page."]:
        if not line.strip() or _NOISE.match(line):
            blank = True
            continue
        goes_on = bool(code) and not prints and line[0] in " )"
        if goes_on or _CODE.match(line):
            if prints:
                keep(code, prints)
                code, prints = [], []
            code += [""] * (blank and bool(code)) + [line]
        elif code and (_PRINTED.match(line) or (prints and line[0] == " ")):
            prints.append(line)
        elif code:
            keep(code, prints)
            code, prints = [], []
        blank = False
    return results


def _is_flat(code: list[str]) -> bool:
    """Return whether a page has lost the indentation of its samples."""
    return any(item.endswith(":") and not after.startswith(" ") for item, after in itertools.pairwise(code))


def _indented(code: list[str]) -> list[str]:
    """Samples whose indentation is lost, with it: methods end with ``return``, or where a line is not about ``self``;
    a loop where a line does not name its variable, or what was made of it."""
    results: list[str] = []
    method, loop, condition, brackets = 0, set[str](), 0, 0
    for line in code:
        words = set(re.findall(r"\b[A-Za-z_]\w*", line))
        if line.startswith(("class ", "def ")):
            depth, method, loop = int(line.startswith("def ")), int(line.startswith("def ")), set()
        else:
            if method and not _is_inside(line, brackets, results):
                method = 0
            loop = loop if loop & words else set()
            depth = 2 * method + bool(loop) + condition
        condition = 0
        if line.startswith("for "):
            loop = set(re.findall(r"\w+", line.partition(" in ")[0])) - {"for"}
        elif loop and line.startswith("if "):
            condition = 1
        elif loop and (bound := re.match(r"(\w+) = ", line)):
            loop.add(bound[1])
        brackets += line.count("(") - line.count(")")
        results.append("    " * depth + line)
    return results


def _is_inside(line: str, brackets: int, before: list[str]) -> bool:
    """Return whether a line belongs to the method that is open."""
    has_ended = before[-1].strip().startswith("return ")
    return not has_ended and (
        brackets > 0
        or before[-1].strip().startswith("def ")
        or "self" in line
        or line[0] == "#"
        or line.startswith(("super(", "return "))
        or "ops." in line
    )


def run(chosen: list[Sample], mode: str) -> list[dict[str, Any]]:
    """Run samples of one page one after another in one process, as a notebook would, under ``import mindspore``.

    Args:
        chosen: the samples.
        mode: "eager" or "graph"; "all_graph" also where a sample itself asks for the eager mode.

    Returns:
        for each what it printed, the warnings, and after it, by name, which cells have plans.
    """
    request = json.dumps({"codes": [item.code for item in chosen], "mode": mode})
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "runner.py"
        script.write_text(_RUNNER, encoding="utf-8")
        command = [sys.executable, "-m", "hookscope", "run", str(script)]
        process = subprocess.run(command, input=request, capture_output=True, text=True, cwd=folder, env=_environment())
    assert process.returncode == 0, process.stderr
    results: list[dict[str, Any]] = json.loads(process.stdout)
    return results


def _environment() -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join((root, os.environ.get("PYTHONPATH", "")))}


_RUNNER = """
import ast, contextlib, io, json, linecache, sys, warnings
import mindspore
from hookscope.engine.compile import plans_of

given = json.load(sys.stdin)
names = vars(sys.modules["__main__"])
found = []
graph = mindspore.GRAPH_MODE
if given["mode"] == "all_graph":
    mindspore.PYNATIVE_MODE = graph
for place, code in enumerate(given["codes"]):
    mindspore.set_context(mode=graph if given["mode"] != "eager" else mindspore.PYNATIVE_MODE)
    file = f"sample{place}.py"
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    tree = ast.parse(code)
    if isinstance(tree.body[-1], ast.Expr):  # a notebook shows what the last line gives
        tree.body[-1].value = ast.copy_location(
            ast.Call(ast.Name("shown", ast.Load()), [tree.body[-1].value], []), tree.body[-1].value)
        ast.fix_missing_locations(tree)
    names["shown"] = lambda value: None if value is None else print(repr(value))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        exec(compile(tree, file, "exec"), names)
    made = {name: one for name, one in names.items() if isinstance(one, mindspore.nn.Cell) or hasattr(one, "_compiled")}
    cells = {name: any(plans.sources for plans in plans_of(one)) for name, one in made.items()}
    found.append({"printed": printed.getvalue(), "warnings": [str(one.message) for one in told], "compiled": cells})
print(json.dumps(found))
"""
