"""Calls whose arguments must fit together, written as templates: what random arguments by name would hardly ever hit.

A row is names and their arguments; of a method of a Tensor the first argument is the tensor itself. In an argument

    ?            in front: given half of the time
    {N,C,H}      is a tensor, each letter a length of the case; {*} has its shape, {~} one that broadcasts with it
    {N,N:kind}   has values of a kind (`_tensor` below); without one they are ordinary numbers of the case's dtype
    <a|b>        is one of these texts
"""

from __future__ import annotations

import functools
import re

import numpy as np

from tests.differential.cases import Case
from tests.differential.operators import DTYPES, Arguments

BINARY = "add sub mul div floor_divide remainder fmod pow maximum minimum atan2 xlogy logaddexp logaddexp2"
COMPARED = "eq ne lt le gt ge less less_equal greater greater_equal not_equal"
BITS = "bitwise_and bitwise_or bitwise_xor"
LOGICAL = "logical_and logical_or logical_xor"
UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh erf erfc exp expm1 floor frac log log10 log1p log2 neg "
    "reciprocal round rsqrt sigmoid sin sinc sinh sqrt square tan tanh trunc isfinite isinf isneginf logical_not sign"
)
NUMBER = "<0|1|2|-1|3|0.5|-2.5|True|{*}|{~}|{~:other}>"
AXIS = "<0|-1|1|-2>"
AXES = "<0|-1|1|(0, 1)|(-1, 0)|None>"
DTYPE = "dtype=<ms.float32|ms.float16|ms.float64|ms.int32|ms.int64|ms.int8|ms.bool_|ms.complex64|ms.bfloat16>"
FLOAT = "dtype=<ms.float32|ms.float16|ms.float64>"


def named(names: str, *rooms: str) -> str:
    """Return each name in each of the rooms."""
    return " ".join(f"{room}.{name}" for room in rooms for name in names.split())


