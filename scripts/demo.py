"""`make demo`: run a notebook on the Hookscope kernel without a browser and show the results.

Writes the executed notebook and an HTML page to build/demo. The page contains the panels' static forms and loads
nothing from a server or the network. At the end the outputs of the cells that are tagged "result" are printed.

    python scripts/demo.py notebooks/01_tour.ipynb
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from traitlets.config import Config

from hookscope.engine.base.atomic_write import write_text

ROOT = Path(__file__).resolve().parent.parent

# The static form first, since a widget view needs a running kernel or a script from a CDN.
DISPLAY_PRIORITY = ["text/html", "text/markdown", "image/svg+xml", "image/png", "image/jpeg", "text/plain"]

# JupyterLab's page without its parts from CDNs: RequireJS, jQuery, MathJax, Mermaid, the widget manager.
TEMPLATE = """{%- extends 'lab/index.html.j2' -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
{%- block jupyter_widgets -%}{%- endblock -%}
{%- block footer -%}</html>{%- endblock -%}
"""


def run_notebook(path: Path) -> nbformat.NotebookNode:
    """Run the notebook and return it."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name="hookscope",
        timeout=300,
        extra_arguments=["--log-level=ERROR"],  # ipykernel warns at every start that local TCP is not encrypted
        resources={"metadata": {"path": str(path.parent)}},
    )
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            client.execute_cell(cell, index)
        client.set_widgets_metadata()
    return notebook


def results(notebook: nbformat.NotebookNode) -> str:
    """Return the printed output of the cells with the tag "result"."""
    tagged = [cell for cell in notebook.cells if "result" in cell.metadata.get("tags", ())]
    return "".join(output.text for cell in tagged for output in cell.outputs if output.output_type == "stream")


def html_page(notebook: nbformat.NotebookNode, title: str) -> str:
    """Return one HTML page without external scripts, fonts or styles."""
    settings = Config()
    settings.NbConvertBase.display_data_priority = DISPLAY_PRIORITY
    exporter = HTMLExporter(config=settings, raw_template=TEMPLATE)
    body, _ = exporter.from_notebook_node(notebook, resources={"metadata": {"name": title}})
    return str(body)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "demo", help="default: build/demo")
    options = parser.parse_args()
    if not options.notebook.is_file():
        parser.error(f"there is no notebook {options.notebook}")

    start = time.perf_counter()
    print(f"running {options.notebook} on the Hookscope kernel ...", flush=True)
    try:
        notebook = run_notebook(options.notebook.resolve())
    except CellExecutionError as error:
        print(f"a cell of {options.notebook} failed:\n{error}", file=sys.stderr)
        return 1
    options.output.mkdir(parents=True, exist_ok=True)
    executed = options.output / options.notebook.name
    page = executed.with_suffix(".html")
    write_text(executed, nbformat.writes(notebook).removesuffix("\n") + "\n", "demo")
    write_text(page, html_page(notebook, options.notebook.stem), "demo")

    print(f"\n{results(notebook)}")
    print(f"executed notebook  {executed}")
    print(f"page               {page}   (opens without a server)")
    print(f"done in {time.perf_counter() - start:.1f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
