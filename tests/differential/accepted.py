"""Accepted differences from MindSpore: rows of group, condition and reason, as docs/differences.md documents them."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tests.differential.cases import Case
from tests.differential.comparing import Difference, compare
from tests.differential.talking import Package, array_of

Condition = Callable[[Case, dict[str, Any], dict[str, Any], Difference], bool]


def only_there(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether MindSpore refuses what works here."""
    return difference.kind in ("error there only", "gradient error there only")


def special(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether an input holds NaN or infinity, and numbers differ."""
    return case.holds_special() and "error" not in difference.kind


def always(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    return True


def gradient(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    return difference.kind.startswith("gradient")


def classes_in(source: str) -> dict[str, str]:
    """Return the text of each class in a program of ``hooks.py``."""
    return {text.partition("(")[0]: text for text in re.split(r"^    class ", source, flags=re.MULTILINE)[1:]}


def cells_in(source: str) -> list[tuple[str, str]]:
    """Return the class and the path of each cell, in a program of ``hooks.py``."""
    classes, results = classes_in(source), []

    def look(name: str, path: str) -> None:
        results.append((name, path))
        for child, kind in re.findall(r"self\.(\w) = (C\d+)\(\)", classes[name]):
            look(kind, f"{path}.{child}")

    for root in re.findall(r"^    net = (\w+)\(\)", source, flags=re.MULTILINE):
        look(root, "net")
    return results


def called_twice(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether backward hooks of a cell called twice get ``(None,)`` here and are called less often there."""
    none = re.compile(r"backward .* tuple\(tuple\(None\), ")
    present = {line.partition(" tuple")[0] for line in lines_of(answer) if none.match(line)}
    apart = {line for line in present if line.rpartition(" ")[2] in paths_called_twice(case.source)}
    if not apart or not lines_of(reference):
        return False
    # A hook's result for one call counts there for another, so only the structures can be compared.
    changing = any(re.search(rf"hook\('{item}', '(changed|bare)'", case.source) for item in apart)
    results = [
        {
            "result": [
                line[:1] if changing else line
                for line, text in zip(variant["result"], lines_of(variant), strict=True)
                if text.partition(" tuple")[0] not in apart
            ]
        }
        for variant in (reference, answer)
    ]
    return compare(*results).same


def paths_called_twice(source: str) -> list[str]:
    """Return the paths of cells in a program of ``hooks.py`` that a gradient calls twice, and of the cells in them."""
    classes, cells = classes_in(source), {path: name for name, path in cells_in(source)}
    if "forward(y, x)" in source:
        return list(cells)
    twice = [
        path
        for path in cells
        if path != "net" and len(re.findall(rf"self\.{path[-1]}[(,]", classes[cells[path.rpartition(".")[0]]])) > 1
    ]
    return [path for path in cells if any(f"{path}.".startswith(f"{item}.") for item in twice)]


def lines_of(answer: dict[str, Any]) -> list[str]:
    """Return the lines that a program logged, without the tensors."""
    lines = answer.get("result")
    full = isinstance(lines, list) and all(isinstance(line, list) and len(line) == 2 for line in lines)
    return [str(line[0].get("value")) for line in lines] if full else []


def labels(answer: dict[str, Any]) -> list[list[str]]:
    """Return the log of a program of ``hooks.py``: each call's name, then the structures that it saw."""
    return [re.findall(r"^\w+ \d+ [\w.]+|\w+", line) for line in lines_of(answer)]


def not_asked(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether weights are not requested, and hooks see the same here as there, or None, or nothing."""
    requests = re.findall(r"saw\('gradients', .*", case.source)
    every = all("ws" in item for item in requests) and "trainable_params()[:1]" not in case.source
    if every and "requires_grad=False" not in case.source:
        return False
    if difference.kind == "error there only":  # in a hook that is not called here
        return "return value size" in difference.text
    if difference.kind not in ("value", "structure"):
        return False
    return seen_less(reference, answer)


def seen_less(reference: dict[str, Any], answer: dict[str, Any]) -> bool:
    """Return whether hooks see the same here as there, or None, or are not called."""
    remaining = iter(labels(reference))
    for label in labels(answer):
        for item in remaining:
            if item[0] == label[0] and len(item) == len(label):
                if any(a != b and b != "None" for a, b in zip(item, label, strict=True)):
                    return False
                break
        else:
            return False
    return True


def one_node(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether a recomputed cell is differentiated as one node.

    MindSpore does so also without a request for it, Hookscope if a part of it is requested. There, the zeros of a
    parameter that the cell's output does not depend on come from that node; here, they come last.
    """
    if "recompute(" not in case.source or difference.kind not in ("value", "structure"):
        return False
    if not same_lines(reference, answer, lambda line: line.startswith(("gradients", "out"))):
        return False
    zeros_there, reference = split_zeros(reference)
    zeros_here, answer = split_zeros(answer)
    if sorted(zeros_there) != sorted(zeros_here):
        return False
    return seen_less(reference, answer) or seen_less(answer, reference)


def split_zeros(answer: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return the lines of parameters' hooks that saw zeros, and the answer without them."""
    zeros, others = [], []
    for line, text in zip(answer["result"], lines_of(answer), strict=True):
        if text.startswith("parameter") and not any(array_of(value).any() for value in line[1]):
            zeros.append(text)
        else:
            others.append(line)
    return zeros, {"result": others}


def same_lines(reference: dict[str, Any], answer: dict[str, Any], kept: Callable[[str], bool]) -> bool:
    """Return whether both programs logged the same lines, except for some."""
    if "error" in reference or "error" in answer:
        return False
    if not (lines_of(reference) and lines_of(answer)):
        return False
    results = [
        [line for line, text in zip(variant["result"], lines_of(variant), strict=True) if kept(text)]
        for variant in (reference, answer)
    ]
    return compare({"result": results[0]}, {"result": results[1]}).same


def without_a_path(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether hooks of parameters get zeros here and are not called there, as something is frozen or stopped."""
    severed = "requires_grad=False" in case.source or "stop_gradient" in case.source
    return severed and same_lines(reference, answer, lambda line: not line.startswith("parameter"))


def raises(here: str = "", there: str = "") -> Condition:
    """Return whether one of both raises an error with a text that fits."""

    def condition(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
        if "error" in reference and "error" in answer:
            return False
        text, pattern = (reference, there) if "error" in reference else (answer, here)
        return bool(pattern) and re.search(pattern, text.get("text", "")) is not None

    return condition


def assigned_to_a_part(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether MindSpore fails at an assignment to a part."""
    words = "InplaceCopy|Can not modify tensor id|memcpy_s|size of perm|proposed_shape|StridedSliceGrad|'TensorScatter"
    return re.search(words, difference.text) is not None


def nearly_zero(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether the difference is the rounding of numbers near 1 that were subtracted, also in half precision."""
    match = re.search(r"at \[.*\] (\S+) there, (\S+) here", difference.text)
    if match is None or not difference.kind.endswith("numbers"):
        return False
    first, second = complex(match[1]), complex(match[2])
    return abs(first - second) < (4e-3 * max(1.0, abs(first)) if "float16" in case.source else 1e-5)


def cancels(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether it is a gradient of nearly 0 on both sides, as of a quotient of a number by itself."""
    match = re.search(r"at \[.*\] (\S+) there, (\S+) here", difference.text)
    if match is None or difference.kind != "gradient numbers":
        return False
    return one_sample(case) and max(abs(complex(match[1])), abs(complex(match[2]))) < 1e-5


def within_a_millionth(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether the first numbers that differ do so by less than 1e-6."""
    match = re.search(r"at \[.*\] (\S+) there, (\S+) here", difference.text)
    return match is not None and abs(complex(match[1]) - complex(match[2])) < 1e-6


def one_sample(case: Case) -> bool:
    """Return whether the first input is one number or one row."""
    return bool(case.inputs) and (case.inputs[0].size == 1 or case.inputs[0].shape[0] == 1)


def not_finite(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether NaN or infinity there is another of these here, or a number that it did not spread to."""
    return difference.kind.endswith("NaN or infinity") and re.search("(nan|inf)j? there", difference.text) is not None


def kept_nan(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether NaN enters an operator that loses it there."""
    losing = re.search(r"(maximum|minimum|relu|clamp|amax|amin|\.max|\.min)\(", case.source) is not None
    return losing and "NaN or infinity" in difference.kind and " there, nan here" in difference.text


def through_select(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether a gradient passes ``Tensor.select``, which is wrong there or fails for views."""
    return difference.kind == "gradient numbers" and ".select(" in case.source


def one_axis_more(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether a gradient has an axis of length 1 in front there, or the gradient of a split fails by it."""
    if re.search(r"\[1, (.*)\] there, \[\1\] here", difference.text):
        return True
    assigned = re.search(r"^ +\w+\[-?\d+, .*\] = ", case.source, re.MULTILINE) is not None
    is_split = re.search(r"\b(split|chunk)\(", case.source) is not None
    return assigned and is_split and "Concat], element rank must be same" in difference.text


def of_second_order(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether it is a gradient of a gradient and only the number of calls of a bprop differs."""
    second = re.search(r"saw\('gradients', .*[gG]rad.*[gG]rad", case.source) is not None
    return second and same_lines(reference, answer, lambda line: line.startswith("gradients"))


def no_tangents(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether a function of several outputs lacks tangents there, as it does without compilation."""
    return ", tuple())) there" in difference.text


def unmapped(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether the new axis is the last one, and the function does not use the mapped input."""
    body = case.source.partition("def f(x, y):")[2].partition("return")[0]
    return "(None, 0), -1" in case.source and "y" not in body


def says_there(pattern: str) -> Condition:
    """Return whether MindSpore alone refuses it, or its gradient, with a text that fits."""

    def condition(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
        return "error there only" in difference.kind and re.search(pattern, difference.text) is not None

    return condition


def of_a_tuple(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether it is the gradient by a tuple."""
    return "lambda p: total(p[0]" in case.source and "tuple(tuple()) there" in difference.text


def more_state(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether only the optimizer has more parameters of its own here."""
    return difference.kind in ("structure", "value") and difference.text.startswith("[2]")


def rounding(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether the difference is that of a few roundings in float32."""
    return difference.apart < 3e-5


def half(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether the difference is that of a few roundings in the half precision of the case."""
    texts = [*case.dtypes, case.source]
    allowed = (
        5e-2 if any("bfloat16" in text for text in texts) else 5e-3 if any("float16" in text for text in texts) else 0
    )
    return difference.apart < allowed


def small(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether the difference is less than 1e-5 beside 1, in half precision 0.02."""
    return difference.apart < (2e-2 if "float16" in case.dtypes else 1e-5)


def coarse(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether the difference is the error of MindSpore's tanh."""
    return difference.apart < 1e-3


def enlarged(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether the difference is MindSpore's tanh's error, or a rounding that Adam divides by its own size."""
    larger = re.search("tanh|Adam", case.source, re.IGNORECASE) is not None
    return larger and "numbers" in difference.kind and difference.apart < 1e-3


def is_lost(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether NaN goes in and comes out here, but a number there."""
    return case.holds_special() and re.search(r" there, \(?nan", difference.text) is not None


def empty(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether an input has no elements."""
    return any(x.size == 0 for x in case.inputs)


def subnormal(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether an input holds numbers so small that some processors can round them to 0."""
    floats = [x for x in case.inputs if x.dtype.kind == "f"]
    return any(((x != 0) & (np.abs(x) < np.finfo(x.dtype).tiny)).any() for x in floats)


def without_axes(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether a dtype differs because a tensor without axes meets a Python number."""
    return difference.kind == "dtype" and bool(case.inputs) and all(x.ndim == 0 for x in case.inputs)


def error(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether an argument is refused here that MindSpore's reference does not allow."""
    return difference.kind == "error here only"


def bounds_out_of_order(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    index = 0 if case.group.endswith("searchsorted") else 1
    bounds = case.inputs[index] if index < len(case.inputs) else np.array([])  # not where a list was given
    with np.errstate(invalid="ignore"):
        return not bool((np.diff(bounds, axis=-1) >= 0).all()) if bounds.ndim else False


def shapes_differ(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    return len({x.shape for x in case.inputs}) > 1


def one_element(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    return all(x.size == 1 for x in case.inputs)


def rough(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether numbers of a matrix drawn at random are apart."""
    return difference.kind == "numbers"


def special_or_below_zero(
    case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference
) -> bool:
    return "error" not in difference.kind and any((x <= 0).any() or not np.isfinite(x).all() for x in case.inputs)


def says(pattern: str) -> Condition:
    """Return whether the source of the case matches this regular expression."""
    return lambda case, reference, answer, difference: re.search(pattern, case.source) is not None


def integers(case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference) -> bool:
    """Return whether an input holds integers or bools."""
    return any(x.dtype.kind in "iub" for x in case.inputs)


def fractions_of_integers(
    case: Case, reference: dict[str, Any], answer: dict[str, Any], difference: Difference
) -> bool:
    """Return whether integers are multiplied by a fraction, which is truncated there: 0.5 to 0."""
    fraction = re.search(r"\b(alpha|beta)=-?\d*\.\d", case.source) is not None
    return fraction and all(x.dtype.kind in "iub" for x in case.inputs) and difference.kind == "dtype"


def types(*names: str) -> Condition:
    """Return whether an input has one of these dtypes, by MindSpore's name."""
    return lambda case, reference, answer, difference: any(dtype in names for dtype in case.dtypes)


def kinds(*names: str) -> Condition:
    """Return whether the difference is of one of these kinds."""
    return lambda case, reference, answer, difference: difference.kind in names


# The name is a regular expression of the whole group.
ACCEPTED: tuple[tuple[str, Condition, str], ...] = (
    (
        r".*\.(relu|relu6|hardtanh|hardshrink|softplus|threshold|max_pool.*|adaptive_max_pool.*|maximum|minimum|fmax|"
        r"fmin)",
        special,
        "NaN stays NaN",
    ),
    (
        r".*\.(logsumexp|logaddexp|logaddexp2|softmax|log_softmax|softmin|mish|softsign|logsigmoid|leaky_relu)",
        special,
        "infinity and NaN as the mathematics has them",
    ),
    (r".*\.selu", gradient, "MindSpore's gradient of selu is wrong below 0"),
    (
        r".*\.(tanh|tanhshrink|mish|gelu|fast_gelu|TransformerDecoder.*|FastGelu|Tanh|Tanhshrink|Mish|GELU|RNNCell|"
        r"GRUCell|"
        r"LSTMCell|RNN|GRU|LSTM)",
        coarse,
        "MindSpore's tanh is 1e-4 off on a CPU",
    ),
    (r".*", half, "a rounding in half precision"),
    (r".*", is_lost, "NaN stays NaN"),
    (
        r".*\.(reduce_.*|mean|sum|kron|add|sub|mul|div|prod|var|std)",
        empty,
        "arbitrary numbers come of no elements there",
    ),
    (r"ops\.(bessel_[yk].*)", special_or_below_zero, "is not defined below 0: NaN, not infinity"),
    (
        r".*\.(floor_div.*|floordiv|div|divide|tensor_div|true_divide|truncate_.*|tensor_mod|remainder|floor_mod|mod|fmod|"
        r"floormod|tensor_floordiv|scalar_.*)",
        integers,
        "division of integers by 0; exact quotients",
    ),
    (
        r".*\.(floor_div.*|floordiv|tensor_floordiv|tensor_mod|remainder|floor_mod|floormod|mod|fmod|div|divide|tensor_div|"
        r"true_divide)",
        special,
        "by infinity and by -0",
    ),
    (
        r"ops\.(tensor_pow|pow|pows|scalar_pow)|Tensor\.pow|mint\.pow",
        integers,
        "powers of integers wrap around, or are 0",
    ),
    (r".*\.zeta", gradient, "MindSpore's gradient of zeta by its first argument is 0"),
    (
        r".*\.(inplace_update|index_fill|scatter_max|scatter_min|scatter_update|scatter_mul|scatter_div)",
        gradient,
        "MindSpore's gradient leaves out what was replaced, or counts it still",
    ),
    (r".*\.(cumprod)", gradient, "by the product of the others, not by a quotient"),
    (
        r".*\.(real|trace|imag|conj|var|std|var_mean|std_mean)",
        kinds("gradient dtype", "gradient shape"),
        "the gradient of an input has its dtype and shape",
    ),
    (r".*\.(std|var|std_mean|var_mean)", integers, "about the mean with its fraction"),
    (
        r".*\.(std|var|std_mean|var_mean)",
        kinds("NaN or infinity", "numbers"),
        "divided by a negative number of freedoms",
    ),
    (r".*\.(selu|leaky_relu|hardsigmoid|hardswish)", integers, "of integers in Float32, not cut off"),
    (r".*\.(signbit|nonzero|count_nonzero|log1p)", special, "-0 has a sign, NaN is not 0, what is small is not 0"),
    (r".*\.(bool|nonzero|count_nonzero)", types("complex64"), "an imaginary part is not 0"),
    (r".*\.sinc", types("bool"), "sinc of 0 is 1"),
    (r".*\.tanhshrink", integers, "MindSpore's tanh is 1e-4 off on a CPU"),
    (r".*\.(nansum|nanmean)", kinds("dtype"), "in the dtype that sum has"),
    (r".*\.(nansum|nanmean)", special, "infinity as an integer"),
    (r".*\.(bucketize|searchsorted)", bounds_out_of_order, "bounds that do not rise"),
    (r".*\.(matrix_norm|vector_norm|norm|multilabel_soft_margin_loss)", types("complex64"), "by their sizes"),
    (r".*\.(vector_norm|norm)", says("dtype=ms.int"), "a gradient through integers is 0"),
    (r".*\.norm", kinds("value"), "the norm, not None"),
    (r".*\.(f?fft.*|ifft.*|rfft.*|irfft.*|hfft.*|ihfft.*)", special, "infinity times a complex number"),
    (
        r".*\.(topk|top_k|sort|argsort|msort|argmax|argmin|max|min|amax|amin|aminmax|ptp|median)",
        special,
        "NaN is the largest and stays",
    ),
    (r".*\.topk", says("sorted=False|topk.*False\\)"), "in no order"),
    (r".*\.(bessel_i1)", gradient, "the slope at 0 is 1/2"),
    (r".*\.cholesky_inverse", rough, "a rounding of a matrix near to a singular one"),
    (r".*\.cosine_similarity", shapes_differ, "the two broadcast first"),
    (r".*\.softmax", kinds("dtype"), "an integer dtype is of no use for it"),
    (r".*\.(exp2)", kinds("dtype"), "bfloat16 stays bfloat16"),
    (r".*\.(full|full_like)", kinds("dtype"), "the dtype of the value"),
    (r".*\.(i0|logit|arccosh|acosh|lerp|unique_with_pad)", special, "infinity as the mathematics has it"),
    (r"nn\.LSTM", gradient, "0 in Float64 there"),
    (
        r".*\.(BatchNorm.*|DenseBnAct|TransformerEncoder.*|MultiheadAttention|LayerNorm|GroupNorm|LGamma|KLDivLoss|FocalLoss|"
        r"TripletMargin.*|LBeta)",
        small,
        "a rounding of what nearly cancels",
    ),
    (r".*\.(BCELoss)", says("weight="), "MindSpore reads past the end of a weight for each class"),
    (
        r".*\.(PReLUExt|reduce_max|reduce_min|bessel_i0|argwhere|log_matrix_determinant|xlogy)",
        special,
        "NaN stays in its place",
    ),
    (r".*\.(xlogy)", kinds("NaN or infinity"), "0 where the factor is 0"),
    (r".*\.tensor_scatter_div", integers, "division of integers by 0; exact quotients"),
    (r".*\.(abs|logsigmoid)", types("complex64"), "by their sizes"),
    (r".*\.matrix_solve", kinds("gradient dtype"), "the gradient of an input has its dtype and shape"),
    (r"Tensor\.choose", kinds("numbers"), "as in NumPy"),
    (r".*\.tensor_scatter_mul", gradient, "the product rule where updates meet"),
    (r"ops\.trapz", kinds("dtype"), "Float64, BFloat16 and complex numbers stay what they are"),
    (r".*\.pinv", says("hermitian=True"), "a matrix that is not"),
    (r".*\.(l1_loss|approximate_equal|multilabel_soft_margin_loss)", types("complex64"), "by their sizes"),
    (r".*\.binary_cross_entropy.*", special, "infinity as the mathematics has it"),
    (r".*\.(.*fft.*)", kinds("gradient dtype"), "the gradient of an input has its dtype and shape"),
    (r".*\.cholesky_inverse", always, "matrices that have no such factor"),
    (r"ops\.(add_flags|is_available)", always, "nothing that computes"),
    (r".*\.(floor_div|floordiv|floor_divide)", types("bool"), "of bools in Int8"),
    (r".*\.(xlogy|xdivy)", kinds("dtype"), "a number on the left takes the tensor's dtype"),
    (r"ops\.range", kinds("dtype"), "of the dtype that comes"),
    (r".*\.addcdiv", kinds("dtype"), "integers by their true quotients"),
    (r"numpy\.linspace", types("uint8"), "as in NumPy"),
    (r".*\.(sub|subtract|sub_|__r?sub__)", types("bool"), "bools have no difference"),
    (r"nn\.Embedding", kinds("dtype"), "of the dtype that is asked for"),
    (r"numpy\.(histogram_bin_edges|fmod)", kinds("numbers"), "as in NumPy"),
    (r"numpy\.polymul", types("complex64"), "as in NumPy"),
    (r"numpy\.zeros_like", kinds("dtype"), "of the dtype that is asked for"),
    (r"numpy\.polyval", kinds("gradient NaN or infinity"), "the slope at 0"),
    (r".*\.nll_loss", special, "a probability that no label picks counts for nothing"),
    (r".*\.nll_loss", gradient, "the slope by the weights as well"),
    (r".*\.lgamma", kinds("numbers", "gradient numbers"), "by SciPy"),
    (r".*\.(nonzero|argwhere)", kinds("shape"), "NaN and the smallest numbers are not zero"),
    (r"ops\.tile", gradient, "no copy, no gradient"),
    (r".*\.clip_by_norm", kinds("dtype", "numbers"), "integers stay; by all elements"),
    (r"ops\.(clip_by_norm|cross_entropy)", cancels, "a rounding of the slope of a number divided by itself"),
    # layers
    (r".*\.KLDivLoss", gradient, "MindSpore has no gradient by the target"),
    (r".*\.SoftmaxCrossEntropyWithLogits", gradient, "by the labels too; labels that do not add up to 1"),
    (r".*\.EmbeddingLookup.*", gradient, "the gradient has the table's shape"),
    (r".*\.EmbeddingLookup", says("max_norm"), "rows by their own lengths"),
    (r".*\.(MultiheadAttention|Transformer.*)", kinds("gradient shape"), "the gradient of an input has its shape"),
    (r".*\.SeLU", gradient, "MindSpore's gradient of SeLU is wrong below 0"),
    (r".*\.(BCELoss|binary_cross_entropy)", one_element, "one number counts once"),
    (r".*\.CTCLoss", gradient, "the slope by log_probs; MindSpore adds exp(log_probs), which log_softmax takes out"),
    (r".*\.(TransformerDecoder.*|Transformer)", gradient, "by central differences, which MindSpore fails"),
    (r".*\.BatchNorm.*", kinds("NaN or infinity"), "a batch of one element has no variance without bias: 0, not NaN"),
    (r".*\.BatchNorm.*", types("float16"), "moving statistics in float16 move"),
    (r".*\.(Reflection|Replication)Pad.*|.*\.TimeDistributed", error, "refused as the reference says"),
    (
        r".*\.(Tril|Triu|CrossEntropyLoss|NLLLoss|SmoothL1Loss|LPPool.*|PReLU|LGamma|DiGamma|Dense|Transformer.*)",
        special,
        "NaN stays in its place",
    ),
    (r".*\.NLLLoss", kinds("gradient NaN or infinity"), "the slope of the mean of nothing"),
    (r"nn\.CTCLoss", says("zero_infinity=True"), "0 in place of infinity"),
    (r"ops\.max_pool3d", types("int8", "int16", "int32", "int64"), "0 there for a window below 0"),
    # optimizers
    (r"mint\.optim\..*", always, "MindSpore's steps do nothing on a CPU, where its in-place operators do nothing"),
    (r"experimental\.optim\.Adam", says("amsgrad=True"), "amsgrad has no effect there"),
    (r"nn\.Adagrad", says("update_slots=False"), "update_slots has no effect there"),
    (r"nn\.Momentum", says("use_nesterov=True"), "Nesterov's form has no effect there"),
    (r"nn\.Adam", says("use_amsgrad=True, use_nesterov=True"), "Nesterov's form has no effect there"),
    (r"nn\.FTRL", says("l1=0.1"), "the published formula"),
    (r"nn\.FTRL", within_a_millionth, "a rounding of the difference of two nearly equal powers"),
    (r"nn\.RMSProp", says("epsilon=0.1"), "epsilon under the root"),
    (r"nn\.AdaFactor", says("loss_scale|compression|beta1=0.0"), "the gradients are divided by it; names of the state"),
    (r".*\.(eig|eigvals)", always, "eigenvalues have no order"),
    (r".*\.(svd|qr|geqrf)", always, "vectors have no sign; gradients that MindSpore lacks"),
    (r"hooks", called_twice, "the calls of a cell that is called twice are kept apart"),
    (r"experimental\.optim\..*", more_state, "state that MindSpore does not save, or keeps elsewhere"),
    (r".*\.optim\..*|nn\.(Ada.*|LazyAdam|Adam.*|Lamb|RMSProp)", rounding, "a rounding of a step"),
    (
        r".*\.(tuple_to_array|mixed_precision_cast|clip_by_global_norm|accumulate_n|unique_with_pad|choose|t|outer|addr|"
        r"cross_entropy|gaussian_nll_loss|index_fill|scatter_.*|scatter|hfft.*|irfft.*|reduce_m.*|unsorted_segment_.*|"
        r"floor_divide|floor_div|floordiv|scalar_.*|sub|subtract|"
        r"addm.*|addn|cross|frac|pinv)",
        error,
        "refused as the reference says",
    ),
    (r"hooks", one_node, "recompute asks for no other gradients"),
    (r"hooks|cells", raises(there="mutated during iteration"), "a hook may remove itself and others"),
    (r"cells", raises(here="is taken by a cell, which an assignment replaces"), "refused as the Cell page says"),
    (r"hooks", not_asked, "what depends only on weights that are not asked for has no gradient"),
    (r"hooks", raises(here="must return None, a tensor or a tuple"), "a wrong return of a hook is an error everywhere"),
    (r"hooks", without_a_path, "a parameter's hook is told of zeros wherever the gradient is asked for"),
    (r"bprops", of_a_tuple, "the gradient by a tuple is a tuple of gradients"),
    (r"bprops", raises(here="as (tuple|list); it must be"), "a list is not a gradient of a tensor"),
    (
        r"bprops",
        raises(there="Input is not tensor, but gradient is not none|Gradient should be none or tensor"),
        "a gradient of what needs none is left alone; a list of gradients will do",
    ),
    (
        r"bprops",
        raises(there="return a wrong number of gradients|expected shape|leaf_node"),
        "a list of gradients will do; those of what is not asked for are left alone",
    ),
    (r"bprops", of_second_order, "a second gradient may pass a bprop, with zeros"),
    (r"bprops\.jvp", no_tangents, "there are tangents of several outputs"),
    (r"bprops\.vmap", unmapped, "an output that no mapped input reaches gets its axis where it is asked for"),
    (r"bprops\..*", only_there, "works here, is refused there"),
    # calls by forms, and numpy
    (r".*\.cholesky_solve", gradient, "the upper part is not read, and its gradient is 0"),
    (r".*\.(binary_cross_entropy.*|kl_div)", gradient, "by the weights and the target, where MindSpore gives 0"),
    (r"ops\.batch_norm", gradient, "by the running figures too, where MindSpore gives 0"),
    (r"ops\.ctc_loss", gradient, "the slope by log_probs; MindSpore adds exp(log_probs), which log_softmax takes out"),
    (r".*\.tensor_?dot", error, "axes of different lengths are refused"),
    (r"Tensor\.cumsum|numpy\.(nan)?cum(sum|prod)", says("dtype=|ms\\."), "converted before it is added, as documented"),
    (r"(Tensor|ops)\.(max|min)", says("initial="), "initial and where count"),
    (
        r".*\.(trace|norm|matrix_norm|vector_norm|addbmm|cross|arange|tensor_range|unravel_index)",
        kinds("dtype"),
        "dtypes combine as elsewhere",
    ),
    (r".*\.(add|sub|subtract)", types("bool"), "a multiple of bools is Int64"),
    (
        r".*\.(masked_fill|l1_loss|approximate_equal|lu_unpack|mv|bincount|remainder|__r?floordiv__|rfft.*|"
        r"ihfft.*)",
        error,
        "refused as the reference says",
    ),
    (
        r".*\.(log_softmax|softplus|sinc|erfinv|interpolate|geomspace|float_power|softmin|Upsample|Conv2dBnAct|"
        r"exp)",
        small,
        "a rounding; Float64 keeps its digits",
    ),
    (r".*\.erfinv", kinds("numbers", "gradient numbers"), "by SciPy, from which MindSpore is off near 1"),
    (r".*\.(mse_loss|absolute|fabs|sign)", types("complex64", "complex128"), "by their sizes"),
    (r".*\.(var_mean|std_mean|var|std)", kinds("gradient NaN or infinity"), "one element has the slope 0"),
    (r".*\.__pow__", integers, "powers of integers wrap around, or are 0"),
    (r".*\.(linear|dense)", kinds("gradient shape"), "the gradient of an input has its shape"),
    (
        r".*\.(full_like|lerp)",
        kinds("gradient shape", "gradient dtype"),
        "the gradient of an input has its shape and dtype",
    ),
    (r"mint\.polar", shapes_differ, "the two broadcast"),
    (r".*\.nextafter", kinds("numbers"), "the next number"),
    (r".*\.top_k", says("False\\)"), "in no order"),
    (r"ops\.any", integers, "256 is not 0; a Bool"),
    (
        r".*\.(prelu|interpolate|cosine_similarity|mean|fast_gelu|cross_entropy|zeta|trapz|i0|sum|scalar_sub|corrcoef|cov|"
        r"unique)",
        special,
        "NaN and infinity as the mathematics has them",
    ),
    (r".*\.(fmod|remainder|mod)", types("float16", "bfloat16"), "exact"),
    (r"numpy\.(tril|triu)", special, "what is cleared is 0, also where it was NaN"),
    (r"numpy\.(column_stack|dstack|hstack|vstack)", always, "a tensor is the rows that it has, as in NumPy"),
    (r"numpy\.(histogram.*|sign)", gradient, "counts and signs have no slope"),
    (
        r"numpy\.(histogram.*|gcd|lcm|hypot|ceil|fix|mod|divmod|tril|triu|convolve|intersect1d|pad|amin|amax|remainder|nanmax|"
        r"nanmin)",
        error,
        "refused, as in NumPy",
    ),
    (
        r"numpy\.(cov|corrcoef|trapz|average|float_power|fix|ceil|trunc|nanvar|nanstd|divide|true_divide|norm|vander|polyder|"
        r"polyint|tril_indices.*|triu_indices.*|abs|select|maximum|minimum|trace)",
        kinds("dtype"),
        "Float64 and complex numbers keep their digits, means their fraction",
    ),
    (r"numpy\.(polymul|convolve|correlate|select|logspace)", gradient, "by the formula, where MindSpore gives 0"),
    (r"numpy\.(rot90|flip.*|clip)", always, "complex numbers stay so; gradients pass"),
    (
        r"numpy\.(nanvar|nanstd|cbrt|hypot|logspace|cov|corrcoef|true_divide|exp)",
        kinds("numbers", "NaN or infinity", "gradient NaN or infinity"),
        "as NumPy computes",
    ),
    (r"numpy\.(unique|setdiff1d)", always, "in ascending order, as in NumPy"),
    (r"Tensor\.(remainder_|floor_divide_)", integers, "division of integers by 0; exact quotients"),
    (r"numpy\.mean", integers, "about the mean with its fraction"),
    (r"numpy\.unravel_index", kinds("structure"), "a tuple also of one axis"),
    (r"nn\.AvgPool.*", says("divisor_override"), "the divisor counts in the gradient too"),
    (r".*\.(nonzero|heaviside)", subnormal, "what is small is not 0"),
    (
        r".*\.(mul|multiply|div|divide|true_divide|fmod|xlogy|copysign|tensor_mul)",
        without_axes,
        "a Python number leaves a tensor its dtype, with axes and without",
    ),
    (r".*\.(diagflat|diagonal_scatter|log2|bincount|histc)", special, "NaN stays in its place"),
    (r".*\.(interp|mse_loss|__mod__|reciprocal|tanh)", integers, "of integers in Float32, not cut off"),
    (r"numpy\.tanh", says("ms\\.u?int"), "MindSpore's tanh is 1e-4 off on a CPU"),
    (r".*\.bitwise_(left|right)_shift", kinds("numbers"), "by more places than there are bits: nothing is left"),
    (
        r".*\.(bucketize|digitize|geomspace|amax|amin|max|min|dense|multilabel_soft_margin_loss|concatenate)",
        error,
        "refused as the reference says",
    ),
    (r"numpy\.ediff1d", types("complex64", "complex128"), "an imaginary part stays"),
    (r"numpy\.fft\.ihfft.*", kinds("dtype"), "complex numbers, as in NumPy"),
    (r"ops\.hamming_window", kinds("dtype"), "Float32 whatever the length"),
    (r"Tensor\.addr", kinds("dtype"), "dtypes combine as elsewhere"),
    (r"Tensor\.addmv", fractions_of_integers, "a fraction of integers is Float32, not truncated"),
    (r".*\.__r?floordiv__", types("bool"), "of bools in Int8"),
    (r"ops\.strided_slice", gradient, "what is not in the slice has the slope 0"),
    (r".*\.prod", gradient, "by the product of the others, not by a quotient"),
    (r"nn\..*BnAct", coarse, "MindSpore's tanh is 1e-4 off on a CPU"),
    (r".*\.l1_loss", empty, "arbitrary numbers come of no elements there"),
    (r"nn\.CrossEntropyLoss", kinds("gradient NaN or infinity"), "the slope of the mean of nothing"),
    (
        r"nn\.(Mish|MultiLabelSoftMarginLoss|Upsample)|ops\.mish",
        special,
        "NaN and infinity as the mathematics has them",
    ),
    (r"nn\.Conv.d", error, "refused as the reference says"),
    (r"nn\.Dense", says("activation='tanh'"), "MindSpore's tanh is 1e-4 off on a CPU"),
    (r"nn\.LogSoftmax", rounding, "Float64 keeps its digits"),
    (r"mint\.unique_consecutive", says("x0[1:]"), "of a view its own elements"),
    (r"numpy\.fmod", raises(here="do not fit"), "complex numbers have no remainder"),
    (r"numpy\.select", raises(here="at least, but got 0 for 0"), "refused without a condition"),
    (r"numpy\.(diff|cross)", types("complex64", "complex128"), "an imaginary part stays"),
    (r"ops\.(threshold|addmv|addcmul|addr)", kinds("dtype"), "dtypes combine as elsewhere"),
    (
        r"(ops|Tensor)\.(floor_divide|pow)|numpy\.power",
        kinds("numbers"),
        "division of integers by 0; powers are exact or 0",
    ),
    (r"cells", enlarged, "MindSpore's tanh is 1e-4 off on a CPU; Adam makes steps of a rounding"),
    (r"cells", nearly_zero, "a difference of rounding beside numbers near 1"),
    (r"programs", nearly_zero, "a difference of rounding beside numbers near 1"),
    (r"programs", not_finite, "NaN and infinity stay where they came up"),
    (r"programs", kept_nan, "NaN stays NaN"),
    (r"programs", through_select, "the gradient of select by the formula"),
    (r"programs", one_axis_more, "a gradient has the shape of its tensor"),
    (r"programs", says_there("MatMulExt|data's dim must in"), "works here, is refused there"),
    (r"programs", assigned_to_a_part, "assigning to a part works, also where it is followed"),
    (r"(?!hooks|bprops|programs).*", only_there, "works here, is refused there"),
)


def without_lists(case: Case) -> tuple[str, str] | None:
    """Let cells with backward hooks return tuples instead of lists and dictionaries, for MindSpore.

    For both packages, the hooks of cells that have tensors in an inner tuple are removed.
    """
    reference = answer = case.source
    for name, path in cells_in(case.source):
        text = classes_in(case.source)[name]
        if f"{path}.register_backward" not in case.source:
            continue
        if re.search(r"return \(\w+, \(", text):
            pattern = re.compile(rf"^    h\d+ = HANDLES\S+ = {re.escape(path)}\.register_backward.*\n", re.MULTILINE)
            reference, answer = pattern.sub("", reference), pattern.sub("", answer)
        flat = re.sub(r"return \{'p': (\w+), 'q': (\w+)\}|return \[(\w+), (\w+)\]", r"return (\1\3, \2\4)", text)
        reference = reference.replace(text, flat)
        caller, _, child = path.rpartition(".")
        within = [item for item, owner in cells_in(case.source) if owner == caller]
        if "return {" in text and within:
            old = re.search(
                rf"^    class {within[0]}\(.*?(?=^    class |^    net = )", reference, re.MULTILINE | re.DOTALL
            )
            assert old is not None
            reference = reference.replace(old[0], re.sub(rf"(self\.{child}[(,].*\))\['p'\]", r"\1[0]", old[0]))
    if (reference, answer) == (case.source, case.source):
        return None
    removed = set(re.findall(r"^    (h\d+) = ", case.source, re.MULTILINE))
    removed -= set(re.findall(r"^    (h\d+) = ", answer, re.MULTILINE))
    lines = re.compile(r"^ +(h\d+)\.remove\(\)\n", re.MULTILINE)
    reference, answer = (
        lines.sub(lambda m: "" if m[1] in removed else m[0], variant) for variant in (reference, answer)
    )
    return reference, answer


def without_recompute(case: Case) -> tuple[str, str] | None:
    """Remove recomputation from the program for MindSpore."""
    reference = re.sub(r"^ *(self|net\S*)\.recompute\(\)\n", "", case.source, flags=re.MULTILINE)
    reference = re.sub(r"ms\.recompute\(([\w.]+), ", r"\1(", reference)
    return None if reference == case.source else (reference, case.source)


def without_set_grad(case: Case) -> tuple[str, str] | None:
    """Remove ``set_grad`` from the program for MindSpore."""
    if "saw('out'" not in case.source and case.group == "hooks":
        return None
    reference = case.source.replace("    net.set_grad()\n", "")
    return None if reference == case.source else (reference, case.source)


def without_early_tensor_hooks(case: Case) -> tuple[str, str] | None:
    """Register no hooks on tensors in calls of the network outside of a gradient, for both packages."""
    call = "    saw('out', net(*xs))\n"
    if call not in case.source or "            watch(" not in case.source:
        return None
    without = re.sub(
        r"^(def watch\(.*\n)", r"OUTSIDE = []\n\n\1    if OUTSIDE:\n        return\n", case.source, flags=re.M
    )
    without = without.replace(call, f"    OUTSIDE.append(True)\n{call}    OUTSIDE.clear()\n")
    return without, without


def without_ids(case: Case) -> tuple[str, str] | None:
    """Remove the numbers of inputs from gradients, for both packages."""
    without = case.source.replace(", return_ids=True", "")
    return None if without == case.source else (without, without)


def all_needed(case: Case) -> tuple[str, str] | None:
    """Request every gradient in the program for Hookscope, too."""
    answer = re.sub(r"ctx\.needs_input_grad\[\d\]", "True", case.source)
    return None if answer == case.source else (case.source, answer)


class Otherwise(NamedTuple):
    """An error of MindSpore that depends on one feature of a program.

    Attributes:
        group: a regular expression of the whole group.
        change: the sources of two programs, for MindSpore and for here, that must do the same; None where this does not
            concern the case.
        selection: a function from the logged lines to the compared ones, in their order.
        reason: why that is right.
    """

    group: str
    change: Callable[[Case], tuple[str, str] | None]
    selection: Callable[[list[Any]], list[Any]]
    reason: str


def behind(lines: list[Any]) -> list[Any]:
    """Return the lines without those of forward hooks, and those of parameters at the end.

    Forward hooks inside a recomputed cell are called twice, and see lists unchanged. The position of a parameter's hook
    is where the gradient of the complete cell is known.
    """
    texts = [(str(line[0].get("value")), index) for index, line in enumerate(lines)]
    first = [lines[index] for text, index in texts if not text.startswith(("forward", "parameter"))]
    return first + [lines[index] for text, index in sorted(texts) if text.startswith("parameter")]


OTHERWISE = (
    Otherwise(r"hooks", without_lists, behind, "hooks see the gradients of tensors in a list or a dictionary"),
    Otherwise(r"hooks|cells", without_recompute, behind, "recompute changes nothing of what backward hooks see"),
    Otherwise(r"bprops", without_recompute, list, "recompute changes nothing"),
    Otherwise(
        r"hooks",
        without_early_tensor_hooks,
        list,
        "outside of a gradient a cell with backward hooks passes on the very tensor, which may have a hook",
    ),
    Otherwise(r"hooks", without_ids, list, "each gradient with its own number, also beside no weights"),
    Otherwise(r"bprops", all_needed, list, "needs_input_grad tells what is asked for"),
    Otherwise(r"hooks", without_set_grad, list, "a gradient runs the network, also after set_grad and a call"),
)


def in_float64(case: Case) -> Case:
    """Return the program with Float64 in place of Float32, also of its inputs."""
    names = ", ".join(f"x{index}" for index, dtype in enumerate(case.dtypes) if dtype == "float32")
    source = case.source.replace("float32", "float64")
    start = re.search(r"^def run\(.*\):\n", source, re.MULTILINE)
    assert start is not None and names
    cast = f"    {names}, = [x.astype(ms.float64) for x in ({names},)]\n"
    return replace(case, source=source[: start.end()] + cast + source[start.end() :])


def in_float32(answer: Any) -> Any:
    """Return an answer with its Float64 tensors rounded to Float32."""
    if isinstance(answer, list):
        return [in_float32(item) for item in answer]
    if not isinstance(answer, dict):
        return answer
    if answer.get("dtype") != "Float64":
        return {name: in_float32(item) for name, item in answer.items()}
    array = array_of(answer).astype(np.float32)
    return answer | {"dtype": "Float32", "numpy": array.dtype.str, "data": base64.b64encode(array.tobytes()).decode()}


def is_enlarged_rounding(
    case: Case, answer: dict[str, Any], difference: Difference, mindspore: Package, hookscope: Package
) -> bool:
    """Return whether a program enlarges its roundings to a small difference.

    In Float64 both packages must agree, or Float64 must move the result here at least half as far. The second is for
    gradients that MindSpore computes in Float32 also of Float64, such as that of ``hypot``.
    """
    if case.group not in ("programs", "hooks") or difference.apart >= 1e-4:
        return False
    exact = in_float64(case)
    answer_in_float64 = hookscope.run(exact)
    if compare(mindspore.run(exact), answer_in_float64).kind == "same":
        return True
    own = compare(in_float32(answer_in_float64), answer)
    return own.kind == difference.kind and 0.5 * difference.apart <= own.apart < np.inf


def reason_for(
    case: Case,
    reference: dict[str, Any],
    answer: dict[str, Any],
    difference: Difference,
    mindspore: Package | None = None,
    hookscope: Package | None = None,
) -> str | None:
    """Return the reason of an accepted difference; None if there is none.

    With the two packages, their agreement on the program without MindSpore's error (``OTHERWISE``) is a reason, too.
    """
    for pattern, condition, reason in ACCEPTED:
        if re.fullmatch(pattern, case.group) and condition(case, reference, answer, difference):
            return reason
    if mindspore is None or hookscope is None:
        return None
    if is_enlarged_rounding(case, answer, difference, mindspore, hookscope):
        return "a rounding that the program enlarges"
    there = here = case
    rows = []
    for row in OTHERWISE:
        if not re.fullmatch(row.group, case.group):
            continue
        first, second = row.change(there), row.change(here)
        if first is not None and second is not None:
            there, here = replace(there, source=first[0]), replace(here, source=second[1])
            rows.append(row)
    if not rows:
        return None
    reference, answer = mindspore.run(there), hookscope.run(here)
    for variant in (reference, answer):
        for row in rows:
            if lines_of(variant):
                variant["result"] = row.selection(variant["result"])
    again = compare(reference, answer)
    if again.kind == "same" or reason_for(there, reference, answer, again) is not None:
        return "; ".join(row.reason for row in rows)
    return None
