"""Names of MindSpore's that have no meaning here: where it keeps them, and what to use instead.

Calling one is a NotImplementedError that says so (``names.unavailable``). A name stands here once; ``top`` is
``mindspore`` itself.
"""

from __future__ import annotations

__all__ = ["absent_in"]

# what to use instead -> the modules, and the names that each of them has
_ABSENT: dict[str, dict[str, str]] = {
    "there is no compiled graph to hand over; save_checkpoint keeps the parameters": {
        "top train serialization": "export load export_split_mindir",
        "top common": "load_mindir save_mindir",
        "top": "onnx SymbolTree rewrite",
    },
    "it is for a cluster; here there is one process": {
        "top train serialization parallel": "load_distributed_checkpoint merge_sliced_parameter "
        "restore_group_info_list build_searched_strategy",
        "top train serialization": "get_ckpt_path_with_strategy",
        "top parallel": "shard reshard Layout parameter_broadcast rank_list_for_transform transform_checkpoint_by_rank "
        "transform_checkpoints merge_pipeline_strategys load_segmented_checkpoints unified_safetensors "
        "sync_pipeline_shared_parameters",
        "top context": "set_ps_context get_ps_context reset_ps_context",
        "top train train.callback": "FlopsUtilizationCollector",
        "train train.callback": "TrainFaultTolerance",
        "parallel": "set_op_strategy_config",
    },
    "it is for a cluster; call an optimizer of mindspore.nn itself": {
        "nn nn.optim": "AdaSumByDeltaWeightWrapCell AdaSumByGradWrapCell OptTFTWrapper",
    },
    "the optimizer thor is for Ascend devices; use the layer without Thor in its name, and another optimizer": {
        "nn": "Conv2dThor DenseThor EmbeddingLookupThor EmbeddingThor",
        "nn nn.optim": "thor",
    },
    "it is for a cluster; call the network itself in one process": {"parallel": "AutoParallel"},
    "one process runs, so there is nobody to exchange with; leave it out": {
        "ops ops.primitives": "AllGather AllGatherV AllReduce AlltoAll AlltoAllV AlltoAllVC Barrier BatchISendIRecv "
        "Broadcast CollectiveGather CollectiveScatter NeighborExchange NeighborExchangeV2 Receive Reduce "
        "ReduceScatter ReduceScatterV Send",
        "ops": "all_gather all_gather_into_tensor all_reduce all_to_all all_to_all_single barrier batch_isend_irecv "
        "broadcast gather_into_tensor irecv isend recv reduce reduce_scatter reduce_scatter_tensor scatter_tensor send",
    },
    "with one process every collective operation gives back its input": {"communication": "comm_func"},
    "there is one process, which has the value already": {
        "mint.distributed": "P2POp all_gather all_gather_into_tensor all_gather_into_tensor_uneven all_gather_object "
        "all_reduce all_to_all all_to_all_single barrier batch_isend_irecv broadcast broadcast_object_list "
        "destroy_process_group gather gather_object get_backend get_global_rank get_group_rank "
        "get_process_group_ranks init_process_group irecv isend new_group recv recv_object_list reduce "
        "reduce_scatter reduce_scatter_tensor reduce_scatter_tensor_uneven scatter scatter_object_list send "
        "send_object_list",
    },
    "it is a kind of types that only a graph compiler tells apart; compare the dtype of a Tensor": {
        "top common core.dtype": "Int TensorType Type _null float_ int_ list_ number string tensor_type tuple_ "
        "type_none uint",
    },
    "no array of NumPy's holds it; use float16 or bfloat16": {
        "top common core.dtype": "QuantDtype float8_e4m3fn float8_e5m2 hifloat8 qint4x2",
    },
    "it is for Ascend devices": {
        "top common": "DeviceCtx",
        "top runtime": "MemPool PluggableAllocator StreamLimitCtx get_device_limit get_stream_limit memory_replay "
        "reset_stream_limit set_device_limit set_stream_limit use_mem_pool",
    },
    "it is for Ascend devices; use mindspore.mint.nn": {
        "mint": "batch_norm_elemt batch_norm_gather_stats_with_counts batch_norm_stats conv_tbc npu_gelu",
    },
    "use the debugger (%%cell) or Python's cProfile": {
        "top common common.api graph": "flops_collection",
        "top": "Profiler EnvProfiler",
    },
    "use %%cell (the debugger) or a callback of your own that keeps numbers": {
        "top train train.callback": "SummaryLandscape",
    },
    "read the files with NumPy and hand them to mindspore.dataset.GeneratorDataset": {
        "top": "Cifar10ToMR Cifar100ToMR CsvToMR ImageNetToMR MnistToMR TFRecordToMR FileReader FileWriter MindPage "
        "mindrecord",
    },
    "decode the files with a library of yours and hand the arrays to GeneratorDataset": {
        "dataset": "ImageFolderDataset MindDataset TFRecordDataset CSVDataset TextFileDataset CocoDataset VOCDataset "
        "CelebADataset Cifar100Dataset ManifestDataset GraphData PaddedDataset PKSampler IMDBDataset DataLoader",
    },
    "decode the video with a library of yours and hand its frames to GeneratorDataset": {
        "dataset.vision": "DecodeVideo VideoDecoder read_video read_video_timestamps",
    },
    "it was made for Ascend devices; train with mindspore.nn or mindspore.train.Model": {
        "boost": "AdaSum AutoBoost BoostTrainOneStepCell BoostTrainOneStepWithLossScaleCell DimReduce FreezeOpt "
        "GradientFreeze GroupLossScaleManager LessBN OptimizerProcess ParameterProcess freeze_cell",
    },
    "a chain holds functions, which JSON cannot say: keep the function that makes it": {
        "dataset": "serialize deserialize",
    },
    "print the chain's 'children', 'get_col_names()' and 'get_dataset_size()'": {"dataset": "show"},
    "rows are made in this process: keep those that cost much in a list": {"dataset": "DatasetCache"},
    "there is one process, in which nobody has to wait": {"dataset": "sync_wait_for_dataset"},
    "encrypt the file itself, with a tool made for that": {
        "top": "obfuscate_ckpt load_obf_params_into_net set_enc_key",
    },
    "iterate over the data set: for batch in dataset.create_tuple_iterator()": {
        "top train": "DatasetHelper data_sink connect_network_with_dataset",
    },
    "use an optimizer of mindspore.nn": {"train": "ConvertModelUtils ConvertNetUtils"},
    "its table lives in a parameter server; use nn.Embedding": {"ops": "make_map_parameter"},
    "write the operator with ops functions, its gradient as a Cell with bprop": {
        "ops": "Custom kernel ms_kernel custom_info_register op_info_register",
    },
}


def absent_in(module: str) -> dict[str, str]:
    """The names that a module of MindSpore's has and that are absent here, and what to use instead of each.

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
