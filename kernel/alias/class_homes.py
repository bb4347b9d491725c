"""The `__module__` of each class in MindSpore 2.10, which `type(x)` prints.

A row is a module below mindspore and the names of its classes. Each class is in the module of the same name here, or in
the module given before a colon.
"""

HOMES: dict[str, str] = {
    "amp": "DynamicLossScaler LossScaler StaticLossScaler",
    "common._grad_function": "_Function",
    "common.dtype": "QuantDtype",
    "common.generator": "Generator",
    "common.hook_handle": "HookHandle",
    "common.initializer": "Constant Dirac HeNormal HeUniform Identity Initializer Normal One Orthogonal Sparse "
    "TruncatedNormal Uniform VarianceScaling XavierNormal XavierUniform Zero",
    "common.parameter": "Parameter ParameterTuple",
    "common.sparse_tensor": "COOTensor CSRTensor RowTensor SparseTensor",
    "common.tensor": "Tensor",
    "communication._comm_helper": "GlobalComm",
    "communication.comm_func": "P2POp",
    "context": "parallel:ParallelMode",
    "dataset.callback.ds_callback": "DSCallback dataset:WaitedDSCallback",
    "dataset.engine.datasets": "Dataset",
    "dataset.engine.datasets_user_defined": "GeneratorDataset NumpySlicesDataset PaddedDataset",
    "dataset.engine.datasets_standard_format": "CSVDataset",
    "dataset.engine.datasets_text": "TextFileDataset",
    "dataset.engine.datasets_vision": "Cifar100Dataset Cifar10Dataset FakeImageDataset FashionMnistDataset "
    "ImageFolderDataset MnistDataset",
    "dataset.engine.samplers": "DistributedSampler PKSampler RandomSampler Sampler SequentialSampler Shuffle "
    "SubsetRandomSampler SubsetSampler WeightedRandomSampler",
    "dataset.text.transforms": "AddToken BasicTokenizer BertTokenizer CaseFold FilterWikipediaXML JiebaTokenizer "
    "Lookup Ngram NormalizeUTF8 PythonTokenizer RegexReplace RegexTokenizer SentencePieceTokenizer SlidingWindow "
    "ToNumber ToVectors Truncate TruncateSequencePair UnicodeCharTokenizer UnicodeScriptTokenizer WhitespaceTokenizer "
    "WordpieceTokenizer",
    "dataset.text.utils": "CharNGram FastText GloVe JiebaMode NormalizeForm SPieceTokenizerLoadType "
    "SPieceTokenizerOutType SentencePieceModel SentencePieceVocab Vectors Vocab",
    "dataset.transforms.transforms": "Compose Concatenate Duplicate Fill Mask OneHot PadEnd Plugin RandomApply "
    "RandomChoice RandomOrder Relational Slice TypeCast Unique",
    "dataset.vision.transforms": "AdjustBrightness AdjustContrast AdjustGamma AdjustHue AdjustSaturation "
    "AdjustSharpness Affine AutoAugment AutoContrast BoundingBoxAugment CenterCrop ConvertColor Crop CutMixBatch "
    "CutOut Decode Equalize Erase FiveCrop GaussianBlur Grayscale HWC2CHW HorizontalFlip HsvToRgb Invert "
    "LinearTransformation MixUp MixUpBatch Normalize NormalizePad Pad PadToSize Perspective Posterize RandAugment "
    "RandomAdjustSharpness RandomAffine RandomAutoContrast RandomColor RandomColorAdjust RandomCrop "
    "RandomCropDecodeResize RandomCropWithBBox RandomEqualize RandomErasing RandomGrayscale RandomHorizontalFlip "
    "RandomHorizontalFlipWithBBox RandomInvert RandomLighting RandomPerspective RandomPosterize RandomResize "
    "RandomResizeWithBBox RandomResizedCrop RandomResizedCropWithBBox RandomRotation RandomSelectSubpolicy "
    "RandomSharpness RandomSolarize RandomVerticalFlip RandomVerticalFlipWithBBox Rescale Resize ResizeWithBBox "
    "ResizedCrop RgbToHsv Rotate SlicePatches Solarize TenCrop ToNumpy ToPIL ToTensor ToType TrivialAugmentWide "
    "UniformAugment VerticalFlip",
    "dataset.vision.utils": "AutoAugmentPolicy Border ConvertMode ImageBatchFormat ImageReadMode Inter SliceMode",
    "experimental.optim.adadelta": "Adadelta",
    "experimental.optim.adagrad": "Adagrad",
    "experimental.optim.adam": "Adam",
    "experimental.optim.adamax": "Adamax",
    "experimental.optim.adamw": "AdamW",
    "experimental.optim.asgd": "ASGD",
    "experimental.optim.lr_scheduler": "ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR "
    "ExponentialLR LRScheduler LambdaLR LinearLR MultiStepLR MultiplicativeLR PolynomialLR ReduceLROnPlateau "
    "SequentialLR StepLR",
    "experimental.optim.nadam": "NAdam",
    "experimental.optim.optimizer": "Optimizer",
    "experimental.optim.radam": "RAdam",
    "experimental.optim.rmsprop": "RMSprop",
    "experimental.optim.rprop": "Rprop",
    "experimental.optim.sgd": "SGD",
    "graph.api": "saved_tensors_hooks",
    "graph.jit_config": "JitConfig",
    "graph.symbol": "Symbol",
    "mint.nn": "AdaptiveMaxPool2d AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss CosineEmbeddingLoss "
    "CrossEntropyLoss Dropout Dropout2d Embedding Fold GELU Hardshrink Hardsigmoid Hardswish Hardtanh "
    "Identity KLDivLoss L1Loss Linear LogSoftmax MSELoss MaxPool2d Mish NLLLoss PReLU PixelShuffle ReLU "
    "ReLU6 SELU SmoothL1Loss SoftMarginLoss Softmax Unfold Upsample UpsamplingBilinear2d "
    "UpsamplingNearest2d mint.nn.layer:LayerNorm",
    "mint.nn.layer.activation": "ELU GLU LogSigmoid SiLU Sigmoid Tanh Threshold",
    "mint.nn.layer.basic": "Flatten",
    "mint.nn.layer.conv": "Conv1d Conv2d Conv3d ConvTranspose2d",
    "mint.nn.layer.normalization": "BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm SyncBatchNorm",
    "mint.nn.layer.padding": "ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d "
    "ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d",
    "mint.nn.layer.pooling": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d MaxUnpool2d",
    "mint.optim.adam": "Adam",
    "mint.optim.adamw": "AdamW",
    "mint.optim.fused_adamw": "FusedAdamW",
    "mint.optim.sgd": "SGD",
    "nn.cell": "Cell nn.graph_cell:GraphCell",
    "nn.grad.cell_grad": "Jvp Vjp",
    "nn.layer.activation": "CELU ELU FastGelu GELU GLU HShrink HSigmoid HSwish Hardtanh LRN LeakyReLU LogSigmoid "
    "LogSoftmax LogSoftmaxExt Mish PReLU PReLUExt RReLU ReLU ReLU6 SeLU SiLU Sigmoid SoftShrink Softmax Softmax2d "
    "Softmin Softsign Tanh Tanhshrink Threshold",
    "nn.layer.basic": "ClipByNorm Dense Dropout Dropout1d Dropout2d Dropout2dExt Dropout3d DropoutExt Flatten Identity "
    "L1Regularizer Linear MatrixDiag MatrixDiagPart MatrixSetDiag Norm OneHot Pad Roll Tril Triu Unflatten Unfold "
    "Upsample",
    "nn.layer.channel_shuffle": "ChannelShuffle",
    "nn.layer.combined": "Conv2dBnAct DenseBnAct",
    "nn.layer.container": "CellDict CellList SequentialCell",
    "nn.layer.conv": "Conv1d Conv1dTranspose Conv2d Conv2dTranspose Conv3d Conv3dTranspose",
    "nn.layer.dense": "BiDense",
    "nn.layer.embedding": "Embedding EmbeddingExt EmbeddingLookup MultiFieldEmbeddingLookup",
    "nn.layer.image": "CentralCrop ImageGradients MSSSIM PSNR PixelShuffle PixelUnshuffle SSIM",
    "nn.layer.math": "DiGamma IGamma LBeta LGamma MatDet MatInverse MatMul Moments Range ReduceLogSumExp",
    "nn.layer.normalization": "BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm InstanceNorm1d InstanceNorm2d "
    "InstanceNorm3d LayerNorm LayerNormExt SyncBatchNorm",
    "nn.layer.padding": "ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d "
    "ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad2d",
    "nn.layer.pooling": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d "
    "AdaptiveMaxPool3d AvgPool1d AvgPool1dExt AvgPool2d AvgPool2dExt AvgPool3d AvgPool3dExt FractionalMaxPool2d "
    "FractionalMaxPool3d LPPool1d LPPool2d MaxPool1d MaxPool2d MaxPool2dExt MaxPool3d MaxUnpool1d MaxUnpool2d "
    "MaxUnpool3d",
    "nn.layer.rnn_cells": "GRUCell LSTMCell RNNCell",
    "nn.layer.rnns": "GRU LSTM RNN",
    "nn.layer.timedistributed": "TimeDistributed",
    "nn.layer.transformer": "MultiheadAttention Transformer TransformerDecoder TransformerDecoderLayer "
    "TransformerEncoder TransformerEncoderLayer",
    "nn.learning_rate_schedule": "CosineDecayLR ExponentialDecayLR InverseDecayLR NaturalExpDecayLR PolynomialDecayLR "
    "WarmUpLR",
    "nn.loss.loss": "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss DiceLoss FocalLoss "
    "GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss L1LossExt LossBase MAELoss MSELoss "
    "MarginRankingLoss MultiClassDiceLoss MultiLabelSoftMarginLoss MultiMarginLoss MultilabelMarginLoss NLLLoss "
    "PoissonNLLLoss RMSELoss SampledSoftmaxLoss SmoothL1Loss SoftMarginLoss SoftmaxCrossEntropyWithLogits "
    "TripletMarginLoss TripletMarginWithDistanceLoss",
    "nn.optim.ada_grad": "Adagrad",
    "nn.optim.adadelta": "Adadelta",
    "nn.optim.adafactor": "AdaFactor",
    "nn.optim.adam": "Adam AdamOffload AdamWeightDecay",
    "nn.optim.adamax": "AdaMax",
    "nn.optim.asgd": "ASGD",
    "nn.optim.ftrl": "FTRL",
    "nn.optim.lamb": "Lamb",
    "nn.optim.lars": "LARS",
    "nn.optim.lazyadam": "LazyAdam",
    "nn.optim.momentum": "Momentum",
    "nn.optim.optimizer": "Optimizer",
    "nn.optim.proximal_ada_grad": "ProximalAdagrad",
    "nn.optim.rmsprop": "RMSProp",
    "nn.optim.rprop": "Rprop",
    "nn.optim.sgd": "SGD",
    "nn.probability.bijector.bijector": "Bijector",
    "nn.probability.bijector.exp": "Exp",
    "nn.probability.bijector.gumbel_cdf": "GumbelCDF",
    "nn.probability.bijector.invert": "Invert",
    "nn.probability.bijector.power_transform": "PowerTransform",
    "nn.probability.bijector.scalar_affine": "ScalarAffine",
    "nn.probability.bijector.softplus": "Softplus",
    "nn.probability.distribution.bernoulli": "Bernoulli",
    "nn.probability.distribution.beta": "Beta",
    "nn.probability.distribution.categorical": "Categorical",
    "nn.probability.distribution.cauchy": "Cauchy",
    "nn.probability.distribution.distribution": "Distribution",
    "nn.probability.distribution.exponential": "Exponential",
    "nn.probability.distribution.gamma": "Gamma",
    "nn.probability.distribution.geometric": "Geometric",
    "nn.probability.distribution.gumbel": "Gumbel",
    "nn.probability.distribution.half_normal": "HalfNormal",
    "nn.probability.distribution.laplace": "Laplace",
    "nn.probability.distribution.log_normal": "LogNormal",
    "nn.probability.distribution.logistic": "Logistic",
    "nn.probability.distribution.normal": "Normal",
    "nn.probability.distribution.poisson": "Poisson",
    "nn.probability.distribution.student_t": "StudentT",
    "nn.probability.distribution.transformed_distribution": "TransformedDistribution",
    "nn.probability.distribution.uniform": "Uniform",
    "nn.sparse.sparse": "SparseTensorDenseMatmul SparseToDense",
    "nn.wrap.cell_wrapper": "ForwardValueAndGrad GetNextSingleOp GradAccumulationCell MicroBatchInterleaved "
    "ParameterUpdate PipelineCell TrainOneStepCell VirtualDatasetCellTriple WithEvalCell WithGradCell WithLossCell",
    "nn.wrap.grad_reducer": "DistributedGradReducer PipelineGradReducer",
    "nn.wrap.loss_scale": "DynamicLossScaleUpdateCell FixedLossScaleUpdateCell TrainOneStepWithLossScaleCell",
    "ops.auto_generate.gen_ops_prim": "ACos Abs Acosh AdamWeightDecay AdaptiveMaxPool2D Add Addcdiv Addcmul Angle "
    "ArgMaxWithValue ArgMinWithValue Argmax Argmin Asin Asinh Assign AssignAdd AssignSub Atan Atan2 Atanh AvgPool "
    "BCEWithLogitsLoss BatchMatMul Betainc BiasAdd BinaryCrossEntropy BroadcastTo Cdist CeLU Ceil Cholesky "
    "CholeskyInverse Complex Concat Conj Cos Cosh Cross CumProd CumSum Cummax Cummin Dense Diag Div Dropout Eig Elu "
    "Equal Erf Erfc Erfinv Exp ExpandDims Expm1 Eye FFTWithSize FastGeLU Flatten Floor FloorDiv FloorMod GLU Gather "
    "GatherD GatherNd Gcd GeLU Geqrf Greater GreaterEqual GridSampler2D GridSampler3D HShrink HSigmoid HSwish Identity "
    "IsClose IsFinite IsInf LayerNorm LeftShift Lerp LerpScalar Less LessEqual LinSpace Log Log1p LogMatrixDeterminant "
    "LogSoftmax LogicalAnd LogicalNot LogicalOr LogicalXor Logit MaskedFill MaskedScatter MaskedSelect MatMul "
    "MatrixDeterminant MatrixExp Maximum Meshgrid Minimum Mul NLLLoss NanToNum Neg NextAfter NonZero NotEqual OneHot "
    "Ones OnesLike PReLU Polar Pow Qr RandpermV2 Range ReLU ReLU6 Real RealDiv Reciprocal ReduceAll ReduceAny "
    "ReduceMax ReduceMean ReduceMin ReduceProd ReduceStd ReduceSum Reshape ResizeBicubic ResizeBilinearV2 "
    "ResizeLinear1D ResizeNearestNeighbor ResizeNearestNeighborV2 ReverseV2 RightShift RmsNorm Roll Round Rsqrt "
    "ScatterNd SearchSorted Select Sigmoid Sign Sin Sinc Sinh Slice SmoothL1Loss SoftMarginLoss SoftShrink Softmax "
    "Split Sqrt Square Squeeze StridedSlice Svd Tanh TensorScatterAdd TensorShape Trace Transpose Triu Trunc "
    "UniqueConsecutive UnsortedSegmentSum UpsampleNearest3D UpsampleTrilinear3D Xlogy Zeros ZerosLike",
    "ops.composite.base": "GradOperation HyperMap Map MultitypeFuncGraph",
    "ops.deprecated": "BatchToSpaceND FastGelu GatherV2 Gelu InplaceUpdate MaxPoolWithArgmax Pack ScalarToArray "
    "ScatterNonAliasingAdd TensorAdd Unpack",
    "ops.function.comm_func": "P2POp",
    "ops.operations._embedding_cache_ops": "MapUniform SubAndFilter",
    "ops.operations._sequence_ops": "TensorToTuple",
    "ops.operations.array_ops": "AffineGrid BatchToSpace Bincount CheckNumerics Coalesce Col2Im ConcatOffsetV1 "
    "ConjugateTranspose CountNonZero DType DepthToSpace DiagPart EditDistance EmbeddingLookup Expand "
    "ExtractVolumePatches Fill FillDiagonal FillV2 Fills HammingWindow IdentityN Im2Col IndexFill IndexPut "
    "InvertPermutation ListDiff LogSpace LowerBound Lstsq MatrixBandPart MatrixDiagPartV3 MatrixDiagV3 MatrixSetDiagV3 "
    "Mvlgamma Padding ParallelConcat PopulationCount RangeV2 ReverseSequence Rint ScatterAdd ScatterAddWithAxis "
    "ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNdAdd ScatterNdDiv ScatterNdMax ScatterNdMin ScatterNdMul "
    "ScatterNdSub ScatterNdUpdate ScatterSub ScatterUpdate SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum "
    "Size Sort SpaceToBatch SpaceToBatchND SpaceToDepth SparseGatherV2 SplitV Stack TensorScatterDiv "
    "TensorScatterElements TensorScatterMax TensorScatterMin TensorScatterMul TensorScatterSub TensorScatterUpdate "
    "TopK Tril TupleToArray Unique UniqueWithPad UnravelIndex UnsortedSegmentMax UnsortedSegmentMin "
    "UnsortedSegmentProd Unstack UpperBound",
    "ops.operations.comm_ops": "communication:ReduceOp AllGather AllGatherV AllReduce AlltoAll AlltoAllV AlltoAllVC "
    "BatchISendIRecv Barrier Broadcast CollectiveGather CollectiveScatter Receive Reduce ReduceScatter ReduceScatterV "
    "Send",
    "ops.operations.custom_ops": "Custom",
    "ops.operations.debug_ops": "Assert DumpGradient HistogramSummary HookBackward ImageSummary InsertGradientOf Print "
    "ScalarSummary TensorDump TensorSummary",
    "ops.operations.image_ops": "AdjustContrastv2 AdjustHue AdjustSaturation CombinedNonMaxSuppression CropAndResize "
    "CropAndResizeGradBoxes CropAndResizeGradImage ExtractGlimpse HSVToRGB NonMaxSuppressionWithOverlaps RGBToHSV "
    "ResizeArea ResizeV2 ScaleAndTranslate",
    "ops.operations.inner_ops": "FusedAdaFactor FusedCastAdamWeightDecay NoRepeatNGram",
    "ops.operations.manually_defined._inner": "ScalarCast",
    "ops.operations.manually_defined.ops_def": "BatchNorm Cast ForiLoop Rank ScalarToTensor Scan Shape Tile WhileLoop",
    "ops.operations.math_ops": "AccumulateNV2 AddN AddV2 ApproximateEqual Bernoulli BesselI0 BesselI0e BesselI1 "
    "BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 BitwiseAnd BitwiseOr "
    "BitwiseXor Bucketize Cauchy CholeskySolve CompareAndBitpack ComplexAbs CumulativeLogsumexp Digamma DivNoNan "
    "Einsum Eps EqualCount EuclideanNorm Fmax Fmin Ger Heaviside Histogram Hypot Igamma Igammac Imag IndexAdd "
    "InplaceAdd InplaceIndexAdd InplaceSub InplaceUpdateV2 Inv Invert IsNan Lcm Lgamma LpNorm LuSolve LuUnpack "
    "MatrixInverse MatrixLogarithm MatrixPower MatrixSolve MatrixSolveLs MatrixTriangularSolve Median Mod MulNoNan "
    "NMSWithMask NPUAllocFloatStatus NPUClearFloatStatus NPUGetFloatStatus Orgqr Ormqr Polygamma RaggedRange Renorm "
    "STFT SelfAdjointEig SparseSegmentMean SquareSumAll SquaredDifference Sub Tan TridiagonalMatMul TridiagonalSolve "
    "TrilIndices TriuIndices TruncateDiv TruncateMod Xdivy Zeta",
    "ops.operations.nn_ops": "Adam AdamNoUpdateParam AdaptiveAvgPool2D AdaptiveAvgPool3D AdaptiveMaxPool3D ApplyAdaMax "
    "ApplyAdadelta ApplyAdagrad ApplyAdagradDA ApplyAdagradV2 ApplyAdamWithAmsgrad ApplyAdamWithAmsgradV2 ApplyAddSign "
    "ApplyCenteredRMSProp ApplyFtrl ApplyGradientDescent ApplyKerasMomentum ApplyMomentum ApplyPowerSign "
    "ApplyProximalAdagrad ApplyProximalGradientDescent ApplyRMSProp AvgPool3D CTCGreedyDecoder CTCLoss CTCLossV2 "
    "ChannelShuffle Conv2D Conv2DBackpropInput Conv2DTranspose Conv3D Conv3DTranspose DataFormatDimMap "
    "DataFormatVecPermute DeformableOffsets Dropout2D Dropout3D FractionalAvgPool FractionalMaxPool "
    "FractionalMaxPool3DWithFixedKsize FractionalMaxPoolWithFixedKsize FusedSparseAdam FusedSparseFtrl "
    "FusedSparseLazyAdam FusedSparseProximalAdagrad InTopK InstanceNormV2 KLDivLoss L2Loss L2Normalize LRN LSTM "
    "MaxPool MaxPool3D MaxPool3DWithArgmax MaxPoolWithArgmaxV2 MaxUnpool2D MaxUnpool3D MirrorPad Mish MultiMarginLoss "
    "NthElement NuclearNorm Pad PadV3 Pdist ROIAlign ReLUV3 SGD SeLU SigmoidCrossEntropyWithLogits "
    "SoftmaxCrossEntropyWithLogits Softplus Softsign SparseApplyAdagrad SparseApplyAdagradDA SparseApplyAdagradV2 "
    "SparseApplyCenteredRMSProp SparseApplyFtrl SparseApplyMomentum SparseApplyProximalGradientDescent "
    "SparseApplyRMSProp SparseSoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogitsV2 TripletMarginLoss",
    "ops.operations.other_ops": "BoundingBoxDecode BoundingBoxEncode CheckValid ConfusionMatrix Depend IOU Partial "
    "Reusing SampleDistortedBoundingBoxV2 StopGradient",
    "ops.operations.random_ops": "Gamma LogNormalReverse LogUniformCandidateSampler Multinomial "
    "MultinomialWithReplacement NonDeterministicInts ParameterizedTruncatedNormal RandomCategorical "
    "RandomChoiceWithMask RandomGamma RandomPoisson RandomShuffle StandardLaplace StandardNormal TruncatedNormal "
    "Uniform UniformCandidateSampler UniformInt UniformReal",
    "ops.operations.sparse_ops": "CSRSparseMatrixToDense CSRSparseMatrixToSparseTensor DenseToCSRSparseMatrix "
    "DenseToDenseSetOperation RaggedTensorToSparse SetSize SparseAdd SparseAddmm SparseConcat SparseCountSparseOutput "
    "SparseDenseCwiseAdd SparseDenseCwiseMul SparseFillEmptyRows SparseMatrixAdd SparseMatrixMatMul SparseMatrixNNZ "
    "SparseMatrixSoftmax SparseMatrixTranspose SparseReorder SparseReshape SparseSegmentMeanWithNumSegments "
    "SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments SparseSlice "
    "SparseSoftmax SparseSparseMaximum SparseSparseMinimum SparseTensorDenseAdd SparseTensorDenseMatmul "
    "SparseTensorToCSRSparseMatrix SparseToDense SparseToDenseV2 Sspaddmm",
    "ops.operations.spectral_ops": "BartlettWindow BlackmanWindow",
    "ops.primitive": "Primitive",
    "runtime.event": "Event",
    "runtime.stream": "Stream StreamCtx",
    "train.callback._backup_and_restore": "BackupAndRestore",
    "train.callback._callback": "Callback RunContext",
    "train.callback._checkpoint": "CheckpointConfig ModelCheckpoint",
    "train.callback._early_stop": "EarlyStopping",
    "train.callback._history": "History",
    "train.callback._lambda_callback": "LambdaCallback",
    "train.callback._loss_monitor": "LossMonitor",
    "train.callback._lr_scheduler_callback": "LearningRateScheduler",
    "train.callback._on_request_exit": "OnRequestExit",
    "train.callback._reduce_lr_on_plateau": "ReduceLROnPlateau",
    "train.callback._summary_collector": "SummaryCollector",
    "train.callback._time_monitor": "TimeMonitor",
    "train.loss_scale_manager": "DynamicLossScaleManager FixedLossScaleManager LossScaleManager",
    "train.metrics.accuracy": "Accuracy",
    "train.metrics.bleu_score": "BleuScore",
    "train.metrics.confusion_matrix": "ConfusionMatrix ConfusionMatrixMetric",
    "train.metrics.cosine_similarity": "CosineSimilarity",
    "train.metrics.dice": "Dice",
    "train.metrics.error": "MAE MSE",
    "train.metrics.fbeta": "F1 Fbeta",
    "train.metrics.hausdorff_distance": "HausdorffDistance",
    "train.metrics.loss": "Loss",
    "train.metrics.mean_surface_distance": "MeanSurfaceDistance",
    "train.metrics.metric": "EvaluationBase Metric",
    "train.metrics.occlusion_sensitivity": "OcclusionSensitivity",
    "train.metrics.perplexity": "Perplexity",
    "train.metrics.precision": "Precision",
    "train.metrics.recall": "Recall",
    "train.metrics.roc": "ROC",
    "train.metrics.root_mean_square_surface_distance": "RootMeanSquareDistance",
    "train.metrics.topk": "Top1CategoricalAccuracy Top5CategoricalAccuracy TopKCategoricalAccuracy",
    "train.model": "Model",
    "train.summary.summary_record": "SummaryRecord",
}
