"""Two answers side by side: error or not, structure, dtypes, shapes, values to a rounding, gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.differential.talking import array_of

# By the dtype of the reference: how far apart, beside the number itself and the largest of its tensor.
CLOSE = {"Float16": 4e-3, "BFloat16": 3e-2, "Float32": 2e-5, "Complex64": 2e-5, "Float64": 1e-6, "Complex128": 1e-6}
# MindSpore's error texts for operators without a CPU kernel, which leave nothing to compare with.
NO_KERNEL = (
    "unregistered",
    "Select CPU operator",
    "Unsupported op",
    "KernelMod Init Failed",
    "not supported on CPU",
    "Create kernelmod",
    "Not found op",
    "should not come here",
    "must be a type of",
    "Unsupported data type",
    "bprop not defined",
    "not support",
    "Unknown Error",
)


@dataclass
class Difference:
    """A difference: its kind (also "same"), its position, and its size relative to the larger of 1 and the largest."""

    kind: str
    text: str = ""
    apart: float = np.inf

    @property
    def same(self) -> bool:
        return self.kind in ("same", "refused by both", "no kernel there", "no such name", "breaks there")


def compare(reference: dict[str, Any], answer: dict[str, Any]) -> Difference:
    """Return the difference of an answer of ``server.py`` from the reference's."""
    if reference.get("error") in ("crash", "hangs"):
        return Difference("breaks there")
    if "error" in reference and any(words in reference["text"] for words in NO_KERNEL):
        return Difference("no kernel there")
    if "has no attribute" in answer.get("text", "") or "is not covered" in answer.get("text", ""):
        return Difference("no such name")
    if "error" in reference or "error" in answer:
        return _errors(_error(reference), _error(answer))
    result = _values(reference["result"], answer["result"], "")
    if result is not None:
        return result
    first, second = reference.get("gradient error"), answer.get("gradient error")
    if first is not None:
        no_kernel = any(words in first[1] for words in NO_KERNEL)
        return Difference("same" if no_kernel or second is not None else "gradient error there only", str(first))
    if second is not None:
        return Difference("gradient error here only", str(second))
    if "gradients" in reference and "gradients" in answer:
        result = _values(reference["gradients"], answer["gradients"], "gradient ")
    return result or Difference("same")


def _error(answer: dict[str, Any]) -> list[str] | None:
    return [answer["error"], answer["text"]] if "error" in answer else None


def _errors(item: list[str] | None, other: list[str] | None) -> Difference:
    if item is None or other is None:
        return Difference("error there only" if other is None else "error here only", str(item or other))
    # Some of MindSpore's checks are made in C++, which raises RuntimeError for all.
    if item[0] in (other[0], "RuntimeError"):
        return Difference("refused by both")
    return Difference("class of error", f"{item} there, {other} here")


def _values(reference: Any, answer: Any, what: str, where: str = "") -> Difference | None:
    if isinstance(reference, list) and len(reference) == 1 and not isinstance(answer, list):
        reference = reference[0]
    if isinstance(reference, list) or isinstance(answer, list):
        apart = Difference(f"{what}structure", f"{where} {_shape(reference)} there, {_shape(answer)} here")
        if not isinstance(reference, list) or not isinstance(answer, list):
            return apart
        pairs = zip(reference, answer, strict=False)
        parts = (_values(item, second, what, f"{where}[{i}]") for i, (item, second) in enumerate(pairs))
        result = next((difference for difference in parts if difference is not None), None)
        return apart if result is None and len(reference) != len(answer) else result
    if "value" in reference or "value" in answer:
        first, second = reference.get("value", "a Tensor"), answer.get("value", "a Tensor")
        same = first == second or (
            isinstance(first, float) and isinstance(second, float) and _close(first, second, 1e-6)
        )
        return None if same else Difference(f"{what}value", f"{where} {first} there, {second} here")
    for name in ("dtype", "shape"):
        if reference[name] != answer[name]:
            return Difference(f"{what}{name}", f"{where} {reference[name]} there, {answer[name]} here")
    first, second = array_of(reference), array_of(answer)
    apart = ~_close(first, second, CLOSE.get(reference["dtype"], 0.0))
    if not apart.any():
        return None
    index = tuple(int(i) for i in np.argwhere(apart)[0]) if first.ndim else ()
    kind = "NaN or infinity" if not (np.isfinite(first[index]) and np.isfinite(second[index])) else "numbers"
    number = f"{where} {int(apart.sum())} of {apart.size}, at {list(index)} {first[index]} there, {second[index]} here"
    if kind == "NaN or infinity" or first.dtype.kind not in "fc":
        return Difference(f"{what}{kind}", number)
    both = apart & np.isfinite(first) & np.isfinite(second)
    largest = np.abs(first[np.isfinite(first)]).max(initial=1.0)
    far = float(np.abs(first[both] - second[both]).max() / largest) if (both == apart).all() else np.inf
    return Difference(f"{what}{kind}", number, far)


def _close(item: Any, other: Any, tolerance: float) -> Any:
    item, other = np.asarray(item), np.asarray(other)
    if item.dtype.kind not in "fc":
        return item == other
    with np.errstate(all="ignore"):
        sizes = np.abs(item)[np.isfinite(item)]
        allowed = tolerance * (np.abs(item) + 0.1 * (sizes.max() if sizes.size else 0.0))
        return (item == other) | (np.isnan(item) & np.isnan(other)) | (np.abs(item - other) <= allowed)


def _shape(description: Any) -> str:
    return f"{len(description)} results" if isinstance(description, list) else "one result"
