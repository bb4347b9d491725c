"""Bad input to operators: one clear error that names the operator and the argument, and no NumPy text alone."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, grad, mint, nn, ops

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
V = Tensor([1.0, 2.0])

CALLS: list[tuple[Any, type[Exception], str]] = [
    # Elementwise.
    (lambda: ops.add(X, "a"), TypeError, "For 'add', 'other' must be a Tensor or a number, but got str"),
    (lambda: None + X, TypeError, "For 'add', 'input' must be a Tensor or a number, but got NoneType"),
    (lambda: ops.exp(None), TypeError, "For 'exp', 'input' must be a Tensor, but got NoneType"),
    (lambda: X + V, ValueError, r"For 'add', the inputs \(float32\[2, 3\], float32\[2\]\) do not fit"),
    (lambda: ops.select(V > 1, "a", 2.0), TypeError, "For 'where', 'input' must be a Tensor or a number, but got str"),
    (lambda: ops.clamp(X), ValueError, "at least one of 'min' and 'max' must be given"),
    (lambda: ops.gelu(X, "fast"), ValueError, "'approximate' must be 'none' or 'tanh', but got 'fast'"),
    (lambda: ops.relu([1.0]), TypeError, "For 'relu', 'input' must be a Tensor, but got list"),
    (lambda: X & X, TypeError, r"For 'bitwise_and', the inputs .* do not fit"),
    # Shape.
    (lambda: ops.reshape(X, (4,)), ValueError, r"For 'reshape', 6 elements of shape \(2, 3\) do not fit into \(4,\)"),
    (lambda: ops.reshape(X, (-1, -1)), ValueError, "do not fit into"),
    (lambda: ops.reshape(X, "a"), TypeError, "'shape' must be an int or a tuple of ints, but got 'a'"),
    (
        lambda: ops.transpose(X, (0, 0)),
        ValueError,
        r"'dims' must be a permutation of the 2 axes of 'input', but got \(0, 0\)",
    ),
    (lambda: ops.squeeze(X, 2), ValueError, r"For 'squeeze', 'axis' must be in \[-2, 2\), but got 2"),
    (lambda: ops.expand_dims(X, 4), ValueError, r"For 'expand_dims', 'axis' must be in \[-3, 3\), but got 4"),
    (lambda: ops.broadcast_to(X, (2, 4)), ValueError, r"For 'broadcast_to', the inputs \(float32\[2, 3\]\) do not fit"),
    (lambda: ops.flatten(X, "A"), ValueError, "'order' must be 'C' or 'F', but got 'A'"),
    (lambda: ops.flatten(X, start_dim=1, end_dim=0), ValueError, "'start_dim' 1 must not come after 'end_dim' 0"),
    (lambda: ops.concat([]), ValueError, "For 'concat', 'tensors' must not be empty"),
    (
        lambda: copy.deepcopy(X).__setitem__(0, None),
        TypeError,
        "the value must be a number, a list, a tuple, an array or a Tensor",
    ),
    (lambda: copy.deepcopy(V).__setitem__(5, 1.0), IndexError, r"For 'setitem', the inputs .* do not fit: index 5"),
    (lambda: ops.chunk(X, "a"), TypeError, "For 'chunk', 'chunks' must be an int, but got 'a'"),
    (lambda: ops.topk(X, "a"), TypeError, "For 'topk', 'k' must be an int, but got 'a'"),
    (lambda: ops.bucketize(X, 3), ValueError, "'boundaries' must have one axis, but got 3"),
    (lambda: ops.addn([X, V]), ValueError, r"the shapes in 'x' must be equal, but got \(2, 3\) and \(2,\)"),
    (lambda: ops.AddN()((V, Tensor([1, 2]))), TypeError, "dtypes in 'x' must be equal, but got Float32 and Int64"),
    (lambda: Tensor([True, False]).mean(), RuntimeError, "for the mean of bools give 'dtype'"),
    (lambda: ms.common.initializer.initializer("ones", (2.0,)), ValueError, "'shape' must hold ints"),
    (lambda: ms.Model(nn.ReLU(), amp_level=3), TypeError, "For 'Model', 'amp_level' must be a str, but got int"),
    (lambda: ms.CheckpointConfig(async_save=3), TypeError, "'async_save' must be a bool or a str, but got int"),
    (lambda: nn.Metric(), TypeError, "abstract class Metric with abstract methods clear, eval, update"),
    (lambda: ops.concat(X), TypeError, "'tensors' must be a list or tuple of Tensors, but got Tensor"),
    (lambda: ops.concat([X, 3]), TypeError, r"'tensors\[1\]' must be a Tensor, but got int"),
    (lambda: ops.concat([X, V.reshape(1, 2)]), ValueError, "For 'concat', the inputs .* do not fit"),
    (lambda: ops.stack([V, V.int()]), TypeError, r"must be Float32, but entry 1 is Int32; cast them first"),
    (lambda: ops.Stack()([V.half(), V]), TypeError, r"must be Float16, but entry 1 is Float32"),
    (lambda: ops.stack([X, V]), ValueError, r"must have the shape \(2, 3\), but entry 1 has \(2,\)"),
    (lambda: ops.split(X, 0), ValueError, "the size of a part must be positive, but got 0"),
    (lambda: ops.split(X, [1, 3]), ValueError, r"the sizes \[1, 3\] must add up to 2, the length of axis 0"),
    (lambda: ops.chunk(X, 0), ValueError, "'chunks' must be above 0, but got 0"),
    (lambda: ops.pad(X, (1,)), ValueError, "'padding' must be pairs for at most 2 axes"),
    (lambda: ops.cast(X, "no such"), TypeError, "must be a MindSpore dtype such as .*, but got 'no such'"),
    (lambda: ops.flip(X, 2), ValueError, r"For 'flip', 'axis' must be in \[-2, 2\), but got 2"),
    # Reductions.
    (lambda: X.sum(axis=2), ValueError, r"For 'sum', 'axis' must be in \[-2, 2\), but got 2"),
    (lambda: ops.mean(X, (0, 0)), ValueError, r"For 'mean', 'axis' names an axis twice: \(0, 0\)"),
    (lambda: ops.mean(X, (0, "a")), TypeError, "'axis' must be an int or a tuple of ints, but got str"),
    (lambda: ops.argmax([1.0]), TypeError, "For 'argmax', 'input' must be a Tensor, but got list"),
    (lambda: ops.norm(X, 3), ValueError, "'ord' must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, but got 3"),
    (lambda: Tensor(np.zeros(0)).max(), ValueError, r"For 'amax', the inputs \(float64\[0\]\) do not fit"),
    # Products and layers.
    (lambda: ops.matmul(X, X), RuntimeError, r"For 'matmul', .* but got shapes \(2, 3\) and \(2, 3\)"),
    (lambda: ops.matmul(X, 3.0), TypeError, "For 'matmul', 'other' must be a Tensor, but got float"),
    (lambda: ops.matmul(X, Tensor(1.0)), RuntimeError, "For 'matmul'"),
    (lambda: ops.bias_add(X, V), ValueError, r"'bias' must have one number for each of the \(3,\) channels"),
    (lambda: ops.dropout(X, 1.5), ValueError, r"For 'dropout', 'p' must be in \[0, 1\], but got 1.5"),
    (lambda: ops.dropout(X, "a"), TypeError, "For 'dropout', 'p' must be a number, but got str"),
    # New tensors.
    (lambda: ops.zeros((-1,)), ValueError, r"For 'zeros', 'size' must not be negative, but got \(-1,\)"),
    (lambda: ops.ones("a"), TypeError, "For 'ones', 'size' must be an int or a tuple of ints, but got 'a'"),
    (lambda: ops.arange(0, 3, 0), ValueError, "For 'arange', 'step' must not be 0"),
    (lambda: ops.zeros_like(3), TypeError, "For 'zeros_like', 'input' must be a Tensor, but got int"),
    (lambda: ops.one_hot(3, 4), TypeError, "For 'one_hot', 'indices' must be a Tensor, but got int"),
    (lambda: ops.assign(3, X), TypeError, "For 'assign', 'variable' must be a Parameter or Tensor, but got int"),
    (
        lambda: ops.assign(ms.Parameter(V, "p"), X),
        ValueError,
        r"For 'assign', 'value' must have the shape \(2,\), but got \(2, 3\)",
    ),
    # An int.
    (lambda: ops.tril(X, "a"), TypeError, "For 'tril', 'diagonal' must be an int, but got 'a'"),
    (lambda: ops.triu(X, Tensor([1, 2])), TypeError, r"'diagonal' must be an int, but got a Tensor of Int64\[2\]"),
    (lambda: ops.tril_indices(X, 3), TypeError, r"'row' must be an int, but got a Tensor of Float32\[2, 3\]"),
    (lambda: ops.triu_indices(3, V), TypeError, r"'col' must be an int, but got a Tensor of Float32\[2\]"),
    (lambda: ops.matrix_band_part(X, "a", 0), TypeError, "For 'matrix_band_part', 'lower' must be an int, but got 'a'"),
    (lambda: ops.diagonal(X, "a"), TypeError, "For 'diagonal', 'offset' must be an int, but got 'a'"),
    (lambda: mint.diag(V, "a"), TypeError, "For 'mint.diag', 'diagonal' must be an int, but got 'a'"),
    (lambda: ops.narrow(X, 0, "a", 1), TypeError, "For 'narrow', 'start' must be an int, but got 'a'"),
    (lambda: ops.narrow(X, 0, 0, [1]), TypeError, r"For 'narrow', 'length' must be an int, but got \[1\]"),
    (lambda: ops.kthvalue(X, "a"), TypeError, "For 'kthvalue', 'k' must be an int, but got 'a'"),
    (lambda: ops.histc(X, "a"), TypeError, "For 'histc', 'bins' must be an int, but got 'a'"),
    (lambda: ops.histc(X, 4, "a"), TypeError, "For 'histc', 'min' must be a number, but got str"),
    (lambda: ops.bincount(Tensor([1]), minlength="a"), TypeError, "'minlength' must be an int, but got 'a'"),
    (lambda: ops.group_norm(X, "a"), TypeError, "For 'group_norm', 'num_groups' must be an int, but got 'a'"),
    (lambda: ops.mvlgamma(X, "a"), TypeError, "For 'mvlgamma', 'p' must be an int, but got 'a'"),
    (lambda: ops.mvlgamma(X, V), TypeError, r"For 'mvlgamma', 'p' must be an int, but got a Tensor of Float32\[2\]"),
    (lambda: ops.fftfreq("a"), TypeError, "For 'fftfreq', 'n' must be an int, but got 'a'"),
    (lambda: ops.fftfreq(3, "a"), TypeError, "For 'fftfreq', 'd' must be a number, but got str"),
    (lambda: ops.var(X, ddof="a"), TypeError, "For 'var', 'ddof' must be an int, but got 'a'"),
    (lambda: ops.unsorted_segment_sum(X, Tensor([0, 1]), (1, 2)), TypeError, "'num_segments' must be an int"),
    (lambda: ops.round(X, decimals="a"), TypeError, "For 'round', 'decimals' must be an int, but got 'a'"),
    (lambda: mint.select(X, 0, "a"), TypeError, "For 'mint.select', 'index' must be an int, but got 'a'"),
    (lambda: ops.gather(X, Tensor([0]), 0, "a"), TypeError, "For 'gather', 'batch_dims' must be an int, but got 'a'"),
    (lambda: ops.diff(X, "a"), TypeError, "For 'diff', 'n' must be an int, but got 'a'"),
    (lambda: ops.nll_loss(X, Tensor([0, 1], ms.int32), ignore_index="a"), TypeError, "'ignore_index' must be an int"),
    (lambda: mint.nn.functional.one_hot(Tensor([1]), "a"), TypeError, "'num_classes' must be an int, but got 'a'"),
    (lambda: mint.nn.functional.conv1d(X.reshape(1, 2, 3), X.reshape(1, 2, 3), groups="a"), TypeError, "'groups'"),
    (lambda: mint.nn.functional.embedding(Tensor([1]), X, padding_idx="a"), TypeError, "'padding_idx' must be an int"),
    # Axes, flags and dtypes.
    (lambda: X.sum(axis=1.5), TypeError, "For 'sum', 'axis' must be an int or a tuple of ints, but got float"),
    (lambda: X.sum(axis={}), TypeError, "For 'sum', 'axis' must be an int or a tuple of ints, but got dict"),
    (lambda: X.sum(keepdims=V), TypeError, "For 'sum', 'keepdims' must be a bool, but got Tensor"),
    (lambda: ops.argmax(X, ()), TypeError, "For 'argmax', 'axis' must be an int, but got tuple"),
    (lambda: ops.sort(X, descending=V), TypeError, "For 'sort', 'descending' must be a bool, but got Tensor"),
    (lambda: ops.swapaxes(X, (), 0), TypeError, "For 'swapaxes', 'axis' must be an int, but got tuple"),
    (lambda: ops.cumsum(X, 0, []), TypeError, "'dtype' must be a MindSpore dtype such as mindspore.float32"),
    (lambda: X.astype(V), TypeError, "'dtype' must be a MindSpore dtype such as mindspore.float32"),
    (lambda: ms.numpy.sin(X, dtype={}), TypeError, "'dtype' must be a MindSpore dtype such as mindspore.float32"),
    # Enough axes.
    (lambda: ops.narrow(Tensor(1.0), 0, 0, 1), ValueError, r"'input' must have at least 1 axis, but got shape \(\)"),
    (lambda: ops.unbind(Tensor(1.0)), ValueError, r"'input_x' must have at least 1 axis, but got shape \(\)"),
    (lambda: ops.tensor_split(Tensor(1.0), 2), ValueError, r"'input' must have at least 1 axis, but got shape \(\)"),
    (lambda: ops.glu(Tensor(1.0)), ValueError, r"For 'glu', 'input' must have at least 1 axis, but got shape \(\)"),
    (lambda: ops.take(Tensor(1.0), Tensor([0]), 0), ValueError, "'input' must have at least 1 axis"),
    (lambda: ops.cdist(V, X), ValueError, r"For 'cdist', 'x1' must have at least 2 axes, but got shape \(2,\)"),
    (lambda: ops.cdist(Tensor(1.0), X), ValueError, r"For 'cdist', 'x1' must have at least 2 axes, but got shape \(\)"),
    (lambda: ops.intopk(V, Tensor([1]), 1), ValueError, r"'x1' must have at least 2 axes, but got shape \(2,\)"),
    (lambda: ops.inplace_add(Tensor(1.0), V, 0), ValueError, r"'x' must have at least 1 axis, but got shape \(\)"),
    (lambda: ops.scatter_nd(Tensor(1), V, (2,)), ValueError, "'indices' must have at least 1 axis"),
    (lambda: ops.tensor_scatter_add(V, Tensor(1), V), ValueError, "'indices' must have at least 1 axis"),
    (lambda: ops.tensor_scatter_add(V, Tensor([[0, 0]]), V), ValueError, "'indices' must be at most 1 long"),
    (lambda: ops.tensor_scatter_add(V, Tensor([[0]]), None), TypeError, "'updates' must be a Tensor or a number"),
    (lambda: ops.rfft(Tensor(1.0)), ValueError, r"there must be an axis to transform, but got shape \(\) and 'dim' -1"),
    (lambda: ops.fft(Tensor(1.0), dim=0), ValueError, "there must be an axis to transform"),
    (lambda: ops.irfftn(Tensor(1.0)), ValueError, "there must be an axis to transform"),
    (lambda: ops.rfftn(X, dim=()), ValueError, "there must be an axis to transform"),
    (lambda: ms.numpy.fft.rfftn(Tensor(1.0)), ValueError, "there must be an axis to transform"),
    (lambda: mint.nn.functional.batch_norm(V, V, V), ValueError, "'input' must have at least 2 axes"),
    # Tensors in a list.
    (lambda: ops.hstack(3), TypeError, "For 'hstack', 'tensors' must be a list or tuple of Tensors, but got int"),
    (lambda: ops.vstack(X), TypeError, "For 'vstack', 'inputs' must be a list or tuple of Tensors, but got Tensor"),
    (lambda: ops.dstack([X, 3]), TypeError, r"For 'dstack', 'tensors\[1\]' must be a Tensor, but got int"),
    (lambda: ops.column_stack(V), TypeError, "'tensors' must be a list or tuple of Tensors, but got Tensor"),
    (lambda: ops.block_diag([X]), TypeError, r"For 'block_diag', 'inputs\[0\]' must be a Tensor, but got list"),
    (lambda: ms.numpy.hstack(3), TypeError, "For 'numpy.hstack', 'tup' must be a list or tuple, but got int"),
    (lambda: ms.numpy.hstack(Tensor(1.0)), TypeError, "'tup' must be a list or tuple"),
    # Shapes that broadcast.
    (lambda: ops.masked_select(X, Tensor([True, False])), ValueError, "'mask' must broadcast"),
    (lambda: ops.masked_scatter(V, Tensor([[True, False]]), V), ValueError, "'mask' must broadcast to the shape"),
    (lambda: ops.masked_scatter(V, Tensor([True, False]), 3), TypeError, "'source' must be a Tensor, but got int"),
    (lambda: ops.isclose(X, V), ValueError, r"the shapes \(2, 3\) of 'input' and \(2,\) of 'other' must broadcast"),
    (lambda: ops.isclose(X, X, rtol="a"), TypeError, "For 'isclose', 'rtol' must be a number, but got str"),
    (lambda: ops.complex(X, V), ValueError, r"the shapes \(2, 3\) of 'real' and \(2,\) of 'imag' must broadcast"),
    (lambda: ms.numpy.take_along_axis(X, Tensor([[0, 0]] * 3), 1), ValueError, "'indices' must broadcast"),
    (lambda: ms.numpy.choose(Tensor([0, 1]), [X, X]), ValueError, r"3\) of 'choices\[1\]' must broadcast"),
    # A number.
    (lambda: ops.lp_pool1d(X, "a", 2), TypeError, "For 'lp_pool1d', 'norm_type' must be a number, but got str"),
    (lambda: ops.leaky_relu(X, "a"), TypeError, "For 'leaky_relu', 'alpha' must be a number, but got str"),
    (lambda: ops.celu(X, "a"), TypeError, "For 'celu', 'alpha' must be a number, but got str"),
    (lambda: ops.softshrink(X, "a"), TypeError, "For 'softshrink', 'lambd' must be a number, but got str"),
    (lambda: ops.cdist(X, X, "a"), TypeError, "For 'cdist', 'p' must be a number, but got str"),
    (lambda: ops.one_hot(Tensor([1]), "a"), TypeError, "For 'one_hot', 'depth' must be a number, but got str"),
    (lambda: ops.cross_entropy(X, Tensor([0, 1]), label_smoothing="a"), TypeError, "'label_smoothing'"),
    (lambda: ops.linspace("a", 1, 3), TypeError, "'start' must be a number or a Tensor of one, but got str"),
    (lambda: ops.logspace(0, 1, 3, "a"), TypeError, "For 'logspace', 'base' must be a number, but got str"),
    # Sizes, tensors and words.
    (lambda: ops.layer_norm(X, 1.5), TypeError, "'normalized_shape' must be an int or a tuple of ints, but got 1.5"),
    (lambda: ops.layer_norm(X, (3,), 3), TypeError, "For 'layer_norm', 'weight' must be a Tensor, but got int"),
    (lambda: ops.affine_grid(X.reshape(1, 2, 3), 3), TypeError, "'size' must be a tuple, but got int"),
    (lambda: ops.fold(X, 3, 2), ValueError, r"'input' must have the shape \(N, C \* 4, 4\), but got \(2, 3\)"),
    (lambda: ops.max_pool2d(X.reshape(1, 1, 2, 3), 2, padding="a"), TypeError, "'padding' must be an int or a tuple o"),
    (lambda: ops.adaptive_avg_pool2d(X.reshape(1, 1, 2, 3), 1.5), TypeError, "'output_size'"),
    (lambda: ops.softmax(3, dtype=ms.float32), TypeError, "For 'softmax', 'input' must be a Tensor, but got int"),
    (lambda: ops.quantile(X, "a"), TypeError, r"'q' must be a number or vector in \[0, 1\], but got 'a'"),
    (lambda: ops.lu_unpack(X, V), TypeError, "For 'lu_unpack', 'LU_pivots' must be integers, but got Float32"),
    (lambda: ops.lu_solve(X, X @ X.T, V), TypeError, "For 'lu_solve', 'LU_pivots' must be integers, but got Float32"),
    (lambda: ops.lu_unpack(X, Tensor([0, 9], ms.int32)), ValueError, r"'LU_pivots' must be in \[1, 2\]"),
    (lambda: ops.norm(X, V), TypeError, "For 'matrix_norm', 'ord' must be a word or a number, but got Tensor"),
    (lambda: ops.unique_with_pad(Tensor([1, 2]), "a"), TypeError, "'pad_num' must be a number or a Tensor of one"),
    (lambda: ops.unique_with_pad(X, 0), ValueError, r"'x' must be a vector, but got shape \(2, 3\)"),
    (lambda: ops.index_add(ms.Parameter(X, "p"), Tensor([0], ms.int32), 3, 0), TypeError, "'y' must be a Tensor"),
    (lambda: ops.index_put(3, [Tensor([0])], V), TypeError, "For 'index_put', 'input' must be a Tensor, but got int"),
    (lambda: mint.dot(V, 3), TypeError, "For 'mint.dot', 'other' must be a Tensor, but got int"),
    (lambda: mint.vdot(3, V), TypeError, "For 'mint.vdot', 'input' must be a Tensor, but got int"),
    (lambda: mint.flatten(3), TypeError, "For 'flatten', 'input' must be a Tensor, but got int"),
    (lambda: mint.nn.functional.binary_cross_entropy(V, 3), TypeError, "'target' must be a Tensor, but got int"),
    (lambda: mint.index_add(X, 0, Tensor([0]), X, alpha="a"), TypeError, "'alpha' must be a number, but got str"),
    (lambda: X.add(1, alpha="a"), TypeError, "For 'mul', 'other' must be a Tensor or a number, but got str"),
    (lambda: ops.clamp("a", 0), TypeError, "For 'clamp', 'input' must be a Tensor or a number, but got str"),
    (lambda: ops.pad(X, (1, 1), mode=[]), ValueError, "'mode' must be one of"),
    (lambda: ops.meshgrid(V, V, indexing=3), TypeError, "For 'meshgrid', 'indexing' must be a str, but got int"),
    (lambda: ops.addmm(X, X, X.T, beta="a"), TypeError, "For 'mul', 'other' must be a Tensor or a number, but got str"),
    # Functions of numpy.
    (lambda: ms.numpy.arange({}), TypeError, "For 'numpy.arange', 'stop' must be a number, but got dict"),
    (lambda: ms.numpy.arange(0, "a"), TypeError, "For 'numpy.arange', 'stop' must be a number, but got str"),
    (lambda: ms.numpy.linspace(X, V, 3), ValueError, r"3\) of 'start' and \(2,\) of 'stop' must broadcast"),
    (lambda: ms.numpy.linspace(0, 1, "a"), TypeError, "For 'numpy.linspace', 'num' must be an int, but got 'a'"),
    (lambda: ms.numpy.logspace(0, 1, -1), ValueError, "For 'numpy.logspace', 'num' must not be negative, but got -1"),
    (lambda: ms.numpy.eye("a"), TypeError, "For 'numpy.eye', 'N' must be an int, but got 'a'"),
    (lambda: ms.numpy.eye(-1), ValueError, "For 'numpy.eye', 'N' must not be negative, but got -1"),
    (lambda: ms.numpy.tri(3, k="a"), TypeError, "For 'numpy.tri', 'k' must be an int, but got 'a'"),
    (lambda: ms.numpy.full({}, 1), TypeError, "'shape' must be an int or a tuple of ints, but got {}"),
    (lambda: ms.numpy.split(X, 1.5), TypeError, "'indices_or_sections' must be an int or a tuple of ints, but got 1.5"),
    (lambda: ms.numpy.split(Tensor(1.0), 1), ValueError, r"'x' must have at least 1 axis, but got shape \(\)"),
    (lambda: ms.numpy.hsplit(X, 1.5), TypeError, "'indices_or_sections' must be an int or a tuple of ints"),
    (lambda: ms.numpy.tensordot(X, X, 3), ValueError, r"For 'numpy.tensordot', 'axes' must be in \[0, 2\], but got 3"),
    (lambda: ms.numpy.tensordot(X, X, ()), ValueError, r"'axes' must be an int or a pair of axes, but got \(\)"),
    (lambda: ms.numpy.tensordot(Tensor(1.0), X, 1), ValueError, r"'axes' must be in \[0, 0\], but got 1"),
    (lambda: ms.numpy.cross(X, 3), ValueError, r"For 'numpy.cross', 'b' must have at least 1 axis, but got shape \(\)"),
    (lambda: ms.numpy.multi_dot(3), TypeError, "For 'numpy.multi_dot', 'arrays' must be a list or tuple, but got int"),
    (lambda: ms.numpy.gradient(X, axis=1.5), TypeError, "'axis' must be an int or a tuple of ints, but got 1.5"),
    (lambda: ms.numpy.pad(X, None), TypeError, "For 'numpy.pad', 'pad_width' must be an int, but got NoneType"),
    (lambda: ms.numpy.pad(X, "a"), TypeError, "For 'numpy.pad', 'pad_width' must be an int, but got str"),
    (lambda: ms.numpy.histogram(X, -1), ValueError, "For 'numpy.histogram', 'bins' must be above 0, but got -1"),
    (lambda: ms.numpy.histogram(X, range=3), ValueError, "'range' must be a pair of numbers, but got 3"),
    (lambda: ms.numpy.histogram(X, ()), ValueError, r"'bins' must be an int or at least 2 edges, but got \(\)"),
    (lambda: ms.numpy.histogram(Tensor([np.nan, 1.0])), ValueError, "'a' must be finite where no 'range' is given"),
    (lambda: ms.numpy.select(3, [X]), TypeError, "For 'numpy.select', 'condlist' must be a list or tuple, but got int"),
    (lambda: ms.numpy.zeros(3, dtype=[]), TypeError, "'dtype' must be a MindSpore dtype such as mindspore.float32"),
    (lambda: ms.numpy.concatenate(3), TypeError, "'arrays' must be a list or tuple, but got int"),
    (lambda: ms.numpy.size(X, 5), ValueError, r"For 'numpy.size', 'axis' must be in \[-2, 2\), but got 5"),
    (lambda: ms.numpy.flip(X, 1.5), TypeError, "'axis' must be an int or a tuple of ints, but got 1.5"),
    (lambda: ms.numpy.indices(3), TypeError, "'dimensions' must be a list or a tuple, but got int"),
    (lambda: ms.numpy.piecewise(V, 3, [1]), TypeError, "'condlist' must be a list or tuple, but got int"),
    (lambda: ms.numpy.randint(2, shape=1.5), TypeError, "'shape' must be an int or a tuple of ints, but got 1.5"),
    (lambda: ms.numpy.apply_along_axis(3, 0, V), TypeError, "'func1d' must be a function, but got 3"),
    (lambda: ms.numpy.logspace(0, 1, base="a"), TypeError, "'base' must be a number, but got str"),
    # Layers.
    (lambda: nn.Roll(None, 0), TypeError, "For 'Roll', 'shift' must be an int or a tuple of ints, but got None"),
    (lambda: nn.Flatten()(3), TypeError, "For 'Flatten', 'x' must be a Tensor, but got int"),
    (lambda: nn.BatchNorm2d(2)(3), TypeError, "For 'BatchNorm2d', 'x' must be a Tensor, but got int"),
    (lambda: nn.BatchNorm3d(2)(3), TypeError, "For 'BatchNorm3d', 'x' must be a Tensor, but got int"),
    (lambda: nn.LayerNorm((3,))(3), TypeError, "For 'LayerNorm', 'x' must be a Tensor, but got int"),
    (lambda: nn.InstanceNorm2d(2)(3), TypeError, "For 'InstanceNorm2d', 'x' must be a Tensor, but got int"),
    (lambda: nn.Conv1d(2, 2, 1)(3), TypeError, "For 'Conv1d', 'x' must be a Tensor, but got int"),
    (lambda: nn.BiDense(3, 3, 2)(X, 3), TypeError, "For 'BiDense', 'input2' must be a Tensor, but got int"),
    (lambda: nn.Unflatten(0, (1, 2))(3), TypeError, "For 'Unflatten', 'input_x' must be a Tensor, but got int"),
    (lambda: nn.Triu()(3), TypeError, "For 'Triu', 'x' must be a Tensor, but got int"),
    (lambda: nn.Roll(1, 0)(3), TypeError, "For 'Roll', 'input_x' must be a Tensor, but got int"),
    (lambda: nn.DiceLoss()(X, 3), TypeError, "For 'DiceLoss', 'label' must be a Tensor, but got int"),
    (lambda: nn.MultiClassDiceLoss()(X, 3), TypeError, "'label' must be a Tensor, but got int"),
    (lambda: nn.SoftmaxCrossEntropyWithLogits()(3, X), TypeError, "'logits' must be a Tensor, but got int"),
    (lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True)(X, 3), TypeError, "'labels' must be a Tensor, but got int"),
    (lambda: nn.MultiheadAttention(2, "a"), TypeError, "'num_heads' must be an int, but got str"),
    (lambda: nn.MultiheadAttention(2, 1)(3, 3, 3), TypeError, "'query' must be a Tensor, but got int"),
    (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(2, 1, 2), "a"), TypeError, "'num_layers' must be an int"),
    (lambda: nn.EmbeddingExt(3, 2, padding_idx="a"), TypeError, "'padding_idx' must be an int, but got str"),
    (lambda: nn.Embedding(3, 2, padding_idx="a"), TypeError, "'padding_idx' must be an int, but got str"),
    (lambda: nn.EmbeddingLookup(3, 2)(3), TypeError, "'input_indices' must be a Tensor, but got int"),
    (lambda: nn.AvgPool2d(divisor_override="a"), TypeError, "'divisor_override' must be an int, but got str"),
    (lambda: nn.TrainOneStepCell(3, 3), TypeError, "For 'TrainOneStepCell', 'network' must be a Cell, but got int"),
    (lambda: mint.nn.BatchNorm2d(2)(3), TypeError, "For 'mint.nn.BatchNorm2d', 'input' must be a Tensor, but got int"),
    (lambda: mint.nn.ZeroPad2d(1.5), ValueError, "'padding' must be a number or 4 of them, but got 1.5"),
    (lambda: mint.nn.Conv2d(2, 2, {}), TypeError, "'kernel_size' must be an int or a tuple of ints, but got dict"),
    (lambda: mint.nn.Conv2d(2, 2, 1, groups="a"), TypeError, "'groups' must be an int, but got str"),
    (lambda: mint.nn.Conv2d(2, 2, 1, groups=0), ValueError, "'groups' must be above 0, but got 0"),
    (lambda: mint.nn.Conv2d(2, 2, 1, padding_mode=[]), ValueError, "'padding_mode' must be one of"),
    (lambda: mint.nn.Dropout("a"), TypeError, "For 'mint.nn.Dropout', 'p' must be a number, but got str"),
    (lambda: mint.nn.LayerNorm(1.5), TypeError, "'normalized_shape' must be an int or a tuple of ints, but got 1.5"),
    (lambda: mint.nn.functional.softmax(3), TypeError, "For 'softmax', 'input' must be a Tensor, but got int"),
    (lambda: nn.Conv2dTranspose(2, 2, 1, output_padding=V), TypeError, "'output_padding' must be an int or a tuple o"),
    (lambda: nn.CTCLoss()(X.reshape(1, 2, 3), 3, Tensor([1, 1]), Tensor([1, 1])), TypeError, "'targets'"),
    (lambda: nn.GroupNorm(1, 2)(3), TypeError, "For 'GroupNorm', 'x' must be a Tensor, but got int"),
    (lambda: nn.MatrixDiag()(Tensor(1.0)), ValueError, r"'input_x' must have at least 1 axis, but got shape \(\)"),
    (lambda: nn.ConstantPad2d(1, 0)(3), TypeError, "For 'ConstantPad2d', 'x' must be a Tensor, but got int"),
    (lambda: nn.ImageGradients()(3), TypeError, "For 'ImageGradients', 'images' must be a Tensor, but got int"),
    (lambda: nn.LogSoftmaxExt()(3), TypeError, "For 'LogSoftmaxExt', 'x' must be a Tensor, but got int"),
    (lambda: nn.Transformer(2, 1, 1, 1, 2)(3, 3), TypeError, "For 'Transformer', 'src' must be a Tensor, but got int"),
    (lambda: nn.MultiClassDiceLoss(3), TypeError, "For 'MultiClassDiceLoss', 'weights' must be a Tensor, but got int"),
    (lambda: nn.WithGradCell(3), TypeError, "For 'WithGradCell', 'network' must be a Cell, but got int"),
    (lambda: mint.nn.ConvTranspose2d(2, 2, 1, groups=0), ValueError, "'groups' must be above 0, but got 0"),
    (lambda: mint.nn.GroupNorm("a", 2), TypeError, "For 'mint.nn.GroupNorm', 'num_groups' must be an int, but got str"),
    (lambda: mint.nn.Embedding(2, 2, "a"), TypeError, "'padding_idx' must be an int, but got str"),
    # Others.
    (lambda: ops.max_unpool1d(X, X, 2), TypeError, "For 'max_unpool1d', 'indices' must be integers, but got Float32"),
    (lambda: ops.max_unpool1d(V, Tensor([0, 1]), 2), ValueError, r"'x' must have 2 or 3 axes, but got shape \(2,\)"),
    (lambda: ops.pdist(V), ValueError, r"For 'pdist', 'input' must have at least 2 axes, but got shape \(2,\)"),
    (lambda: ops.tensor_dot(X, X, ()), ValueError, r"'axes' must be an int or a pair of axes, but got \(\)"),
    (lambda: ops.tensor_dot(X, X, "a"), TypeError, "'axes' must be an int or a pair of axes, but got str"),
    (lambda: ops.batch_dot(X, X, "a"), ValueError, "For 'batch_dot', 'axes' must be an int or a pair, but got 'a'"),
    (lambda: ops.batch_dot(X, X, (1, 1, 1)), ValueError, r"'axes' must be an int or a pair, but got \(1, 1, 1\)"),
    (lambda: ops.multinomial(Tensor(1.0), 1), ValueError, r"'input' must have at least 1 axis, but got shape \(\)"),
    (lambda: ops.multinomial(V, "a"), TypeError, "For 'multinomial', 'num_samples' must be an int, but got 'a'"),
    (lambda: ops.multinomial(V, 1, replacement=V), TypeError, "'replacement' must be a bool, but got Tensor"),
    (
        lambda: ops.ctc_loss(X.reshape(1, 2, 3), Tensor([[1], [1]]), Tensor([1, 1, 1]), Tensor([1, 1])),
        ValueError,
        r"'input_lengths' must have the shape \(2,\)",
    ),
    (
        lambda: ops.ctc_loss(X.reshape(1, 2, 3), Tensor([[1], [1]]), Tensor([1, 1]), Tensor([1])),
        ValueError,
        r"'target_lengths' must have the shape \(2,\)",
    ),
    (
        lambda: ops.ctc_loss(X.reshape(1, 2, 3), Tensor([[1], [1]]), Tensor([1, 2]), Tensor([1, 1])),
        ValueError,
        "'input_lengths' must be at most 1, but got 2",
    ),
    (lambda: ops.ctc_loss(X.reshape(1, 2, 3), 3, Tensor([1, 1]), Tensor([1, 1])), TypeError, "'targets'"),
    (lambda: ops.logit(X, "a"), TypeError, "For 'logit', 'eps' must be a number, but got str"),
    (lambda: ops.vander(V, "a"), TypeError, "For 'vander', 'N' must be an int, but got 'a'"),
    (lambda: ops.cross(X.reshape(1, 2, 3), V), ValueError, "an axis must have length 3 in both"),
    (lambda: ops.rot90(X, 1, Tensor(0)), TypeError, "For 'rot90', 'dims' must be a list or a tuple, but got Tensor"),
    (lambda: ops.repeat_interleave(Tensor(1.0), 2, 0), ValueError, "'input' must have at least 1 axis"),
    (lambda: ops.split(Tensor(1.0), 1), ValueError, r"'tensor' must have at least 1 axis, but got shape \(\)"),
    (lambda: ops.orgqr(X @ X.T, Tensor(1.0)), ValueError, r"'input2' must have at least 1 axis, but got shape \(\)"),
    (lambda: ops.rand(2, seed="a"), TypeError, "'seed' must be an int, but got str"),
    (lambda: ops.randn(2, seed=V), TypeError, "'seed' must be an int, but got Tensor"),
    (lambda: mint.rand(2, generator=3), TypeError, "'generator' must be a mindspore.Generator, but got int"),
    (lambda: V.uniform_(generator=3), TypeError, "'generator' must be a mindspore.Generator, but got int"),
    (lambda: V.random_(generator=3), TypeError, "'generator' must be a mindspore.Generator, but got int"),
    (lambda: V.uniform("a"), TypeError, "For 'uniform', 'from_' must be a number, but got str"),
    (lambda: ops.vjp(3), TypeError, "For 'vjp', 'fn' must be a function or a Cell, but got int"),
    (lambda: ops.derivative(3, V, 1), TypeError, "For 'jet', 'fn' must be a function or a Cell, but got int"),
    (lambda: ops.index_fill(X, 0, Tensor([0]), None), TypeError, "'value' must be a number or a Tensor"),
    (lambda: ops.aminmax(X, axis=0, keepdims=V), TypeError, "For 'min', 'keepdims' must be a bool, but got Tensor"),
    (lambda: ops.full((2,), []), TypeError, "For 'full', 'fill_value' must be a number or a Tensor, but got list"),
    (lambda: ops.hardtanh(X, "a"), TypeError, "For 'hardtanh', 'min_val' must be a number, but got str"),
    (lambda: ops.triplet_margin_loss(X, X, X, p="a"), TypeError, "'p' must be a number, but got str"),
    (lambda: ops.smooth_l1_loss(X, X, "a"), TypeError, "For 'smooth_l1_loss', 'beta' must be a number, but got str"),
    (lambda: ops.nonzero(X, as_tuple=V), TypeError, "For 'nonzero', 'as_tuple' must be a bool, but got Tensor"),
    (lambda: ops.uniform_candidate_sampler(Tensor([[0]]), 1, 1, True, 3, seed="a"), TypeError, "'seed'"),
    (lambda: ops.pinv(Tensor([[1, 2], [3, 4]])), TypeError, "For 'pinv', 'x' must hold floats, but got Int64"),
    (lambda: X.fill_diagonal(None), TypeError, "For 'fill_diagonal', 'fill_value' must be a number, but got NoneType"),
    (lambda: mint.squeeze(X, 1.5), TypeError, "For 'squeeze', 'dim' must be an int or a tuple of ints, but got 1.5"),
    (lambda: mint.rand_like(3), TypeError, "For 'rand_like', 'input' must be a Tensor, but got int"),
    (lambda: mint.randint(3), TypeError, r"'low', 'high' and 'size' or two of them must be given, but got \(3,\)"),
    (lambda: mint.bernoulli(3), TypeError, "For 'mint.bernoulli', 'input' must be a Tensor, but got int"),
    (lambda: mint.clone(3), TypeError, "For 'mint.clone', 'input' must be a Tensor, but got int"),
    (lambda: ops.SegmentSum()(X, Tensor(0)), ValueError, "'segment_ids' must have at least 1 axis"),
    (lambda: ops.median(Tensor(np.zeros((2, 0), np.float32))), ValueError, "'input' must have elements"),
    (lambda: ops.index_put(X, [Tensor(1.0)], V), TypeError, "'indices' must be integers, but got Float32"),
    (lambda: V.normal_("a"), TypeError, "For 'normal', 'mean' must be a number, but got str"),
    (lambda: V.exponential_("a"), TypeError, "For 'exponential_', 'lambd' must be a number, but got str"),
    (lambda: ops.Identity()(3), TypeError, r"For 'identity', the inputs \(3\) do not fit"),
    (lambda: ops.max_unpool1d(X, X.int(), 2, output_size=3), ValueError, "'output_size' must be a tuple of ints"),
    # Primitive classes.
    (lambda: ops.Conv2D(3), TypeError, r"For 'Conv2D', the arguments \['kernel_size'\] are missing"),
    (lambda: ops.ReduceSum(True, False, 1), TypeError, "For 'ReduceSum', at most 2 arguments are allowed, but got 3"),
    (lambda: ops.Softmax(axes=1), TypeError, r"there is no argument 'axes'; allowed are \['axis'\]"),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_bad_input_is_refused_by_name(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_the_same_inside_a_recording_and_nothing_stays_open(call: Any, error: type[Exception], text: str) -> None:
    def function(x: Tensor) -> Tensor:
        call()
        return x

    with pytest.raises(error, match=text):
        grad(function)(V)


def test_primitives_print_their_settings_and_run() -> None:
    assert repr(ops.ReduceSum(keep_dims=True)) == "Prim[ReduceSum]<keep_dims=True, skip_mode=False>"
    assert repr(ops.Add()) == "Prim[Add]"
    assert ops.ReduceSum(keep_dims=True)(X, 1).shape == (2, 1)
    assert ops.MatMul(transpose_b=True)(X, X).shape == (2, 2)
    assert copy.deepcopy(ops.Softmax(axis=0))(X).shape == (2, 3)


def test_numbers_that_overflow_or_have_no_value_are_results_not_errors() -> None:
    assert ops.log(Tensor([0.0, -1.0])).tolist()[0] == -np.inf
    assert np.isnan((Tensor([0.0]) / 0.0).asnumpy()).all()
    assert ops.exp(Tensor([1000.0])).tolist() == [np.inf]


def test_an_error_in_construct_passes_through_with_hooks_and_taps_in_order() -> None:
    net = nn.SequentialCell(nn.Dense(3, 2), nn.Dense(3, 2))
    net[0].register_backward_hook(lambda *_: None)
    with pytest.raises(ValueError, match="For 'Dense', the last axis of the input must be 3, but got shape"):
        grad(net)(X)
    assert grad(net[0])(X).shape == (2, 3)


def test_fold_names_the_shape_that_it_was_given() -> None:
    for shape in ((8, 3), (1, 8, 3)):
        text = f"For 'fold', 'input' must have the shape (N, C * 4, 4), but got {shape}"
        with pytest.raises(ValueError, match=re.escape(text)):
            ops.fold(ops.ones(shape), (3, 3), 2)


def test_two_ways_to_update_in_adam_exclude_each_other() -> None:
    weights = [ms.Parameter(V, name="w")]
    with pytest.raises(ValueError, match="'use_lazy' and 'use_offload' cannot both be True"):
        nn.Adam(weights, use_lazy=True, use_offload=True)
    with pytest.raises(TypeError, match="For 'AdaFactor', 'eps' must be a tuple or list, but got int"):
        nn.AdaFactor(weights, eps=3)  # type: ignore[arg-type]


def test_a_learning_rate_of_a_step_that_is_a_python_int() -> None:
    rate = nn.ExponentialDecayLR(0.1, 0.9, 4)
    assert rate(2).dtype == ms.float32
    np.testing.assert_allclose(rate(2).asnumpy(), 0.1 * 0.9**0.5, rtol=1e-6)


def test_kinds_of_values_that_a_multitype_function_tells_apart() -> None:
    from hookscope.engine.ops.primitives import _primexpr

    graph = ops.MultitypeFuncGraph("told")

    @_primexpr
    def name_of(kind: str) -> str:
        return kind.lower()

    for kind in ("Dictionary", "Slice", "Ellipsis", "Keyword", "MapTensor"):
        graph.register(kind)(lambda value, kind=kind: name_of(kind))
    assert [graph(value) for value in ({"a": 1}, slice(2), ...)] == ["dictionary", "slice", "ellipsis"]
