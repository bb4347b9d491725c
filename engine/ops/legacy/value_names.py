"""Attributes of MindSpore's operator classes (``attrs``): names of inputs and outputs, and side effects.

A compiler would read them; here they are for programs that inspect them. A head is the names of the inputs and of the
outputs, or a mark; the classes follow below it.
"""
# ruff: noqa: E501  (a head is one line)

from __future__ import annotations

import functools
from typing import Any

__all__ = ["types_of"]

_CLASSES = """\
 -> y:
 TrilIndices TriuIndices
a x -> y:
 Polygamma
a x -> z:
 Igamma Igammac
anchor_boxes gt_boxes -> overlap:
 IOU
array size weights -> bins:
 Bincount
bboxes -> selected_boxes selected_idx selected_mask:
 NMSWithMask
bboxes img_metas -> output:
 CheckValid
dense_input indices -> y_dense_shape y_batch_pointers y_row_pointers y_col_indices y_values:
 DenseToCSRSparseMatrix
diagonals rhs -> y:
 TridiagonalSolve
features labels -> loss backprop:
 SparseSoftmaxCrossEntropyWithLogitsV2
features labels -> output:
 SparseSoftmaxCrossEntropyWithLogits
grads boxes box_index image_size -> y:
 CropAndResizeGradImage
grads images boxes box_index -> y:
 CropAndResizeGradBoxes
images -> y:
 RGBToHSV
images contrast_factor -> y:
 AdjustContrastv2
images delta -> y:
 AdjustHue
images scale -> y:
 AdjustSaturation
images size -> y:
 ResizeArea
indices output_shape values default_value -> output:
 SparseToDenseV2
indices shape new_shape -> y_indices y_shape:
 SparseReshape
indices values dense_shape -> output:
 SparseToDense
indices values dense_shape default_value -> output_indices output_values empty_row_indicator reverse_index_map:
 SparseFillEmptyRows
indices values dense_shape weights -> output_indices output_values output_shape:
 SparseCountSparseOutput
indices values shape -> output:
 SparseSoftmax
indices values shape -> y_indices y_values:
 SparseReorder
indices values shape start size -> y_indices y_values y_shape:
 SparseSlice
indices values sparse_shape dense -> output:
 SparseTensorDenseMatmul
indices values sparse_shape x2_dense x3_dense alpha beta -> output:
 SparseAddmm
input -> output:
 AvgPool3D Bucketize Digamma Imag LpNorm PopulationCount Tan
input k -> values indices:
 TopK
input n -> output:
 NthElement
input per_group_size group_num -> output:
 MapUniform
input_scalar dtype -> output_data:
 ScalarToTensor
input_tensor -> output_data:
 TensorToTuple
input_x -> output:
 DataFormatDimMap DataFormatVecPermute Ormqr RandomShuffle SeLU SplitV
input_x -> y:
 FillDiagonal
input_x indices input_y -> output:
 IndexAdd
input_x indices updates -> y:
 ScatterAddWithAxis ScatterNdSub ScatterNonAliasingAdd ScatterSub TensorScatterDiv TensorScatterMax TensorScatterMin
 TensorScatterMul TensorScatterSub TensorScatterUpdate
input_x indices value -> y:
 ScatterNdUpdate
input_x input_y -> output_data:
 ScalarCast
input_x max_num offset -> sub_res sub_idx:
 SubAndFilter
input_x random_samples -> y argmax:
 FractionalMaxPoolWithFixedKsize
input_x segment_ids -> output:
 SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum
inputs -> output:
 Einsum
inputs -> sum:
 AccumulateNV2 AddN
inputs labels_indices labels_values sequence_length -> loss gradient:
 CTCLoss
length -> y:
 HammingWindow
log_probs targets input_lengths target_lengths -> neg_log_likelihood log_alpha:
 CTCLossV2
logits num_samples seed -> output:
 RandomCategorical
out_backprop filter input_sizes -> output:
 Conv2DBackpropInput Conv2DTranspose
overlaps scores max_output_size overlap_threshold score_threshold -> selected_indices:
 NonMaxSuppressionWithOverlaps
parameters gradient learning_rate accum momentum stat -> output:
 SGD
params indices axis -> output:
 GatherV2 SparseGatherV2
params indices offset -> output:
 EmbeddingLookup
predict target -> loss:
 SigmoidCrossEntropyWithLogits
rt_nested_splits rt_dense_values -> sparse_indices sparse_values sparse_dense_shape:
 RaggedTensorToSparse
set_indices set_values set_shape -> size:
 SetSize
shape -> output:
 NonDeterministicInts StandardLaplace StandardNormal TruncatedNormal UniformReal
shape alpha -> output:
 RandomGamma
shape alpha beta -> output:
 Gamma
shape mean stdevs min max -> y:
 ParameterizedTruncatedNormal
shape minval maxval -> output:
 UniformInt
shape rate -> output:
 RandomPoisson
shape value -> y:
 FillV2
sorted_x values -> y:
 LowerBound UpperBound
sp_input_indices sp_input_values sp_input_shapes -> output_indices output_values output_shape:
 SparseConcat
start end -> y:
 LogSpace
start limit delta -> output:
 RangeV2
starts limits deltas -> rt_nested_splits rt_dense_values:
 RaggedRange
state_seq log_probs -> log_probs:
 NoRepeatNGram
superdiag maindiag subdiag rhs -> y:
 TridiagonalMatMul
theta output_size -> y:
 AffineGrid
true_classes -> sampled_candidates true_expected_count sampled_expected_count:
 LogUniformCandidateSampler
type shape value -> y:
 Fill
var accum linear grad indices -> output:
 FusedSparseFtrl
var accum linear grad indices -> var accum linear:
 SparseApplyFtrl
var accum linear grad lr l1 l2 lr_power -> output:
 ApplyFtrl
var accum lr grad indices momentum -> var:
 SparseApplyMomentum
var accum lr l1 l2 grad -> var accum:
 ApplyProximalAdagrad
var accum lr l1 l2 grad indices -> output:
 FusedSparseProximalAdagrad
var alpha l1 l2 grad indices -> var:
 SparseApplyProximalGradientDescent
var grad_accum grad_square_accum grad indices lr l1 l2 global_step -> var:
 SparseApplyAdagradDA
var indices updates -> var:
 InplaceIndexAdd
var m v beta1_power beta2_power lr beta1 beta2 epsilon grad indices -> var m v:
 FusedSparseAdam FusedSparseLazyAdam
var mean_square moment learning_rate grad rho momentum epsilon -> output:
 ApplyRMSProp
var mg ms mom lr rho momentum epsilon grad indices -> var:
 SparseApplyCenteredRMSProp
variable accumulation learning_rate gradient momentum -> output:
 ApplyMomentum
x -> output:
 BesselI0e BesselI1e
x -> y:
 BesselI0
x -> eigen_value eigen_vector:
 SelfAdjointEig
x -> output:
 BesselJ0 BesselJ1 BesselY0 BesselY1 FastGelu Gelu IsNan MaxPool MaxPool3D Mish ReLUV3 Rint Softplus Softsign Unique
x -> output argmax:
 MaxPoolWithArgmaxV2
x -> output mask:
 MaxPoolWithArgmax
x -> y:
 AdaptiveAvgPool2D AdaptiveAvgPool3D ChannelShuffle CheckNumerics ComplexAbs CountNonZero DepthToSpace Eps Histogram
 IdentityN Im2Col Invert LRN Lgamma MatrixInverse MatrixLogarithm Mvlgamma Pad Pdist Renorm SpaceToDepth Stack Tril
 Uniform Unstack
x -> y argmax:
 MaxPool3DWithArgmax
x -> y indices:
 Median
x -> y row_pooling_sequence col_pooling_sequence:
 FractionalAvgPool FractionalMaxPool
x -> y1 y2:
 Sort
x argmax -> y:
 MaxUnpool2D MaxUnpool3D
x axes -> y:
 EuclideanNorm
x axis -> y:
 CumulativeLogsumexp
x boxes box_index crop_size -> y:
 CropAndResize
x diagonal k -> y:
 MatrixSetDiagV3
x dim index value -> y:
 IndexFill
x dst_type -> output:
 Cast
x filter -> output:
 Conv3DTranspose
x gamma beta mean variance -> y batch_mean batch_variance:
 InstanceNormV2
x indices segment_ids -> y:
 SparseSegmentMean SparseSegmentSqrtN SparseSegmentSum
x indices segment_ids num_segemnts -> y:
 SparseSegmentSqrtNWithNumSegments
x indices segment_ids num_segments -> y:
 SparseSegmentMeanWithNumSegments SparseSegmentSumWithNumSegments
x indices updates -> y:
 ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNdAdd ScatterNdDiv ScatterNdMax ScatterNdMin
 ScatterNdMul ScatterUpdate
x indices v -> y:
 InplaceUpdateV2
x k num_rows num_cols padding_value -> y:
 MatrixDiagV3
x k padding_value -> y:
 MatrixDiagPartV3
x lower upper -> y:
 MatrixBandPart
x num_samples -> output:
 Multinomial
x offsets -> y:
 DeformableOffsets
x output_size -> y:
 Col2Im
x output_size -> y argmax:
 AdaptiveMaxPool3D
x p -> y:
 Bernoulli
x pad_num -> y idx:
 UniqueWithPad
x paddings -> y:
 MirrorPad
x paddings constant_value -> y:
 PadV3
x perm -> output:
 ConjugateTranspose
x positive negative margin -> y:
 TripletMarginLoss
x random_samples -> y argmax:
 FractionalMaxPool3DWithFixedKsize
x roi scales sizes -> y:
 ResizeV2
x seed offset -> y:
 MultinomialWithReplacement
x segment_ids num_segments -> y:
 UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd
x seq_lengths -> y:
 ReverseSequence
x shape -> y:
 Expand
x size offsets -> output:
 ExtractGlimpse
x target weight -> y:
 MultiMarginLoss
x tau -> y:
 Orgqr
x v -> y:
 InplaceAdd InplaceSub InplaceUpdate
x value -> y:
 Fills
x values -> y:
 Heaviside
x w -> output:
 Conv2D Conv3D
x window -> y:
 STFT
x y -> out idx:
 ListDiff
x y -> output:
 AddV2 EqualCount Mod MulNoNan SquaredDifference Sub TensorAdd TruncateDiv TruncateMod Xdivy
x y -> output_x output_y:
 SquareSumAll
x1 x2 -> y:
 BitwiseAnd BitwiseOr BitwiseXor CholeskySolve DivNoNan Ger Hypot Lcm
x1 x2 -> y_indices y_values y_shape:
 DenseToDenseSetOperation
x1 x2 indices -> y:
 IndexPut
x1 x2 k -> y:
 InTopK
x1 x2 -> y:
 Fmax Fmin
x1_dense_shape x1_batch_pointers x1_row_pointers x1_col_indices x1_values x2_dense -> y_dense:
 SparseMatrixMatMul
x1_dense_shape x1_batch_pointers x1_row_pointers x1_col_indices x1_values x2_dense_shape x2_batch_pointers x2_row_pointers x2_col_indices x2_values alpha beta -> y_dense_shape y_batch_pointers y_row_pointers y_col_indices y_values:
 SparseMatrixAdd
x1_indices x1_values x1_shape x2 -> y:
 SparseDenseCwiseAdd SparseDenseCwiseMul SparseTensorDenseAdd
x1_indices x1_values x1_shape x2_indices x2_values x2_shape -> y_indices y_values:
 SparseSparseMaximum SparseSparseMinimum
x1_indices x1_values x1_shape x2_indices x2_values x2_shape thresh -> sum_indices sum_values sum_shape:
 SparseAdd
x1_indices x1_values x1_shape x2_indices x2_values x2_shape x3_dense alpha beta -> y_indices y_values y_shape:
 Sspaddmm
x_dense_shape x_batch_pointers x_row_pointers x_col_indices x_values -> indices values dense_shape:
 CSRSparseMatrixToSparseTensor
x_dense_shape x_batch_pointers x_row_pointers x_col_indices x_values -> y:
 CSRSparseMatrixToDense SparseMatrixNNZ
x_dense_shape x_batch_pointers x_row_pointers x_col_indices x_values -> y_dense_shape y_batch_pointers y_row_pointers y_col_indices y_values:
 SparseMatrixSoftmax SparseMatrixTranspose
x_indices x_values x_dense_shape -> y_dense_shape y_batch_pointers y_row_pointers y_col_indices y_values:
 SparseTensorToCSRSparseMatrix
x_indices x_values x_shape -> y_indices y_values y_shape:
 Coalesce
side_effect_backprop:
 InsertGradientOf
side_effect_backprop_mem:
 InsertGradientOf
side_effect_hidden:
 Dropout Gamma LogNormalReverse LogUniformCandidateSampler Multinomial MultinomialWithReplacement NonDeterministicInts
 ParameterizedTruncatedNormal RandomCategorical RandomChoiceWithMask RandomGamma RandomPoisson RandomShuffle
 StandardLaplace StandardNormal TruncatedNormal Uniform UniformCandidateSampler UniformInt UniformReal
side_effect_io:
 Assert HistogramSummary ImageSummary Print ScalarSummary TensorDump TensorSummary
side_effect_mem:
 Adam AdamNoUpdateParam AdamWeightDecay ApplyAdaMax ApplyAdadelta ApplyAdagrad ApplyAdagradDA ApplyAdagradV2
 ApplyAdamWithAmsgrad ApplyAdamWithAmsgradV2 ApplyAddSign ApplyCenteredRMSProp ApplyFtrl ApplyGradientDescent
 ApplyMomentum ApplyPowerSign ApplyProximalAdagrad ApplyProximalGradientDescent ApplyRMSProp Assign AssignAdd
 AssignSub FusedAdaFactor FusedCastAdamWeightDecay FusedSparseAdam FusedSparseFtrl FusedSparseLazyAdam
 FusedSparseProximalAdagrad IndexAdd InplaceIndexAdd SGD ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul
 ScatterNdAdd ScatterNdDiv ScatterNdMax ScatterNdMin ScatterNdMul ScatterNdSub ScatterNdUpdate ScatterNonAliasingAdd
 ScatterSub ScatterUpdate SparseApplyAdagrad SparseApplyAdagradV2 SparseApplyFtrl
side_effect_propagate:
 Depend Partial
"""


def types_of(name: str) -> dict[str, Any]:
    """Return the attributes of a class as new lists, so that changes do not reach those of another object.

    Args:
        name: the class.
    """
    return {key: list(value) if isinstance(value, tuple) else value for key, value in _table().get(name, {}).items()}


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    attributes: dict[str, dict[str, Any]] = {}
    entry: dict[str, Any] = {}
    for line in _CLASSES.splitlines():
        if line.startswith(" "):
            for name in line.split():
                attributes.setdefault(name, {}).update(entry)
            continue
        inputs, arrow, outputs = line.removesuffix(":").partition("->")
        names = {"input_names": tuple(inputs.split()), "output_names": tuple(outputs.split())}
        entry = names if arrow else {inputs: True}
    return attributes
