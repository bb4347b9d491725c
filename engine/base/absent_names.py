"""MindSpore's names that are not supported here: their modules, and what to use instead.

Calling one raises a NotImplementedError that says so (``module_names.unavailable``). Each name is listed once; ``top``
is ``mindspore`` itself.
"""

from __future__ import annotations

__all__ = ["absent_in", "check_module"]

# what to use instead -> the modules, and the names that each of them has
_ABSENT: dict[str, dict[str, str]] = {
    "it is for a cluster; export writes the whole network": {"top train formats": "export_split_mindir"},
    "there is no compiled graph to hand over; export and load write and read one, save_checkpoint the parameters": {
        "top common": "load_mindir save_mindir",
        "top": "SymbolTree Node NodeType ScopedValue",
    },
    "it is for a cluster; here there is one process": {
        "top train formats parallel": "load_distributed_checkpoint merge_sliced_parameter "
        "restore_group_info_list build_searched_strategy",
        "top train formats": "get_ckpt_path_with_strategy",
        "top parallel": "shard reshard Layout parameter_broadcast rank_list_for_transform transform_checkpoint_by_rank "
        "transform_checkpoints merge_pipeline_strategys load_segmented_checkpoints unified_safetensors "
        "sync_pipeline_shared_parameters",
        "top context": "get_ps_context reset_ps_context",
        "top train train.callback": "FlopsUtilizationCollector TrainFaultTolerance",
        "top": "CommExecOrderCheck comm_exec_order_check runtime_execution_order_check",
        "top common": "mindio_preload set_mindio_server_info",
        "common": "FileSystem",
        "formats": "init_ckpt_file_system",
        "parallel": "set_op_strategy_config Bucket DataAccessAdapter DistributedDataParallel FileDataAccessAdapter "
        "FlattenGradBuffer IODataAccessAdapter Shard clear_strategy_metadata convert_checkpoint_by_rank "
        "convert_checkpoints create_data_access_adapter enable_save_strategy_online get_current_strategy_metadata "
        "get_strategy_metadata rank_list_for_convert transform_safetensors_by_rank transform_safetensors_by_stage "
        "_transform_safetensors",
        "experimental": "MapParameter",
        "ops ops.primitives": "MoveTo Pull Push Reshard TCPStore reshard",
    },
    "it is for a cluster; call an optimizer of mindspore.nn itself": {
        "nn nn.optim": "AdaSumByDeltaWeightWrapCell AdaSumByGradWrapCell OptTFTWrapper"
    },
    "the optimizer thor is for Ascend devices; use the layer without Thor in its name, and another optimizer": {
        "nn": "Conv2dThor DenseThor EmbeddingLookupThor EmbeddingThor",
        "nn nn.optim": "thor",
    },
    "it is for a cluster; call the network itself in one process": {
        "parallel": "AutoParallel",
        "nn.wrap": "GradAccumulation Pipeline",
    },
    "exchange tensors with all_to_all_single, or messages with isend and irecv": {
        "ops ops.primitives": "NeighborExchange NeighborExchangeV2"
    },
    "it is in mindspore.communication.comm_func": {
        "communication": "P2POp all_gather_into_tensor all_reduce all_to_all_single_with_output_shape "
        "all_to_all_v_c all_to_all_with_output_shape barrier batch_isend_irecv broadcast gather_into_tensor irecv "
        "isend recv reduce reduce_scatter_tensor scatter_tensor send"
    },
    "ranks are started by MPI, which knows where they are; call init_process_group()": {
        "mint.distributed ops.communication communication.in_place": "TCPStore"
    },
    "it is in mindspore.ops.communication": {
        "mint.distributed": "all_to_all_v_c gather_into_tensor scatter_tensor set_comm_ops_inplace"
    },
    "it is a kind of types that only a graph compiler tells apart; compare the dtype of a Tensor": {
        "top common tensors.dtype": "Int TensorType _NullType _null"
    },
    "it is for Ascend devices": {
        "top common": "DeviceCtx",
        "top context": "get_sdc_detect_result sdc_detect_start sdc_detect_stop stress_detect",
        "mint.optim": "FusedAdamW",
        "hal": "ContiguousTensorsHandle combine_tensor_list_contiguous",
        "device_context.ascend": "aclinit_config aclnn_cache aoe_job_type aoe_tune_mode conv_allow_hf32 debug_option "
        "execute_timeout matmul_allow_hf32 op_compile op_precision_mode precision_mode",
        "top runtime": "MemPool PluggableAllocator StreamLimitCtx get_device_limit get_stream_limit memory_replay "
        "reset_stream_limit set_device_limit set_stream_limit use_mem_pool",
    },
    "it is a setting of MindSpore's own GPU kernels; leave it out: those here compute in the dtypes that come": {
        "device_context.gpu": "conv_allow_tf32 conv_dgrad_algo conv_fprop_algo conv_wgrad_algo matmul_allow_tf32"
    },
    "it is for Ascend devices; use mindspore.mint.nn": {
        "mint": "batch_norm_elemt batch_norm_gather_stats_with_counts batch_norm_stats conv_tbc npu_gelu"
    },
    "use the debugger (%%cell) or Python's cProfile": {
        "top common common.api graph": "flops_collection",
        "top": "Profiler EnvProfiler MsDispatchMode",
    },
    "use %%cell (the debugger) or a callback of your own that keeps numbers": {
        "top train train.callback": "SummaryLandscape"
    },
    "read the files with NumPy and hand them to mindspore.dataset.GeneratorDataset": {
        "top": "Cifar10ToMR Cifar100ToMR CsvToMR ImageNetToMR MnistToMR TFRecordToMR FileReader FileWriter MindPage"
    },
    "decode the files with a library of yours and hand the arrays to GeneratorDataset": {
        "dataset": "MindDataset TFRecordDataset CocoDataset VOCDataset "
        "CelebADataset ManifestDataset GraphData IMDBDataset DataLoader "
        "AGNewsDataset AmazonReviewDataset CLUEDataset CMUArcticDataset Caltech101Dataset Caltech256Dataset "
        "CityscapesDataset CoNLL2000Dataset DBpediaDataset DIV2KDataset EMnistDataset EnWik9Dataset FlickrDataset "
        "Flowers102Dataset Food101Dataset GTZANDataset IWSLT2016Dataset IWSLT2017Dataset KITTIDataset KMnistDataset "
        "LFWDataset LJSpeechDataset LSUNDataset LibriTTSDataset Multi30kDataset OBSMindDataset OmniglotDataset "
        "PennTreebankDataset PhotoTourDataset Places365Dataset QMnistDataset RandomDataset RenderedSST2Dataset "
        "SBDataset SBUDataset SQuADDataset SST2Dataset STL10Dataset SUN397Dataset SVHNDataset Schema SemeionDataset "
        "SogouNewsDataset SpeechCommandsDataset TedliumDataset UDPOSDataset USPSDataset WIDERFaceDataset "
        "WikiTextDataset YahooAnswersDataset YelpReviewDataset YesNoDataset LineReader"
    },
    "print in a function that you give to map": {"dataset": "DebugHook PrintDataHook PrintMetaDataHook"},
    "draw the boxes with Matplotlib": {"dataset": "imshow_det_bbox"},
    "decode the video with a library of yours and hand its frames to GeneratorDataset": {
        "dataset.vision": "DecodeVideo VideoDecoder read_video read_video_timestamps"
    },
    "it was made for Ascend devices; train with mindspore.nn or mindspore.train.Model": {
        "boost": "AdaSum AutoBoost BoostTrainOneStepCell BoostTrainOneStepWithLossScaleCell DimReduce FreezeOpt "
        "GradientFreeze GroupLossScaleManager LessBN OptimizerProcess ParameterProcess freeze_cell"
    },
    "a chain holds functions, which JSON cannot say: keep the function that makes it": {
        "dataset": "serialize deserialize"
    },
    "print the chain's 'children', 'get_col_names()' and 'get_dataset_size()'": {"dataset": "show"},
    "rows are made in this process: keep those that cost much in a list": {"dataset": "DatasetCache"},
    "there is one process, so nothing has to wait": {"dataset": "sync_wait_for_dataset"},
    "encrypt the file itself, with a tool made for that": {
        "top": "obfuscate_ckpt load_obf_params_into_net set_enc_key"
    },
    "iterate over the data set: for batch in dataset.create_tuple_iterator()": {
        "top train": "DatasetHelper data_sink connect_network_with_dataset",
        "ops ops.primitives": "GetNext",
    },
    "use an optimizer of mindspore.nn": {"top train": "ConvertModelUtils ConvertNetUtils"},
    "its table lives in a parameter server; use nn.Embedding": {"ops": "make_map_parameter"},
    "write the operator with ops functions, its gradient as a Cell with bprop": {
        "ops": "AiCPURegOp AkgAscendRegOp AkgCpuRegOp AkgGpuRegOp AkgRegOp CpuRegOp CustomRegOp DataType RegOp "
        "TBERegOp custom_info_register op_info_register VmImplRegistry get_vm_impl_fn vm_impl_registry make_sig",
        "ops ops.primitives": "CustomOpBuilder PyExecute PyFunc kernel ms_kernel",
    },
    "it is a part of the graph compiler; write it in Python": {
        "ops": "DtypeToEnum J SliceGetItem _Grad _Vmap _add_attr _ones_like_for_grad arg_dtype_cast arg_handler "
        "array_reduce array_to_scalar augassign_add augassign_div augassign_floordiv augassign_mod augassign_mul "
        "augassign_sub bool_and bool_eq bool_not bool_or broadcast_gradient_args "
        "dict_getitem dict_setitem distribute embed env_get environ_add environ_create environ_get environ_set "
        "geswitch hastype in_dict is_ is_dynamic_sequence_element_unknown is_not is_sequence_shape_unknown "
        "is_sequence_value_unknown is_tensor_bool_cond isconstant iter_converter list_equal list_getitem list_len "
        "list_setitem make_dict make_list make_range make_slice merge ms_hasnext ms_next not_in_dict "
        "recompute_block reduced_shape ref_to_embed shape_mul string_concat string_eq switch "
        "switch_layer tail tensor_operator_registry tuple_div tuple_equal tuple_getitem tuple_len tuple_reversed "
        "tuple_setitem zip_operation",
        "ops ops.primitives": "CopyWithSlice GeSwitch Load Merge Morph PyInterpret SelectView TransposeExtView "
        "TransposeView UpdateState _AllSwap _ms_pyfunc identity stop_gradient_op",
    },
    "there is no compiler to extend; hooks on cells, and taps of the debugger, observe a run": {
        "common.api": "CustomPassType clear_op_infer clear_op_wrapper register_custom_backend register_custom_pass "
        "register_op_infer register_op_wrapper",
        "jit": "get_auto_dynamic_shape_args update_auto_dynamic_shape_phase JitContext jit_context set_jit_context "
        "TraceJitContext convert_tensorpy nested_run",
    },
    "take the values with asnumpy(); their memory is NumPy's": {"top common": "UntypedStorage"},
    "MindSpore 2.10 has no kernel of it on a CPU either": {
        "ops ops.primitives": "ComputeAccidentalHits LambApplyOptimizerAssign LambApplyWeightAssign "
        "SparseApplyAdadelta SparseApplyFtrlV2 SparseApplyProximalAdagrad SparseDenseCwiseDiv "
        "SparseMatrixSparseMatMul SparseSplit"
    },
    "MindSpore 2.10 has no kernel of it on a CPU either; use mindspore.ops.quantile": {
        "ops ops.primitives": "Quantile"
    },
    "MindSpore 2.10 has no kernel of it on a CPU either; use mindspore.nn.LSTMCell": {
        "ops ops.primitives": "BasicLSTMCell"
    },
    "MindSpore 2.10 has no kernel of it on a CPU either; use mindspore.nn.Conv2d with group": {
        "ops ops.primitives": "DepthwiseConv2dNative"
    },
    "MindSpore 2.10 has no kernel of it on a CPU either; use mindspore.nn.LARS": {"ops ops.primitives": "LARSUpdate"},
    "MindSpore 2.10 has no kernel of it on a CPU either; use mindspore.ops.random_poisson": {
        "ops ops.primitives": "Poisson"
    },
    "MindSpore 2.10 raises an error at each call of it, too": {
        "ops ops.primitives": "DenseToSparseSetOperation Dilation2D RaggedTensorToTensor ScaleGrad"
    },
    "MindSpore 2.10 raises an error at each call of it, too; use mindspore.ops.shape": {
        "ops ops.primitives": "DynamicShape"
    },
    "MindSpore 2.10 raises an error at each call of it, too; use mindspore.ops.BatchNorm": {
        "ops ops.primitives": "FusedBatchNorm FusedBatchNormEx"
    },
    "MindSpore 2.10 raises an error at each call of it, too; use mindspore.ops.addr": {"mint": "addr_"},
}


