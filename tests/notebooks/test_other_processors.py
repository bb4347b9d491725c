"""Outputs of tutorials on other processors, on which BLAS adds up matrix products in other orders."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from jupyter_core.utils import run_sync
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))

# Run in the kernel before the first cell. Exact sums stay exact in any order; rounded ones differ 16 times
# as much as it would from one order to another, so that a number near the edge of its last printed digit is seen.
OTHER_ORDER = """
def _reorder(matmul):
    import numpy as np

    def reordered(a, b, **options):
        made = matmul(a, b, **options)
        a, b = np.asarray(a), np.asarray(b)
        if made.dtype.kind == "f" and a.ndim > 1 and b.ndim > 1:
            order = np.random.default_rng(a.shape[-1]).permutation(a.shape[-1])  # the same for the same call
            with np.errstate(all="ignore"):
                rounded = matmul(a[..., order], b[..., order, :]) - made
                np.add(made, 16 * rounded, out=made, where=np.isfinite(rounded))
        return made

    np.matmul = reordered

_reorder(__import__("numpy").matmul)
del _reorder
"""


def texts_of(outputs: list[nbformat.NotebookNode]) -> dict[str, str]:
    """Return a cell's output by kind, as nbval compares it."""
    results: dict[str, str] = {}
    for output in outputs:
        pieces = {output.name: output.text} if output.output_type == "stream" else output.get("data", {})
        for kind, text in pieces.items():
            if not kind.startswith("application/vnd.jupyter.widget-view"):
                results[kind] = results.get(kind, "") + str(text)
    return results


@pytest.mark.ci_only
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_another_order_of_summation_prints_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOKSCOPE_COMPILE_NOTICE", "0")
    saved = nbformat.read(path, as_version=4)
    again = nbformat.read(path, as_version=4)
    client = NotebookClient(
        again,
        kernel_name="hookscope",
        timeout=240,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.parent)}},
    )
    with client.setup_kernel():
        run_sync(client.kc.execute_interactive)(OTHER_ORDER, store_history=False)
        for index, cell in enumerate(again.cells):
            client.execute_cell(cell, index)
    for before, after in zip(saved.cells, again.cells, strict=True):
        if before.cell_type == "code" and "nbval-ignore-output" not in before.metadata.get("tags", []):
            assert texts_of(after.outputs) == texts_of(before.outputs), before.source
