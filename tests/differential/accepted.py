"""What differs from MindSpore and is right: rows of group, condition and reason, as docs/differences.md tells users."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.differential.cases import Case
from tests.differential.comparing import Difference, compare

Condition = Callable[[Case, dict[str, Any], dict[str, Any], Difference], bool]


def only_there(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """MindSpore refuses what works here."""
    return difference.kind in ("error there only", "gradient error there only")


def special(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """An input holds NaN or infinity, and numbers differ."""
    return case.holds_special() and "error" not in difference.kind


def always(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    return True


def gradient(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    return difference.kind.startswith("gradient")


def hooked_cells(source: str, hook: str) -> list[str]:
    """The text of the class of each cell, in a program of ``hooks.py``, that has hooks whose kind begins so."""
    classes = {text.partition("(")[0]: text for text in re.split(r"^    class ", source, flags=re.MULTILINE)[1:]}
    found = []

    def look(name: str, path: str) -> None:
        if f"{path}.register_{hook}" in source:
            found.append(classes[name])
        for child, made in re.findall(r"self\.(\w) = (C\d+)\(\)", classes[name]):
            look(made, f"{path}.{child}")

    for root in re.findall(r"^    net = (\w+)\(\)", source, flags=re.MULTILINE):
        look(root, "net")
    return found


def lists_given(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """A cell with backward hooks has tensors inside a list, a dictionary or an inner tuple as output."""
    return any(re.search(r"return ([\[{]|\(\w+, \()", text) for text in hooked_cells(case.source, "backward"))


def recomputed(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """A cell is recomputed."""
    return ".recompute()" in case.source


def called_twice(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """A cell, or one that it is part of, is called twice within another."""
    constructs = case.source.split("def construct")
    return any(len(set(calls)) < len(calls) for calls in (re.findall(r"self\.([abc])\(", one) for one in constructs))


def run_before(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """The network runs after set_grad, and then a gradient of the same call is asked for."""
    return "net.set_grad()" in case.source and "saw('out'" in case.source


def labels(answer: dict[str, Any]) -> list[list[str]]:
    """What a program of ``hooks.py`` wrote down: each call's name, then the structures that it saw."""
    return [re.findall(r"^\w+ \d+ [\w.]+|\w+", str(line[0].get("value"))) for line in answer.get("result", [])]


