"""`make notebooks`: run the tutorials and save their outputs in place, as a reader without a kernel sees them.

Text and static HTML are saved. Execution times, widget state and everything else that differs between runs are omitted,
so that a change in the history is a change in the notebook's content.

    python scripts/save_notebooks.py notebooks/*.ipynb
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from hookscope.engine.base.atomic_write import write_text


def merged_streams(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Return the outputs with adjacent pieces of one stream joined, since the splits are random."""
    merged: list[nbformat.NotebookNode] = []
    for output in outputs:
        last = merged[-1] if merged else None
        if last is not None and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def run_and_save(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        kernel_name="hookscope",
        timeout=300,
        store_widget_state=False,
        record_timing=False,
        extra_arguments=["--log-level=ERROR"],  # ipykernel warns at every start that local TCP is not encrypted
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = merged_streams(cell.outputs)
    notebook.metadata.language_info = {"name": "python"}  # the kernel's own metadata has a Python version
    nbformat.validate(notebook)
    write_text(path, nbformat.writes(notebook).removesuffix("\n") + "\n", "save_notebooks")


def main() -> None:
    os.environ["HOOKSCOPE_COMPILE_NOTICE"] = "0"  # earlier compilations are not reproducible
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", type=Path, nargs="+")
    for path in parser.parse_args().notebooks:
        run_and_save(path.resolve())
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
