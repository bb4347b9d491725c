"""Publication of the last run's measurements in docs/performance.md: tables, between their markers, and the picture.

python -m benchmarks.performance_page
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import results
from .first_use import NETWORKS, WAYS
from .graph_mode import AIMS, ratio_of_bytes
from .step_memory import STEPS
from .training import GRAPH, MINDSPORE, PYNATIVE, RATES, ROWS, fastest, time_text
from .watching import WAYS as WATCHED

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "images" / "performance.svg"

Sections = dict[str, Any]


def _table(headers: list[str], lines: list[list[str]]) -> str:
    rule = ["---"] + ["---:"] * (len(headers) - 1)
    return "\n".join(f"| {' | '.join(line)} |" for line in (headers, rule, *lines))


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}" if value >= 0.1 else f"{value:.1g}"


def _against(value: float | None, aim: float | None) -> str:
    """Format a ratio with its target; a ratio above the target is bold."""
    if value is None or aim is None:
        return _ratio(value)
    return f"{_ratio(value)} (≤ {aim:g})" if value <= aim else f"**{_ratio(value)}** (≤ {aim:g})"


def _machine(sections: Sections) -> str:
    machine, of_threads = sections["where"], sections["training"]
    peers = sorted({name.partition(",")[0] for figures in of_threads.values() for name in figures["versions"].values()})
    rates = "; ".join(
        f"on {threads} thread{'s' * (threads != '1')} "
        + ", ".join(f"{figures['rates'][name]:.0f} {unit} ({label})" for name, (label, unit) in RATES.items())
        for threads, figures in of_threads.items()
    )
    return (
        f"{machine['day']}, {machine['processor']}, {machine['cores']} cores, {machine['system']}, "
        f"Python {machine['python']}: {', '.join(peers)}.\n\n"
        f"The machine's limits, measured with NumPy's BLAS and copies: {rates}."
    )


def _times(threads: str) -> Callable[[Sections], str]:
    def table(sections: Sections) -> str:
        lines = []
        for name, row in ROWS.items():
            if row.torch is None:
                continue
            figures = sections["training"].get(threads, {}).get("rows", {}).get(name, {})
            seconds, ratios = figures.get("seconds", {}), figures.get("ratios", {})
            lines.append(
                [
                    row.label,
                    time_text(seconds.get("hookscope")),
                    _against(ratios.get("torch"), row.torch),
                    _ratio(ratios.get("torch-compiled")),
                    _against(fastest(ratios, PYNATIVE), row.mindspore),
                    _against(fastest(ratios, GRAPH), row.mindspore),
                    _ratio(ratios.get("jax")),
                ]
            )
        headers = [
            "",
            "Hookscope",
            "/ PyTorch eager",
            "/ torch.compile",
            "/ MindSpore PyNative",
            "/ MindSpore jit",
            "/ JAX jit",
        ]
        return _table(headers, lines)

    return table


def _generation(sections: Sections) -> str:
    lines = []
    for name, row in ROWS.items():
        figures = next(iter(sections["training"].values()))["rows"].get(name)
        if figures is None or row.torch is not None:
            continue
        seconds = figures["seconds"]
        mindspore = min((seconds[mode] for mode in MINDSPORE if mode in seconds), default=None)
        times = (seconds.get("hookscope"), seconds.get("torch"), mindspore, seconds.get("machine"))
        lines.append([row.label, *map(time_text, times)])
    return _table(["", "Hookscope", "PyTorch", "MindSpore", "NumPy's generator alone"], lines)


def _memory(sections: Sections) -> str:
    lines = []
    for name in STEPS:
        figures = sections["step_memory"].get(name, {})

        def size(peer: str, key: str, figures: Any = figures) -> float | None:
            count = figures.get(peer, {}).get(key)
            return None if count is None else count / 2**20

        def cell(value: float | None) -> str:
            return "-" if value is None else f"{value:.1f}"

        own, torch = size("hookscope", "peak"), size("torch", "peak")
        grown = [cell(size(peer, "grown")) for peer in ("hookscope", "torch", "torch-compiled", "mindspore", "jax")]
        ratio = own / torch if own and torch else None
        lines.append([ROWS[name].label, cell(own), cell(torch), _against(ratio, 1.0), *grown])
    headers = ["MiB", "arrays", "PyTorch's", "ratio", "process", "PyTorch", "torch.compile", "MindSpore", "JAX"]
    return _table(headers, lines)


def _first_use(sections: Sections) -> str:
    lines = []
    for name, way in WAYS.items():
        for cache, seconds in sections["first_use"].get(name, {}).items():
            label = f"{way.label}, {cache}" if cache else way.label
            lines.append([label, f"{seconds['start']:.2f}", f"{seconds['first']:.2f}"])
    return _table(["seconds", "start and imports", "first two steps, above two later ones"], lines)


def _first_steps(sections: Sections) -> str:
    lines = [
        [NETWORKS[row], *[f"{clock:.2f} / {cpu:.2f}" for way, (clock, cpu) in ways.items() if way != "before"]]
        for row, ways in sections["first_use"].get("steps", {}).items()
    ]
    return _table(["seconds, by the clock / of all cores", "compiled before", "empty cache", "from disk"], lines)


def _graph_mode(sections: Sections) -> str:
    measured = sections["graph_mode"]
    lines = []
    for name, aim in AIMS.items():
        figures = measured["rows"].get(name)
        if figures is None:
            continue
        seconds, ratios, traced = figures["seconds"], figures["ratios"], figures["traced"]
        bytes_ = [
            _ratio(ratio_of_bytes(figures, peer)) if limit is None else _against(ratio_of_bytes(figures, peer), limit)
            for peer, limit in (("torch", aim.bytes_of_torch), ("torch-compiled", aim.bytes_of_torch and 1.0))
        ]
        first = [
            f"{traced[level] / traced['eager']:.1f}, {traced[f'{level} bytes'] / 1024:.0f} KiB" for level in _LEVELS
        ]
        lines.append(
            [
                ROWS[name].label,
                *[time_text(seconds.get(f"hookscope{level}")) for level in ("", "-O0", "-O1")],
                _against(ratios.get("torch"), aim.torch),
                _against(ratios.get("torch-compiled"), aim.compiled),
                *bytes_,
                *first,
            ]
        )
    headers = [
        "",
        "eager",
        "O0",
        "O1",
        "/ PyTorch eager",
        "/ torch.compile",
        "bytes / PyTorch eager",
        "bytes / torch.compile",
        "traced, O0",
        "traced, O1",
    ]
    guards = measured["guards"]
    summary = "; ".join(
        f"{time_text(guards[f'{kind} guards'])} for 50 {kind} cells, where an eager call takes "
        f"{time_text(guards[f'{kind} eager'])} and a planned one {time_text(guards[f'{kind} planned'])}"
        for kind in ("ReLU", "Dense")
    )
    threads = measured["threads"]
    return f"{_table(headers, lines)}\n\nOn {threads} thread{'s' * (threads > 1)}. Guards that hold take {summary}."


_LEVELS = ("O0", "O1")


def _watching(sections: Sections) -> str:
    lines = []
    for row in ("transformer", "resnet18"):
        ways = sections["watching"].get(row, {}).get("ways", {})
        for way, (label, _, aim) in WATCHED.items():
            figures = ways.get(way, {})

            def time(name: str, figures: Any = figures) -> str:
                return "-" if figures.get(name) is None else f"{figures[name]:.2f} ms"

            def ratio(name: str, figures: Any = figures) -> str:
                return "-" if figures.get(name) is None else f"{figures[name]:.3f}"

            own = ratio("ratio")
            if aim is not None and own != "-":
                own = f"{own} (≤ {aim:g})" if figures["ratio"] <= aim else f"**{own}** (≤ {aim:g})"
            where = f"{ROWS[row].label.partition(',')[0]}: {label}"
            lines.append([where, time("step"), time("added"), own, time("torch"), ratio("torch ratio")])
    return _table(["", "step", "added", "ratio", "PyTorch", "ratio"], lines)


def _limits(threads: str) -> Callable[[Sections], str]:
    """Return a table of a step's lower bounds, at the machine's rates, and of its time by file."""

    def table(sections: Sections) -> str:
        of_threads = sections["training"].get(threads)
        lines = []
        for name, row in ROWS.items():
            figures = of_threads and of_threads["rows"].get(name)
            if not figures or not row.is_step or "hookscope" not in figures["seconds"]:
                continue
            seconds = figures["seconds"]["hookscope"]
            products = 2 * row.products / (of_threads["rates"]["sgemm"] * 1e9)
            traffic = row.traffic / (of_threads["rates"]["copy"] * 1e9)
            files = [f"`{path}` {share:.0%}" for path, share in figures.get("places", {}).items() if share >= 0.05]
            lines.append(
                [
                    row.label,
                    time_text(seconds),
                    f"{time_text(products)} ({products / seconds:.0%})",
                    f"{time_text(traffic)} ({traffic / seconds:.0%})",
                    ", ".join(files),
                ]
            )
        return _table(
            ["", "step", "products at the BLAS rate", "optimizer's traffic at the copy's rate", "where the time goes"],
            lines,
        )

    return table


TABLES: dict[str, Callable[[Sections], str]] = {
    "where": _machine,
    "times": lambda sections: _times(_all_cores(sections))(sections),
    "times on one thread": _times("1"),
    "limits": lambda sections: _limits(_all_cores(sections))(sections),
    "memory": _memory,
    "graph mode": _graph_mode,
    "first use": _first_use,
    "first steps": _first_steps,
    "watching": _watching,
    "made": _generation,
}
"""Content after each marker ``<!-- NAME -->`` of the page, until ``<!-- end -->``."""


def _all_cores(sections: Sections) -> str:
    return max(sections["training"], key=int)


def filled(page: str, sections: Sections) -> str:
    """Return the page with new tables.

    Raises:
        KeyError: the run did not measure a table's section.
        ValueError: the page has no marker of that name.
    """
    for name, table in TABLES.items():
        section = re.compile(f"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not section.search(page):
            raise ValueError(f"the page has no marker '<!-- {name} -->'")
        content = table(sections)
        page = section.sub(lambda match, content=content: f"{match[1]}\n{content}\n\n{match[2]}", page)
    return page


def draw(sections: Sections, path: Path) -> None:
    """Draw the picture of the ratios: a line for each row, a mark for each peer, on a logarithmic scale."""
    import matplotlib

    matplotlib.use("svg")
    # Equal figures give an equal file; letters stay letters, which is small.
    matplotlib.rcParams.update({"svg.hashsalt": "hookscope", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot

    threads = _all_cores(sections)
    figures = sections["training"][threads]["rows"]
    rows = [name for name, row in ROWS.items() if row.torch is not None and name in figures][::-1]
    marks: dict[str, tuple[Callable[[dict[str, float]], float | None], str, str]] = {
        "PyTorch eager": (lambda ratios: ratios.get("torch"), "o", "#c33"),
        "torch.compile": (lambda ratios: ratios.get("torch-compiled"), "D", "#e90"),
        "MindSpore PyNative": (lambda ratios: fastest(ratios, PYNATIVE), "s", "#36c"),
        "MindSpore jit": (lambda ratios: fastest(ratios, GRAPH), "x", "#36c"),
        "JAX jit": (lambda ratios: ratios.get("jax"), "^", "#393"),
    }
    figure, axes = pyplot.subplots(figsize=(8, 0.5 * len(rows) + 1.4), layout="constrained")
    for label, (ratio_of, mark, color) in marks.items():
        points = [(ratio, y) for y, name in enumerate(rows) if (ratio := ratio_of(figures[name]["ratios"])) is not None]
        axes.plot([x for x, _ in points], [y for _, y in points], mark, color=color, label=label)
    aims = [ROWS[name].torch for name in rows]
    axes.plot(aims, range(len(rows)), "|", color="#c33", markersize=16, label="aim beside PyTorch eager")
    axes.axvline(1, color="#888", linewidth=0.8)
    axes.set(xscale="log", xlabel=f"Hookscope's time / theirs, {threads} threads; left of 1 Hookscope takes less")
    axes.set_yticks(range(len(rows)), [ROWS[name].label for name in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    low, high = axes.get_xlim()
    ticks = [tick for tick in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30) if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="x", color="#ddd")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def main() -> None:
    sections = results.load()
    missing = [
        name for name in ("training", "step_memory", "graph_mode", "first_use", "watching") if name not in sections
    ]
    if missing:
        sys.exit(f"{results.PATH} lacks {', '.join(missing)}: run `python -m benchmarks {' '.join(missing)}` first")
    PAGE.write_text(filled(PAGE.read_text(), sections))
    draw(sections, PICTURE)
    print(f"{PAGE.relative_to(ROOT)}, {PICTURE.relative_to(ROOT)} ({PICTURE.stat().st_size / 1024:.0f} KiB)")


if __name__ == "__main__":
    main()