# what to use instead -> modules that cannot be imported, each with all below it
_MODULES = {
    "read the files with NumPy and hand them to mindspore.dataset.GeneratorDataset": "mindrecord",
    "pass the data set to mindspore.dataset.GeneratorDataset, and call batch": "dataset.dataloader",
    "change the network itself: a member of a cell can be replaced, and hooks can observe a run": "rewrite",
    "compute with SciPy in a function that you give to map": "dataset.audio",
    "use the debugger (%%cell) or Python's cProfile": "profiler",
    "call mindspore.export with file_format='ONNX'": "onnx",
    "use Python's multiprocessing, and hand over arrays": "multiprocessing",
    "draw the weights in construct, with mindspore.nn.probability.distribution": "nn.probability.bnn_layers",
    "use SciPy on asnumpy(), or the decompositions of mindspore.ops and mint.linalg": "scipy",
    "encrypt the file itself, with a tool made for that": "safeguard",
    "it is for Ascend devices": "train.train_thor",
    "it is for a cluster; here there is one process": "parallel.cluster",
}


def check_module(name: str) -> None:
    """Raise an error with the alternative for a module that cannot be imported.

    Args:
        name: a module, such as ``mindspore.mindrecord``.

    Raises:
        ModuleNotFoundError: it is one of these modules.
    """
    for instead, modules in _MODULES.items():
        if any(f"{name}.".startswith(f"mindspore.{module}.") for module in modules.split()):
            raise ModuleNotFoundError(f"{name} is not covered by hookscope: {instead}", name=name)


def absent_in(module: str) -> dict[str, str]:
    """Return the unsupported names of a MindSpore module, with what to use instead of each.

    Args:
        module: its name below ``mindspore``, or ``top``.
    """
    return {
        name: instead
        for instead, rows in _ABSENT.items()
        for modules, names in rows.items()
        if module in modules.split()
        for name in names.split()
    }
