"""What differs from MindSpore and is right: rows of group, condition and reason, as docs/differences.md tells users."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.differential.cases import Case
from tests.differential.comparing import Difference

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
    return any(re.search(r"return ([\[{]|\(v\d+, \()", text) for text in hooked_cells(case.source, "backward"))


def recomputed(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """A cell is recomputed."""
    return "self.recompute()" in case.source


def called_twice(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """A cell, or one that it is part of, is called twice within another."""
    constructs = case.source.split("def construct")
    return any(len(set(calls)) < len(calls) for calls in (re.findall(r"self\.([abc])\(", one) for one in constructs))


def run_before(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """The network runs after set_grad, and then a gradient of the same call is asked for."""
    return "net.set_grad()" in case.source and "saw('out'" in case.source


# The name is a regular

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
    (r"(?!hooks|bprops|programs).*", only_there, "works here, is refused there"),
)  # fmt: skip


def reason_for(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> str | None:
    """Why a difference is right; None where nothing says so."""
    for pattern, condition, reason in ACCEPTED:
        if re.fullmatch(pattern, case.group) and condition(case, reference, answer, difference):
            return reason
    return None