def not_asked(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Weights are not asked for, and what is seen here is what is seen there, or None, or not."""
    asked = re.findall(r"saw\('gradients', .*", case.source)
    every = all("ws" in one for one in asked) and "trainable_params()[:1]" not in case.source
    if every and "requires_grad=False" not in case.source:
        return False
    if difference.kind == "error there only":  # in a hook that is not called here
        return "return value size" in difference.text
    if difference.kind not in ("value", "structure"):
        return False
    there = iter(labels(reference))
    for here in labels(answer):
        for one in there:
            if one[0] == here[0] and len(one) == len(here):
                if any(a != b and b != "None" for a, b in zip(one, here, strict=True)):
                    return False
                break
        else:
            return False
    return True


def same_lines(reference: dict[str, Any], answer: dict[str, Any], kept: Callable[[str], bool]) -> bool:
    """Whether both programs wrote down the same lines, but for some."""
    if "error" in reference or "error" in answer:
        return False
    results = [[line for line in one["result"] if kept(str(line[0].get("value")))] for one in (reference, answer)]
    return compare({"result": results[0]}, {"result": results[1]}).same


def without_a_path(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Hooks of parameters are told of zeros here, and not called there; something is frozen or stopped."""
    severed = "requires_grad=False" in case.source or "stop_gradient" in case.source
    return severed and same_lines(reference, answer, lambda line: not line.startswith("parameter"))


def says(here: str = "", there: str = "") -> Condition:
    """One of both raises an error with a text that fits."""

    def condition(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
        if "error" in reference and "error" in answer:
            return False
        text, pattern = (reference, there) if "error" in reference else (answer, here)
        return bool(pattern) and re.search(pattern, text.get("text", "")) is not None

    return condition


def assigned_to_a_part(
    case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference
) -> bool:
    """MindSpore fails where a part is assigned to."""
    words = "InplaceCopy|Can not modify tensor id|memcpy_s|size of perm|proposed_shape"
    return re.search(words, difference.text) is not None


def rounding(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """The rounding of numbers near 1 that were subtracted; of those in half precision."""
    found = re.search(r"at \[.*\] (\S+) there, (\S+) here", difference.text)
    if found is None or not difference.kind.endswith("numbers"):
        return False
    one, other = complex(found[1]), complex(found[2])
    return abs(one - other) < (4e-3 * max(1.0, abs(one)) if "float16" in case.source else 1e-5)


def not_finite(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """NaN or infinity there, in a place where here is another of these, or a number that it did not spread to."""
    return difference.kind.endswith("NaN or infinity") and re.search("(nan|inf)j? there", difference.text) is not None


def one_axis_more(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """A gradient has an axis of length 1 in front there."""
    return re.search(r"\[1, (.*)\] there, \[\1\] here", difference.text) is not None


def of_second_order(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """A gradient of a gradient, and what differs is only how often a bprop is called."""
    second = re.search(r"saw\('gradients', .*[gG]rad.*[gG]rad", case.source) is not None
    return second and same_lines(reference, answer, lambda line: line.startswith("gradients"))


def unmapped(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """The new axis is the last one, and the function does not use the mapped input."""
    body = case.source.partition("def f(x, y):")[2].partition("return")[0]
    return "(None, 0), -1" in case.source and "y" not in body


def says_there(pattern: str) -> Condition:
    """MindSpore alone refuses it, or its gradient, with a text that fits."""

    def condition(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
        return "error there only" in difference.kind and re.search(pattern, difference.text) is not None

    return condition


def of_a_tuple(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """The gradient by a tuple."""
    return "lambda p: total(p[0]" in case.source and "tuple(tuple()) there" in difference.text


# The name is a regular expression of the whole group.
ACCEPTED: tuple[tuple[str, Condition, str], ...] = (
    (r".*\.(relu|relu6|hardtanh|hardshrink|softplus|threshold|max_pool.*|adaptive_max_pool.*|maximum|minimum|fmax|fmin)",
     special, "NaN stays NaN"),
    (r".*\.(logsumexp|logaddexp|logaddexp2|softmax|log_softmax|softmin|mish|softsign|logsigmoid|leaky_relu)",
     special, "infinity and NaN as the mathematics has them"),
    (r".*\.selu", gradient, "MindSpore's gradient of selu is wrong below 0"),
    (r".*\.(eig|eigvals)", always, "eigenvalues have no order"),
    (r".*\.(svd|qr|geqrf)", always, "vectors have no sign; gradients that MindSpore lacks"),
    (r"hooks", lists_given, "hooks see the gradients of tensors in a list or a dictionary"),
    (r"hooks", called_twice, "the calls of a cell that is called twice are kept apart"),
    (r"hooks", recomputed, "recompute changes nothing of what hooks see"),
    (r"hooks", run_before, "a gradient runs the network, also after set_grad and a call"),
    (r"hooks", not_asked, "what depends only on weights that are not asked for has no gradient"),
    (r"hooks", says(here="must return None, a tensor or a tuple"), "a wrong return of a hook is an error everywhere"),
    (r"hooks", without_a_path, "a parameter's hook is told of zeros wherever the gradient is asked for"),
    (r"bprops", of_a_tuple, "the gradient by a tuple is a tuple of gradients"),
    (r"bprops", says(here="as (tuple|list); it must be"), "a list is no gradient of a tensor"),
    (r"bprops", says(there="Input is not tensor, but gradient is not none|Gradient should be none or tensor"),
     "a gradient of what needs none is left alone; a list of gradients will do"),
    (r"bprops", recomputed, "recompute changes nothing, and follows what is asked for"),
    (r"bprops", says(there="return a wrong number of gradients|expected shape|leaf_node"),
     "a list of gradients will do; those of what is not asked for are left alone"),
    (r"bprops", of_second_order, "a second gradient may pass a bprop, with zeros"),
    (r"bprops\.vmap", unmapped, "an output that no mapped input reaches gets its axis where it is asked for"),
    (r"bprops\..*", only_there, "works here, is refused there"),
    (r"programs", rounding, "a difference of rounding beside numbers near 1"),
    (r"programs", not_finite, "NaN and infinity stay where they came up"),
    (r"programs", one_axis_more, "a gradient has the shape of its tensor"),
    (r"programs", says_there("MatMulExt|data's dim must in"), "works here, is refused there"),
    (r"programs", assigned_to_a_part, "assigning to a part works, also where it is followed"),
    (r"(?!hooks|bprops|programs).*", only_there, "works here, is refused there"),
)  # fmt: skip


def reason_for(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> str | None:
    """Why a difference is right; None where nothing says so."""
    for pattern, condition, reason in ACCEPTED:
        if re.fullmatch(pattern, case.group) and condition(case, reference, answer, difference):
            return reason
    return None