ROWS: tuple[tuple[str, ...], ...] = (
    # elements
    (named(BINARY, "Tensor", "mint"), "{*}", NUMBER),
    (named(BINARY + " hypot divide subtract multiply true_divide", "ops"), NUMBER, NUMBER),
    ("Tensor.add Tensor.sub Tensor.subtract mint.add mint.sub", "{*}", NUMBER, "?alpha=<2|0|-1|0.5|True>"),
    (named("div divide", "Tensor", "mint", "ops"), "{*}", NUMBER, "rounding_mode=<None|'floor'|'trunc'>"),
    (named(COMPARED + " logical_and logical_or logical_xor", "Tensor", "mint", "ops"), "{*}", NUMBER),
    (named(BITS, "Tensor", "mint", "ops"), "{*:anyint}", "<{~:anyint}|{~:bool}|1|-2|True|3>"),
    ("mint.bitwise_not Tensor.bitwise_not ops.bitwise_not", "{*:anyint}"),
    ("ops.bitwise_left_shift ops.bitwise_right_shift", "{*:anyint}", "<{~:int0-7}|1|2>"),
    (named(UNARY, "Tensor", "mint", "ops"), "{*}"),
    (
        "Tensor.__pow__ Tensor.__rpow__ Tensor.__floordiv__ Tensor.__rfloordiv__ Tensor.__mod__ Tensor.__rmod__ "
        "Tensor.__truediv__ Tensor.__rtruediv__ Tensor.__rsub__ Tensor.__radd__ Tensor.__rmul__",
        "{*}",
        NUMBER,
    ),
    ("Tensor.__and__ Tensor.__or__ Tensor.__xor__", "{*:anyint}", "<{~:anyint}|{~:bool}|1|True>"),
    (
        "Tensor.__matmul__ ops.matmul mint.matmul Tensor.matmul",
        "<{N,K}|{K}|{M,N,K}|{1,N,K}>",
        "<{K,W}|{K}|{M,K,W}|{C,1,K,W}>",
    ),
    (
        "mint.clamp ops.clamp Tensor.clamp Tensor.clip ops.clip",
        "{*}",
        "min=<None|-0.5|0|1|{~}|np.nan>",
        "?max=<None|0.5|1|2|{~}>",
    ),
    ("ops.clip_by_value", "{*}", "<-0.5|0|{~}>", "?<0.5|1|{~}>"),
    ("mint.lerp Tensor.lerp ops.lerp", "{*}", "{~}", "<0.5|0.0|2|{~}>"),
    (
        "mint.addcdiv Tensor.addcdiv ops.addcdiv ops.addcmul Tensor.addcmul",
        "{*}",
        "{~}",
        "{~:positive}",
        "?value=<1|2|-0.5|0>",
    ),
    (
        "Tensor.nan_to_num ops.nan_to_num mint.nan_to_num",
        "{*:special}",
        "?nan=<0.0|1.5|None>",
        "?posinf=<9.0|None>",
        "?neginf=<-9.0|None>",
    ),
    ("ops.digamma ops.lgamma Tensor.digamma Tensor.lgamma", "{*}"),
    ("ops.polygamma", "<0|1|2|3>", "{*:positive}"),
    ("ops.mvlgamma Tensor.mvlgamma", "{*:large}", "<1|2|3>"),
    ("ops.igamma ops.igammac Tensor.igamma Tensor.igammac", "{*:positive}", "{~:positive}"),
    ("ops.where mint.where", "<{*:bool}|{~:bool}>", "<{*}|1|0.5>", "<{~}|2|0.0|{~:other}>"),
    ("Tensor.where", "{*}", "{~:bool}", "<{~}|2.0|0>"),
    (named("masked_fill", "Tensor", "ops"), "{*}", "{~:bool}", "<0|1.5|-1|True|np.nan>"),
    ("Tensor.masked_select ops.masked_select mint.masked_select", "{*}", "<{*:bool}|{~:bool}>"),
    ("Tensor.masked_scatter ops.masked_scatter", "{N,K}", "<{N,K:bool}|{K:bool}>", "{C,N,K}"),
    (
        "Tensor.isclose Tensor.allclose ops.isclose mint.isclose mint.allclose",
        "{*}",
        "{~}",
        "?rtol=<0.1|0.0|1e-5>",
        "?atol=<0.5|0.0>",
        "?equal_nan=<True|False>",
    ),
    ("Tensor.gcd ops.gcd ops.lcm", "{*:int-20-20}", "{~:int-20-20}"),
    ("Tensor.hardshrink ops.hardshrink", "{*}", "?lambd=<0.5|0.0|1.5>"),
    ("mint.nn.functional.gelu", "{*}", "?approximate=<'none'|'tanh'>"),
    ("mint.nn.functional.threshold ops.threshold", "{*}", "<0.1|0|-0.5>", "<20.0|0|-1>"),
    (
        "Tensor.astype Tensor.to ops.cast",
        "{*}",
        "<ms.float32|ms.float16|ms.float64|ms.int32|ms.int64|ms.int8|ms.uint8|ms.int16|ms.bool_|ms.complex64|"
        "ms.bfloat16|ms.uint16|ms.uint32|ms.complex128>",
    ),
    ("Tensor.type_as ops.type_as", "{*}", "{~:other}"),
    # reductions
    ("Tensor.sum ops.sum mint.sum", "{*}", f"?{AXES}", f"?{DTYPE}"),
    ("Tensor.sum", "{*}", "?axis=<0|(0, -1)|()|None>", "?keepdims=<True|False>", "?initial=<2|0.5|None>", f"?{DTYPE}"),
    ("Tensor.mean mint.mean ops.mean", "{*}", f"?{AXES}", "?<True|False>"),
    ("mint.mean mint.sum mint.prod Tensor.mean Tensor.prod", "{*}", f"?{AXIS}", f"{DTYPE}"),
    ("Tensor.prod mint.prod ops.prod", "{*}", "?<0|-1|1>", "?<True|False>"),
    ("Tensor.any Tensor.all mint.any mint.all ops.any ops.all", "{*}", f"?{AXES}", "?<True|False>"),
    ("Tensor.max Tensor.min mint.max mint.min", "{*}", "?<0|-1|1>", "?<True|False>"),
    ("Tensor.max Tensor.min", "{*}", f"axis={AXES}", "?keepdims=<True|False>", "?return_indices=<True|False>"),
    ("mint.max mint.min Tensor.max Tensor.min", "{*}", "{~}"),
    ("Tensor.max Tensor.min ops.max ops.min", "{*}", "axis=<0|-1|None>", "initial=<0.5|-10.0|3>", "?where={~:bool}"),
    (
        "Tensor.argmax Tensor.argmin ops.argmax ops.argmin mint.argmax mint.argmin",
        "{*}",
        "?<0|-1|1|None>",
        "?<True|False>",
    ),
    ("Tensor.argsort mint.argsort", "{*:distinct}", "?<0|-1|1>", "?descending=<True|False>"),
    ("Tensor.sort mint.sort ops.sort", "{*:distinct}", "?<0|-1|1>", "?descending=<True|False>"),
    ("Tensor.topk mint.topk ops.topk", "{N,K:distinct}", "<1|2>", "?dim=<0|1|-1|None>", "?largest=<True|False>"),
    ("Tensor.kthvalue mint.kthvalue", "{N,K:distinct}", "<1|2>", "?<0|1|-1>", "?<True|False>"),
    ("Tensor.median ops.median mint.median", "{*:distinct}", "?<0|-1|1>", "?<True|False>"),
    ("Tensor.std Tensor.var", "{*}", f"?axis={AXES}", "?ddof=<0|1|True|False>", "?keepdims=<True|False>"),
    (
        "Tensor.std Tensor.var mint.std mint.var mint.std_mean mint.var_mean",
        "{*}",
        "?dim=<0|-1|(0, 1)|None>",
        "?correction=<0|1|2>",
        "?keepdim=<True|False>",
    ),
    ("Tensor.logsumexp mint.logsumexp ops.logsumexp", "{*}", "<0|-1|(0, 1)>", "?<True|False>"),
    ("Tensor.cumsum mint.cumsum ops.cumsum Tensor.cumprod mint.cumprod ops.cumprod", "{*}", AXIS, f"?{DTYPE}"),
    ("Tensor.cumsum mint.cumsum", "{*}", AXIS, "dtype=<np.float32|np.int64|np.float16|np.int8|np.float64>"),
    ("Tensor.nansum mint.nansum ops.nansum", "{*:special}", f"?{AXES}", "?<True|False>", f"?{DTYPE}"),
    ("Tensor.count_nonzero mint.count_nonzero", "{*}", f"?{AXES}"),
    ("Tensor.histc mint.histc ops.histc", "{*}", "?<4|10|1>", "?min=<0|-1.0|0.0>", "?max=<0|1.0|2.0>"),
    ("Tensor.bincount mint.bincount ops.bincount", "{N:int0-5}", "?{N}", "?minlength=<0|3|9>"),
    (
        "Tensor.unique mint.unique",
        "{*:int-3-3}",
        "?sorted=True",
        "?return_inverse=<True|False>",
        "?return_counts=<True|False>",
        "?dim=<0|-1|None>",
    ),
    ("mint.unique_consecutive ops.unique_consecutive", "{N:int0-3}", "?<True|False>", "?<True|False>"),
    ("mint.trace ops.trace Tensor.trace", "{N,K}"),
    (
        "mint.norm mint.linalg.norm ops.norm Tensor.norm",
        "{N,K}",
        "?<2|1|0|np.inf|-np.inf|'fro'|'nuc'|0.5|3|-1>",
        f"?{AXES}",
        "?keepdim=<True|False>",
    ),
    (
        "mint.linalg.vector_norm",
        "{*}",
        "?<2|1|0|np.inf|-np.inf|0.5|3>",
        f"?{AXES}",
        "?keepdim=<True|False>",
        f"?{FLOAT}",
    ),
    (
        "mint.linalg.matrix_norm",
        "{C,N,K}",
        "?<'fro'|'nuc'|1|-1|np.inf|-np.inf|2|-2>",
        "?<(0, 1)|(-2, -1)|(2, 0)>",
        "?keepdim=<True|False>",
    ),
    # shapes
    ("Tensor.reshape mint.reshape ops.reshape Tensor.view", "{N,K,2}", "<(-1,)|(2, -1)|(-1, 2)|(1, -1, 1)>"),
    (
        "Tensor.transpose ops.transpose ops.permute mint.permute Tensor.permute",
        "{N,K,2}",
        "<(0, 2, 1)|(-1, 0, 1)|(2, 1, 0)|(1, 0, 2)>",
    ),
    ("Tensor.transpose mint.transpose Tensor.swapaxes", "{*}", AXIS, AXIS),
    ("mint.squeeze Tensor.squeeze ops.squeeze", "{1,N,1}", "?<0|2|-1|(0, 2)|(0,)|1>"),
    ("Tensor.unsqueeze mint.unsqueeze ops.expand_dims Tensor.expand_dims", "{*}", "<0|-1|1|-2|3>"),
    ("Tensor.flatten mint.flatten ops.flatten", "{*}", "?start_dim=<0|1|-1|-2>", "?end_dim=<-1|1|2|0>"),
    (
        "Tensor.broadcast_to mint.broadcast_to ops.broadcast_to Tensor.expand",
        "<{N,1}|{1}|{N,2}>",
        "<(2, -1, 2)|(3, 1, 2)|(-1, 2)|(4, 2)>",
    ),
    ("Tensor.expand_as", "{N,1}", "{C,N,K}"),
    ("Tensor.tile mint.tile ops.tile", "{*}", "<(2,)|(1, 2)|(2, 1, 3)|(1, 1, 1, 2)|(0, 1)>"),
    ("Tensor.repeat", "{*}", "<(2,)|(1, 2)|(2, 1, 3)>"),
    ("Tensor.repeat_interleave mint.repeat_interleave ops.repeat_interleave", "{*}", "<2|1|3|0>", "?<0|-1|1|None>"),
    ("Tensor.roll mint.roll ops.roll", "{N,K}", "<1|-2|7|(1, 2)>", "?<0|-1|(0, 1)>"),
    ("Tensor.flip mint.flip ops.flip", "{*}", "<(0,)|(-1,)|(0, 1)|[0]>"),
    ("ops.rot90 Tensor.rot90", "{N,K,C}", "<1|2|3|-1|0|5>", "<(0, 1)|[1, 2]|(-1, 0)>"),
    ("Tensor.split mint.split ops.split", "{6,K}", "<2|4|[1, 5]|(2, 2, 2)|1|7>", "?<0|-2>"),
    ("Tensor.chunk mint.chunk ops.chunk", "{N,K}", "<1|2|3|9>", "?<0|1|-1>"),
    ("Tensor.unbind mint.unbind ops.unbind", "{*}", "?<0|-1|1>"),
    ("Tensor.tensor_split ops.tensor_split", "{N,6,K}", "<2|3|(1, 4)|5|(2,)>", "?<0|1|-1>"),
    (named("hsplit vsplit dsplit", "Tensor", "ops"), "{6,6,6}", "<2|3|(1, 4)|(2,)>"),
    ("Tensor.narrow mint.narrow ops.narrow", "{4,K,5}", "<0|2|-1>", "<0|1>", "<1|2|3>"),
    ("Tensor.select mint.select", "{*}", "<0|-1|1>", "<0|-1|1>"),
    ("ops.select", "{*:bool}", "<{*}|1.5>", "<{*}|2.0>"),
    ("Tensor.diag mint.diag ops.diag", "<{N}|{N,N}|{N,K}>"),
    ("Tensor.diagonal ops.diagonal", "{N,K,C}", "?<0|1|-1|5>", "?<0|1|-1>", "?<1|2|-2>"),
    ("Tensor.tril Tensor.triu mint.tril mint.triu ops.tril ops.triu", "{N,K}", "?<0|1|-1|9>"),
    (
        "Tensor.movedim Tensor.moveaxis ops.movedim ops.moveaxis numpy.moveaxis",
        "{N,K,C}",
        "<0|-1|(0, 1)>",
        "<2|-2|(1, 0)>",
    ),
    ("Tensor.t mint.t ops.t", "<{N,K}|{N}>"),
    ("Tensor.real Tensor.imag mint.real mint.imag ops.real ops.imag Tensor.conj ops.conj ops.angle", "{*}"),
    ("Tensor.new_zeros Tensor.new_ones", "{*}", "<(2, 3)|2|()>", f"?{DTYPE}"),
    ("Tensor.new_full", "{*}", "<(2, 3)|(2,)>", "<1|2.5|True>", f"?{DTYPE}"),
    ("ops.full mint.full", "<(2, 3)|(2,)>", "<1|2.5|True>", f"?{DTYPE}"),
    ("ops.full_like mint.full_like", "{*}", "<1|2.5|True>", f"?{DTYPE}"),
    ("ops.arange mint.arange numpy.arange", "<3|5.0|-2|0.5>", "?<7|9.5|-8>", "?<1|2|0.5|-1.5>", f"?{DTYPE}"),
    ("ops.linspace mint.linspace", "<0|-1.5|3>", "<1|2.5|-4>", "<1|2|5>"),
    ("ops.logspace", "<0|-1.0>", "<1|2.0>", "<1|5>", "?base=<2|10>"),
    ("ops.eye mint.eye", "<2|3>", "?<2|4>", f"?{DTYPE}"),
    ("ops.one_hot mint.nn.functional.one_hot", "{N:long0-4}", "<4|6>"),
    ("ops.stack mint.stack ops.cat mint.cat ops.concat mint.concat", "[{N,K}, {N,K:other}]", "?<0|-1|1>"),
    ("ops.stack mint.stack ops.cat mint.cat", "[{*}, {*}, {*}]", "?<0|-1|1>"),
    ("ops.hstack ops.vstack ops.dstack ops.column_stack", "[{*}, {*}]"),
    ("mint.meshgrid ops.meshgrid", "{N}", "{K}", "?indexing=<'xy'|'ij'>"),
    ("ops.block_diag", "{N,K}", "{K,2}"),
    ("ops.cartesian_prod", "{N}", "{K}"),
    *(
        ("mint.einsum ops.einsum", text, "{N,K}", "{K,W}")
        for text in ("'ij,jk->ik'", "'ij,jk'", "'ij,jk->'", "'ij,jk->ki'")
    ),
    *(("mint.einsum ops.einsum", text, "{N,N}") for text in ("'ii'", "'ii->i'", "'ij->ji'", "'ij->j'", "'...j->...'")),
    (
        "ops.pad mint.nn.functional.pad",
        "{N,C,H,W}",
        "<(1, 2)|(1, 0, 2, 1)|(-1, 1)|(0, 0, 0, 0, 1, 1)>",
        "?mode='constant'",
        "?value=<0.0|1.5|-2>",
    ),
    (
        "ops.pad mint.nn.functional.pad",
        "{N,C,4,5}",
        "<(1, 2)|(1, 0, 2, 1)|(2, 2, 1, 1)>",
        "mode=<'reflect'|'replicate'|'circular'>",
    ),
    # places
    ("Tensor.gather mint.gather", "{4,K}", "<0|-2>", "{N,K:long0-4}"),
    ("ops.gather", "{4,K}", "{N,C:anyint0-4}", "<0|-2>"),
    ("ops.gather", "{N,4,K}", "{N,C:anyint0-4}", "1", "batch_dims=1"),
    ("ops.gather_elements Tensor.gather_elements ops.gather_d", "{4,K}", "0", "{N,K:anyint-4-4}"),
    ("ops.gather_nd Tensor.gather_nd", "{4,4,K}", "{N,2:anyint0-4}"),
    ("Tensor.index_select mint.index_select ops.index_select", "{4,K,4}", "<0|2|-1>", "{N:anyint0-4}"),
    ("Tensor.take ops.take numpy.take", "{4,4}", "{N,K:anyint-4-4}", "?<0|1|-1|None>", "?mode=<'clip'|'wrap'>"),
    ("Tensor.index_add mint.index_add", "{4,K}", "<0|-2>", "{N:anyint0-4}", "{N,K}", "?alpha=<2|0.5>"),
    ("ops.index_add", "ms.Parameter({4,K})", "{N:int0-4}", "{N,K}", "0"),
    ("Tensor.index_fill ops.index_fill", "{4,K}", "<0|-2>", "{N:int0-4}", "<1.5|0|2>"),
    ("Tensor.scatter mint.scatter", "{4,K}", "0", "{N,K:long0-1}", "{N,K}"),
    ("Tensor.scatter_add mint.scatter_add", "{4,K}", "0", "{N,K:long0-4}", "{N,K}"),
    (
        named(
            "tensor_scatter_add tensor_scatter_sub tensor_scatter_max tensor_scatter_min tensor_scatter_mul "
            "tensor_scatter_div",
            "ops",
        ),
        "{4,4,K}",
        "{N,2:anyint0-4}",
        "{N,K:positive}",
    ),
    ("ops.scatter_nd", "{N,1:int0-4}", "{N,K}", "<(4, 1)|(4, 2)>"),
    ("ops.scatter_nd", "{N,2:int0-4}", "{N}", "(4, 5)"),
    ("ops.index_put Tensor.index_put", "{4,K}", "[{N:long0-4}]", "{K}", "?accumulate=<True|False>"),
    ("Tensor.diagonal_scatter ops.diagonal_scatter", "{4,4}", "{4}"),
    ("Tensor.select_scatter ops.select_scatter", "{4,K}", "{K}", "0", "<0|-1|3>"),
    ("Tensor.slice_scatter ops.slice_scatter", "{4,K}", "{2,K}", "0", "<0|1>", "<2|3>", "?1"),
    ("ops.slice", "{4,5}", "<(0, 1)|(1, 0)>", "<(2, 3)|(-1, 2)>"),
    ("ops.strided_slice", "{4,5}", "<(0, 1)|(-1, 4)>", "<(4, 5)|(0, 0)>", "<(1, 1)|(2, 2)|(-1, -2)>"),
    ("Tensor.fold", "{N,4,4}", "(3, 3)", "(2, 2)"),
    ("mint.searchsorted ops.searchsorted Tensor.searchsorted", "{5:rising}", "{*}", "?right=<True|False>"),
    ("ops.bucketize", "{*}", "[-1.0, 0.0, 1.5]", "?right=<True|False>"),
    ("ops.reverse_sequence Tensor.reverse_sequence", "{N,5,K}", "{N:int1-5}", "1", "0"),
    (
        "ops.unsorted_segment_sum ops.unsorted_segment_min ops.unsorted_segment_max ops.unsorted_segment_prod",
        "{N,K}",
        "{N:int0-4}",
        "<4|5>",
    ),
    ("ops.matrix_set_diag", "{N,4,4}", "{N,4}"),
    # matrices
    ("ops.bmm mint.bmm Tensor.bmm", "{N,H,K}", "{N,K,W}"),
    ("ops.mm mint.mm Tensor.mm", "{N,K}", "{K,W}"),
    ("ops.mv mint.mv", "{N,K}", "{K}"),
    ("mint.dot mint.vdot", "{N}", "{N}"),
    ("ops.dot Tensor.dot", "{N,K}", "<{K,W}|{C,K,W}>"),
    ("ops.outer mint.outer Tensor.outer ops.ger Tensor.ger", "{N}", "{K}"),
    ("ops.addmm mint.addmm Tensor.addmm", "<{N,W}|{W}>", "{N,K}", "{K,W}", "?beta=<2|0.5|0>", "?alpha=<2|0.5|0>"),
    ("ops.addmv mint.addmv Tensor.addmv", "{N}", "{N,K}", "{K}", "?beta=<2|0.5>", "?alpha=<2|0.5>"),
    ("ops.addr Tensor.addr", "{N,K}", "{N}", "{K}", "?beta=<2|0.5>", "?alpha=<2|0.5>"),
    ("ops.addbmm mint.addbmm Tensor.addbmm", "{N,W}", "{C,N,K}", "{C,K,W}", "?beta=<2|0.5>", "?alpha=<2|0.5>"),
    ("ops.baddbmm mint.baddbmm Tensor.baddbmm", "{C,N,W}", "{C,N,K}", "{C,K,W}", "?beta=<2|0.5>", "?alpha=<2|0.5>"),
    ("ops.batch_dot", "{N,K,W}", "{N,W,H}", "?axes=<None|(2, 1)>"),
    ("ops.tensor_dot numpy.tensordot", "{N,K}", "{K,N}", "<1|2|((1,), (0,))|0>"),
    (
        "ops.det ops.logdet ops.slogdet ops.inverse mint.inverse mint.linalg.inv Tensor.det Tensor.logdet "
        "Tensor.inverse ops.matrix_determinant ops.log_matrix_determinant",
        "<{N,N:spd}|{C,N,N:spd}>",
    ),
    ("ops.matrix_power Tensor.matrix_power", "{N,N:spd}", "<0|1|2|3|-1>"),
    ("ops.matrix_exp", "{N,N}"),
    ("ops.cholesky Tensor.cholesky", "{N,N:spd}", "?upper=<True|False>"),
    ("ops.cholesky_inverse Tensor.cholesky_inverse", "{N,N:lower}"),
    ("ops.cholesky_solve Tensor.cholesky_solve", "{N,K}", "{N,N:lower}"),
    ("ops.matrix_solve", "{N,N:spd}", "{N,K}", "?adjoint=<True|False>"),
    ("mint.triangular_solve Tensor.triangular_solve", "{N,K}", "{N,N:lower}", "upper=False"),
    ("ops.lstsq", "{5,2}", "{5,K}"),
    ("ops.matrix_band_part", "{N,K}", "<0|1|-1>", "<0|1|-1>"),
    ("ops.cdist mint.cdist", "{N,K}", "{C,K}", "?<2.0|1.0|0.0|np.inf|3.0>"),
    ("ops.cross mint.cross Tensor.cross", "{N,3}", "{N,3}", "?<1|-1>"),
    ("ops.kron", "{N,K}", "{K,2}"),
    # layers
    ("mint.nn.functional.linear ops.dense", "<{N,K}|{C,N,K}|{K}>", "<{W,K}|{1,K}>", "?<{W}|{1}>"),
    (
        "mint.nn.functional.conv1d",
        "{N,C,8}",
        "{M,C,3}",
        "?bias={M}",
        "?stride=<1|2>",
        "?padding=<0|1|2|'same'|'valid'>",
        "?dilation=<1|2>",
    ),
    (
        "mint.nn.functional.conv2d mint.conv2d",
        "{N,C,7,6}",
        "{M,C,3,2}",
        "?bias={M}",
        "?stride=<1|2|(2, 1)>",
        "?padding=<0|1|(1, 2)|'same'|'valid'>",
        "?dilation=<1|2|(1, 2)>",
    ),
    ("mint.nn.functional.conv2d mint.conv2d", "{N,4,7,6}", "{4,2,3,2}", "groups=2", "?padding=<0|1>"),
    (
        "ops.conv2d",
        "{N,C,7,6}",
        "{M,C,3,2}",
        "?bias={M}",
        "?stride=<1|2|(2, 1)>",
        "?pad_mode=<'same'|'valid'>",
        "?dilation=<1|2|(1, 2)>",
    ),
    ("mint.nn.functional.conv3d ops.conv3d", "{N,C,5,5,6}", "{M,C,2,3,2}", "?bias={M}", "?stride=<1|2>"),
    (
        "mint.nn.functional.conv_transpose2d",
        "{N,C,4,5}",
        "{C,M,3,2}",
        "?bias={M}",
        "?stride=<1|2>",
        "?padding=<0|1>",
        "?dilation=<1|2>",
    ),
    (
        "mint.nn.functional.max_pool2d ops.max_pool2d",
        "{N,C,7,8}",
        "<2|3|(2, 3)>",
        "?stride=<1|2|(2, 1)|None>",
        "?padding=<0|1>",
        "?dilation=<1|2>",
        "?ceil_mode=<True|False>",
    ),
    ("ops.max_pool3d", "{N,C,5,6,7}", "<2|3>", "?stride=<1|2>", "?ceil_mode=<True|False>"),
    (
        "mint.nn.functional.avg_pool1d",
        "{N,C,8}",
        "<2|3>",
        "?stride=<1|2>",
        "?padding=<0|1>",
        "?ceil_mode=<True|False>",
        "?count_include_pad=<True|False>",
    ),
    (
        "mint.nn.functional.avg_pool2d ops.avg_pool2d",
        "{N,C,7,8}",
        "<2|3|(2, 3)>",
        "?stride=<1|2|(2, 1)>",
        "?padding=<0|1>",
        "?ceil_mode=<True|False>",
        "?count_include_pad=<True|False>",
        "?divisor_override=<0|3>",
    ),
    (
        "mint.nn.functional.avg_pool3d ops.avg_pool3d",
        "{N,C,5,6,7}",
        "<2|3>",
        "?stride=<1|2>",
        "?padding=<0|1>",
        "?ceil_mode=<True|False>",
    ),
    ("ops.lp_pool1d", "{N,C,8}", "<1|2|3.0>", "<2|3>", "?stride=<1|2>", "?ceil_mode=<True|False>"),
    ("ops.lp_pool2d", "{N,C,7,8}", "<1|2|3.0>", "<2|3|(2, 3)>", "?stride=<1|2>", "?ceil_mode=<True|False>"),
    ("mint.nn.functional.adaptive_avg_pool1d ops.adaptive_avg_pool1d ops.adaptive_max_pool1d", "{N,C,7}", "<1|3|7>"),
    (
        "mint.nn.functional.adaptive_avg_pool2d ops.adaptive_avg_pool2d ops.adaptive_max_pool2d",
        "{N,C,7,5}",
        "<1|3|(2, 4)|(None, 2)>",
    ),
    (
        "mint.nn.functional.interpolate ops.interpolate",
        "{N,C,4,5}",
        "size=<(3, 7)|(8, 5)|(1, 1)>",
        "mode=<'bilinear'|'nearest'|'bicubic'>",
        "?align_corners=<True|False>",
    ),
    ("mint.nn.functional.interpolate ops.interpolate", "{N,C,6}", "size=<(3,)|(9,)>", "mode=<'linear'|'nearest'>"),
    (
        "mint.nn.functional.grid_sample ops.grid_sample",
        "{N,C,4,5}",
        "{N,3,2,2}",
        "?mode=<'bilinear'|'nearest'>",
        "?padding_mode=<'zeros'|'border'|'reflection'>",
        "?align_corners=<True|False>",
    ),
    ("ops.affine_grid", "{N,2,3}", "<(1, 1, 3, 4)|(2, 1, 3, 4)>", "?<True|False>"),
    (
        "mint.nn.functional.batch_norm ops.batch_norm",
        "{N,3,4}",
        "{3}",
        "{3:positive}",
        "{3}",
        "{3}",
        "?training=<True|False>",
        "?momentum=<0.1|0.9>",
        "?eps=<1e-5|0.1>",
    ),
    ("mint.nn.functional.layer_norm", "{N,C,5}", "<(5,)|[5]>", "?{5}", "?{5}", "?eps=<1e-5|0.1>"),
    ("ops.layer_norm", "{N,C,5}", "(5,)", "?weight={5}", "?bias={5}"),
    (
        "mint.nn.functional.group_norm ops.group_norm",
        "{N,4,5}",
        "<1|2|4>",
        "?weight={4}",
        "?bias={4}",
        "?eps=<1e-5|0.1>",
    ),
    ("ops.rms_norm", "{N,K}", "{K}", "?<1e-6|0.1>"),
    ("mint.nn.functional.normalize", "{N,K}", "?p=<2.0|1.0|3.0>", "?dim=<0|1|-1>", "?eps=<1e-12|0.5>"),
    ("mint.nn.functional.embedding", "{N,C:long0-4}", "{4,K}", "?padding_idx=<0|-1|None>"),
    ("mint.nn.functional.pixel_shuffle ops.pixel_shuffle", "{N,8,H,W}", "<1|2>"),
    ("ops.pixel_unshuffle", "{N,C,4,6}", "<1|2>"),
    ("ops.channel_shuffle", "{N,4,H,W}", "<1|2|4>"),
    (
        "mint.nn.functional.unfold ops.unfold",
        "{N,C,5,6}",
        "<2|(2, 3)>",
        "?dilation=<1|2>",
        "?padding=<0|1>",
        "?stride=<1|2>",
    ),
    ("mint.nn.functional.fold ops.fold", "{N,8,6}", "(3, 4)", "(2, 2)"),
    ("ops.bias_add", "{N,4,H}", "{4}"),
    ("ops.col2im", "{N,C,4,9}", "ms.Tensor([4, 4], ms.int32)", "(2, 2)", "(1, 1)", "(0, 0)", "(1, 1)"),
    (
        "mint.nn.functional.softmax ops.softmax mint.softmax ops.log_softmax mint.nn.functional.log_softmax "
        "ops.softmin",
        "{*}",
        AXIS,
        f"?{FLOAT}",
    ),
    ("ops.glu mint.nn.functional.glu", "{N,6,4}", "?<0|1|-1>"),
    ("ops.prelu mint.nn.functional.prelu", "{N,C,H}", "<{C}|{1}>"),
    ("mint.nn.functional.softplus ops.softplus", "{*}", "?beta=<1|2|0.5>", "?threshold=<20|1|0>"),
    ("mint.nn.functional.elu ops.elu ops.celu", "{*}", "?alpha=<1.0|0.5>"),
    ("mint.nn.functional.leaky_relu ops.leaky_relu", "{*}", "?<0.2|-0.5|1|2.0>"),
    # losses
    (
        "ops.cross_entropy mint.nn.functional.cross_entropy",
        "{N,4}",
        "{N:int0-4}",
        "?weight={4:positive}",
        "?ignore_index=<-100|1>",
        "?reduction=<'mean'|'sum'|'none'>",
        "?label_smoothing=<0.0|0.1>",
    ),
    ("ops.cross_entropy mint.nn.functional.cross_entropy", "{N,4}", "{N:int0-4}", "weight={4:positive32}"),
    (
        "ops.cross_entropy mint.nn.functional.cross_entropy",
        "{N,4,H}",
        "{N,H:int0-4}",
        "?reduction=<'mean'|'sum'|'none'>",
    ),
    (
        "ops.cross_entropy mint.nn.functional.cross_entropy",
        "{N,4}",
        "{N,4:share}",
        "?weight={4:positive}",
        "?reduction=<'mean'|'sum'|'none'>",
        "?label_smoothing=<0.0|0.1>",
    ),
    (
        "ops.nll_loss mint.nn.functional.nll_loss",
        "{N,4}",
        "{N:int0-4}",
        "?weight={4:positive}",
        "?ignore_index=<-100|1>",
        "?reduction=<'mean'|'sum'|'none'>",
    ),
    (
        "ops.binary_cross_entropy mint.nn.functional.binary_cross_entropy",
        "{N,K:probability}",
        "{N,K:probability}",
        "?weight={N,K:positive}",
        "?reduction=<'mean'|'sum'|'none'>",
    ),
    (
        "ops.binary_cross_entropy_with_logits mint.nn.functional.binary_cross_entropy_with_logits",
        "{N,K}",
        "{N,K:probability}",
        "?weight={N,K:positive}",
        "?pos_weight={K:positive}",
        "?reduction=<'mean'|'sum'|'none'>",
    ),
    ("ops.kl_div mint.nn.functional.kl_div", "{N,K}", "{N,K:share}", "?reduction=<'mean'|'sum'|'none'|'batchmean'>"),
    (
        "ops.mse_loss ops.l1_loss ops.smooth_l1_loss ops.huber_loss mint.nn.functional.mse_loss "
        "mint.nn.functional.l1_loss mint.nn.functional.smooth_l1_loss",
        "{*}",
        "{*}",
        "?reduction=<'mean'|'sum'|'none'>",
    ),
    ("ops.margin_ranking_loss", "{*}", "{*}", "{*:sign}", "?margin=<0.0|0.5>", "?reduction=<'mean'|'sum'|'none'>"),
    ("ops.hinge_embedding_loss", "{*}", "{*:sign}", "?margin=<1.0|0.5>", "?reduction=<'mean'|'sum'|'none'>"),
    ("ops.soft_margin_loss", "{*}", "{*:sign}", "?reduction=<'mean'|'sum'|'none'>"),
    (
        "ops.cosine_embedding_loss",
        "{N,K}",
        "{N,K}",
        "{N:sign}",
        "?margin=<0.0|0.5>",
        "?reduction=<'mean'|'sum'|'none'>",
    ),
    (
        "ops.triplet_margin_loss",
        "{N,K}",
        "{N,K}",
        "{N,K}",
        "?margin=<1.0|0.5>",
        "?p=<1|2>",
        "?reduction=<'mean'|'sum'|'none'>",
    ),
    ("ops.multi_margin_loss", "{N,4}", "{N:long0-4}", "?<1|2>", "?<1.0|0.5>"),
    ("ops.multilabel_margin_loss", "{N,4}", "{N,4:int-1-4}", "?reduction=<'mean'|'sum'|'none'>"),
    ("ops.gaussian_nll_loss", "{*}", "{*}", "{*:positive}", "?full=<True|False>"),
    ("ops.ctc_loss", "{6,N,4:logs}", "{N,2:int1-4}", "{N:int5-7}", "{N:int1-3}"),
    # spectra
    (
        named("fft ifft rfft irfft hfft ihfft", "ops", "numpy.fft"),
        "{*}",
        "?<2|3|5|8>",
        "?<0|-1|1>",
        "?norm=<'ortho'|'forward'|'backward'|None>",
    ),
    (
        named("fft2 ifft2 rfft2 irfft2 hfft2 ihfft2 fftn ifftn rfftn irfftn hfftn ihfftn", "numpy.fft"),
        "{N,K,W}",
        "?<(2, 3)|(5, 4)>",
        "?axes=<(0, 1)|(-1, -2)|(0, 2)>",
        "?norm=<'ortho'|'forward'|'backward'|None>",
    ),
    (
        named("fft2 ifft2 rfft2 irfft2 hfft2 ihfft2 fftn ifftn rfftn irfftn hfftn ihfftn", "ops"),
        "{N,K,W}",
        "?<(2, 3)|(5, 4)>",
        "?dim=<(0, 1)|(-1, -2)|(0, 2)>",
        "?norm=<'ortho'|'forward'|'backward'|None>",
    ),
    ("ops.std_mean ops.var_mean", "{*}", "?axis=<0|-1|(0, 1)|None>", "?ddof=<0|1|2>", "?keepdims=<True|False>"),
    ("ops.vector_norm", "{*}", "?<2|1|0|np.inf|-np.inf|0.5|3>", f"?axis={AXES}", "?keepdims=<True|False>", f"?{FLOAT}"),
    (
        "ops.matrix_norm",
        "{C,N,K}",
        "?<'fro'|'nuc'|1|-1|np.inf|-np.inf|2|-2>",
        "?axis=<(0, 1)|(-2, -1)|(2, 0)>",
        "?keepdims=<True|False>",
    ),
    (named("fftshift ifftshift", "ops", "numpy.fft"), "{*}", "?<0|-1|(0, 1)|None>"),
    (named("fftfreq rfftfreq", "ops", "numpy.fft"), "<1|4|7>", "?<0.5|2.0>"),
    (named("bartlett_window blackman_window hamming_window hann_window", "ops"), "<1|2|7>", "?periodic=<True|False>"),
    # numpy's own
    (
        "numpy.pad",
        "{N,K}",
        "<1|(1, 2)|((1, 0), (2, 1))>",
        "?mode=<'constant'|'edge'|'reflect'|'wrap'|'symmetric'|'linear_ramp'|'maximum'|'minimum'|'mean'>",
    ),
    ("numpy.gradient", "{N,4}", "?axis=<0|1|None>", "?edge_order=1"),
    ("numpy.atleast_1d numpy.atleast_2d numpy.atleast_3d", "{*}"),
    ("numpy.broadcast_arrays numpy.meshgrid", "{N}", "{1}"),
    ("numpy.concatenate numpy.stack numpy.hstack numpy.vstack numpy.dstack numpy.column_stack", "[{*}, {*}]"),
    ("numpy.interp", "{N}", "{5:rising}", "{5}"),
    ("numpy.select", "[{*:bool}, {*:bool}]", "[{*}, {*}]", "?default=<0|2.5>"),
    ("numpy.average", "{N,K}", "?axis=<0|1|None>", "?weights={N,K:positive}"),
    ("numpy.histogram numpy.histogram_bin_edges", "{*}", "?bins=<4|10>", "?range=<(0.0, 1.0)|(-2, 3)>"),
    ("numpy.diff numpy.trapz numpy.unwrap", "{N,5}", "?axis=<0|1|-1>"),
    ("numpy.cov numpy.corrcoef", "{N,5}", "?rowvar=<True|False>"),
    ("numpy.clip", "{*}", "<-0.5|0|None|{~}>", "<0.5|1|{~}>"),
    (
        named("sum mean std var amax amin max min ptp nansum nanmean nanmax nanmin nanvar nanstd", "numpy"),
        "{*}",
        f"?axis={AXES}",
        "?keepdims=<True|False>",
    ),
    (named("sum mean std var amax amin", "numpy"), "{*}", f"?axis={AXIS}", "?where={~:bool}", f"?{DTYPE}"),
    ("numpy.cross", "{N,3}", "{N,3}"),
    ("numpy.polyval numpy.polyadd numpy.polysub numpy.polymul", "{3}", "{K}"),
    ("numpy.convolve numpy.correlate", "{5}", "{3}", "?mode=<'full'|'same'|'valid'>"),
)

