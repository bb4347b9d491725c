"""Two answers side by side: error or not, structure, dtypes, shapes, values to a rounding, gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.differential.talking import array_of

# By the dtype of the reference: how far apart, beside the number itself and the largest of its tensor.
CLOSE = {"Float16": 4e-3, "BFloat16": 3e-2, "Float32": 2e-5, "Complex64": 2e-5, "Float64": 1e-6, "Complex128": 1e-6}
# What MindSpore says where a CPU has no kernel: nothing to compare with.
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
    """What was found: its kind, "same" among them, where, and how far apart beside the larger of 1 and the largest."""

    kind: str
    text: str = ""
    apart: float = np.inf

    @property
    def same(self) -> bool:
        return self.kind in ("same", "refused by both", "no kernel there", "no such name", "breaks there")


def compare(reference: dict[str, Any], answer: dict[str, Any]) -> Difference:
    """How an answer of ``server.py`` differs from the reference's."""
    if reference.get("error") in ("crash", "hangs"):
        return Difference("breaks there")
    if "error" in reference and any(words in reference["text"] for words in NO_KERNEL):
        return Difference("no kernel there")
    if "has no attribute" in answer.get("text", "") or "is not covered" in answer.get("text", ""):
        return Difference("no such name")
    if "error" in reference or "error" in answer:
        return _errors(_error(reference), _error(answer))
    found = _values(reference["result"], answer["result"], "")
    if found is not None:
        return found
    one, other = reference.get("gradient error"), answer.get("gradient error")
    if one is not None:
        no_kernel = any(words in one[1] for words in NO_KERNEL)
        return Difference("same" if no_kernel or other is not None else "gradient error there only", str(one))
    if other is not None:
        return Difference("gradient error here only", str(other))
    if "gradients" in reference and "gradients" in answer:
        found = _values(reference["gradients"], answer["gradients"], "gradient ")
    return found or Difference("same")


def _error(answer: dict[str, Any]) -> list[str] | None:
    return [answer["error"], answer["text"]] if "error" in answer else None


def _errors(one: list[str] | None, other: list[str] | None) -> Difference:
    if one is None or other is None:
        return Difference("error there only" if other is None else "error here only", str(one or other))
    # Some of MindSpore's checks are made in C++, which raises RuntimeError for all.
    if one[0] in (other[0], "RuntimeError"):
        return Difference("refused by both")
    return Difference("class of error", f"{one} there, {other} here")


def _values(reference: Any, answer: Any, what: str, where: str = "") -> Difference | None:
    if isinstance(reference, list) and len(reference) == 1 and not isinstance(answer, list):
        reference = reference[0]
    if isinstance(reference, list) or isinstance(answer, list):
        apart = Difference(f"{what}structure", f"{where} {_shape(reference)} there, {_shape(answer)} here")
        if not isinstance(reference, list) or not isinstance(answer, list):
            return apart
        pairs = zip(reference, answer, strict=False)
        parts = (_values(one, other, what, f"{where}[{i}]") for i, (one, other) in enumerate(pairs))
        found = next((found for found in parts if found is not None), None)
        return apart if found is None and len(reference) != len(answer) else found
    if "value" in reference or "value" in answer:
        one, other = reference.get("value", "a Tensor"), answer.get("value", "a Tensor")
        same = one == other or (isinstance(one, float) and isinstance(other, float) and _close(one, other, 1e-6))
        return None if same else Difference(f"{what}value", f"{where} {one} there, {other} here")
    for name in ("dtype", "shape"):
        if reference[name] != answer[name]:
            return Difference(f"{what}{name}", f"{where} {reference[name]} there, {answer[name]} here")
    one, other = array_of(reference), array_of(answer)
    apart = ~_close(one, other, CLOSE.get(reference["dtype"], 0.0))
    if not apart.any():
        return None
    place = tuple(int(i) for i in np.argwhere(apart)[0]) if one.ndim else ()
    kind = "NaN or infinity" if not (np.isfinite(one[place]) and np.isfinite(other[place])) else "numbers"
    number = f"{where} {int(apart.sum())} of {apart.size}, at {list(place)} {one[place]} there, {other[place]} here"
    if kind == "NaN or infinity" or one.dtype.kind not in "fc":
        return Difference(f"{what}{kind}", number)
    both = apart & np.isfinite(one) & np.isfinite(other)
    largest = np.abs(one[np.isfinite(one)]).max(initial=1.0)
    far = float(np.abs(one[both] - other[both]).max() / largest) if (both == apart).all() else np.inf
    return Difference(f"{what}{kind}", number, far)


def _close(one: Any, other: Any, tolerance: float) -> Any:
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype.kind not in "fc":
        return one == other
    with np.errstate(all="ignore"):
        sizes = np.abs(one)[np.isfinite(one)]
        allowed = tolerance * (np.abs(one) + 0.1 * (sizes.max() if sizes.size else 0.0))
        return (one == other) | (np.isnan(one) & np.isnan(other)) | (np.abs(one - other) <= allowed)


def _shape(told: Any) -> str:
    return f"{len(told)} results" if isinstance(told, list) else "one result"