# In-place methods, and what MindSpore computes out of place: on a CPU its own change nothing.
IN_PLACE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    *((f"{name}_", name, (NUMBER,)) for name in ("add", "sub", "mul", "div", "floor_divide", "remainder")),
    *((f"{name}_", name, (NUMBER, "alpha=<2|0.5|-1>")) for name in ("add", "sub")),
    ("div_", "div", (NUMBER, "rounding_mode=<'floor'|'trunc'|None>")),
    *((f"{name}_", name, ()) for name in ("exp", "log", "sigmoid")),
    ("clamp_", "clamp", ("<-0.5|0|None>", "<0.5|1>")),
    ("masked_fill_", "masked_fill", ("{~:bool}", "<0|1.5|-1>")),
)


# The kinds of values of "{N,K:int0-4}".
INTEGERS = re.compile(r"(int|long|anyint)(-?\d+)-(-?\d+)")
WIDTHS = {"int": ("int32", "int32", "int64"), "long": ("int64", "int64", "int32"), "anyint": ("int32", "int64")}


@functools.cache
def calls(only: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return each name with its arguments, and before them MindSpore's expression for a method in place, else ""."""
    results = [(name, "", tuple(arguments)) for names, *arguments in ROWS for name in names.split()]
    results += [(f"Tensor.{name}", prefix, ("{*}", *arguments)) for name, prefix, arguments in IN_PLACE]
    results = [result for result in results if result[0].startswith(only)]
    if not results:
        raise SystemExit(f"no form begins with {only!r}")
    return results


def draw(rng: np.random.Generator, only: str) -> Case:
    """Draw a call by one of the rows."""
    name, receiver, specs = calls(only)[int(rng.integers(len(calls(only))))]
    maker = Arguments(rng)
    lengths = {letter: int(rng.integers(1, 4 if letter in "CM" else 6)) for letter in "NCMKHW"}
    records = []
    for index, item in enumerate(specs):
        if item.startswith("?") and rng.random() < 0.5:
            if "=" not in item.partition("<")[0]:  # the next ones would move
                records += [_expression(maker, lengths, x[1:]) for x in specs[index + 1 :] if x[0] == "?" and "=" in x]
                break
            continue
        records.append(_expression(maker, lengths, item.removeprefix("?")))
    names = ", ".join(f"x{i}" for i in range(len(maker.inputs)))
    if receiver:
        rest = ", ".join(records[1:])
        body = (
            f"    if ms.__name__ == 'mindspore':\n        y = {records[0]}.{receiver}({rest})\n"
            f"        return y.astype(x0.dtype).reshape({records[0]}.shape)\n"
            f"    y = {records[0]}.copy()\n    y.{name[7:]}({rest})\n    return y\n"
        )
        title = f"{records[0]}.{name[7:]}({rest})"
    else:
        call = f"{records[0]}.{name[7:]}" if name.startswith("Tensor.") else f"ms.{name}"
        title = f"{call}({', '.join(records[name.startswith('Tensor.') :])})"
        body = f"    return {title}\n"
    return Case(name, f"import numpy as np\ndef run(ms, {names}):\n{body}", maker.inputs, maker.dtypes, title=title)


def _expression(maker: Arguments, lengths: dict[str, int], text: str) -> str:
    """Return an argument as Python writes it."""

    def chosen(actual: re.Match[str]) -> str:
        choices = actual[1].split("|")
        return choices[int(maker.rng.integers(len(choices)))]

    text = re.sub(r"<([^<>]*)>", chosen, text)
    return re.sub(r"\{([^{}:]*):?([^{}]*)\}", lambda result: _tensor(maker, lengths, result[1], result[2]), text)


def _tensor(maker: Arguments, lengths: dict[str, int], dimensions: str, kind: str) -> str:
    rng = maker.rng
    if dimensions in ("*", "~"):
        shape = maker.shape if dimensions == "*" else maker.near()
    else:
        shape = tuple(lengths.get(n) or int(n) for n in dimensions.split(","))
    dtype = maker.dtype
    integers = INTEGERS.fullmatch(kind)
    if integers is not None:
        widths = WIDTHS[integers[1]]
        dtype = widths[int(rng.integers(len(widths)))]
        return maker.given(rng.integers(int(integers[2]), int(integers[3]), shape), dtype)
    if kind in ("", "special"):
        maker.special = maker.special or kind == "special"
        return maker.tensor(dtype, shape)
    if kind == "other":
        return maker.tensor(str(rng.choice(list(DTYPES))), shape)
    if kind == "bool":
        return maker.tensor("bool", shape)
    if kind == "anyint":
        return maker.tensor(str(rng.choice(["int32", "int64", "int8", "uint8", "int16", "bool"])), shape)
    values = rng.normal(size=shape)
    if kind.startswith("positive"):
        values, dtype = np.abs(values) + 0.1, "float32" if kind == "positive32" else dtype
    elif kind == "large":
        values = np.abs(values) + 2.5
    elif kind == "probability":
        values = rng.uniform(0.02, 0.98, shape)
    elif kind in ("share", "logs"):
        values = rng.uniform(0.1, 1, shape)
        values = values / values.sum(-1, keepdims=True)
        values = np.log(values) if kind == "logs" else values
    elif kind == "sign":
        values = np.where(values < 0, -1.0, 1.0)
    elif kind == "distinct":
        values = rng.permutation(values.size).reshape(shape) - 2.0
    elif kind == "rising":
        values = np.sort(values, axis=-1)
    elif kind == "spd":
        values = values @ values.swapaxes(-1, -2) + 2 * np.eye(shape[-1])
    elif kind == "lower":
        values = np.tril(values, -1) + (np.abs(values) + 1) * np.eye(shape[-1])
    else:
        raise SystemExit(f"no values of the kind {kind!r}")
    return maker.given(values, dtype)
